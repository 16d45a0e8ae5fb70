"""What a critic says of a group, checked, and merged over questions."""
