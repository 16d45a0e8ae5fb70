"""A simulated world: rule-based actor, critic and optimizer behind the model port."""
