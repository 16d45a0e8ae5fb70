"""Evolve the skill libraries of a team of LLM agents by evidence, one commit per edit."""

__version__ = "0.1.0"
