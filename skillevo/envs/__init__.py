"""Environments: what poses questions and rewards finished rollouts."""
