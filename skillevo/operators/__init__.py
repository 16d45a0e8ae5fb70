"""The operators: the only ways in which a library changes."""
