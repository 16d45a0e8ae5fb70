"""The loop: rollouts, credit, edits, gate and merge, iteration by iteration."""
