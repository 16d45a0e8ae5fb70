"""The pure heart of the method: advantages, aggregation, plans, edits, acceptance, refs."""
