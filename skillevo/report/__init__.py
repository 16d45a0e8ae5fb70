"""What a run gave, as text and JSON."""
