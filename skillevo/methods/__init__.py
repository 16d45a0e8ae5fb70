"""Methods: each is a small composition of the rooms, without a loop of its own."""
