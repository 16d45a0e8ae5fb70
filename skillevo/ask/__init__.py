"""Prompts as files, and questions to a model that are answered in checked JSON."""
