"""Group-relative advantages of the rollouts of one question."""

from __future__ import annotations

import math
from collections.abc import Sequence

EPSILON = 1e-6
EQUAL = 1e-9


def all_equal(rewards: Sequence[float]) -> bool:
    """True when the rewards lie within 1e-9 of each other: the group carries no contrast."""
    return max(rewards) - min(rewards) <= EQUAL


def advantages(rewards: Sequence[float]) -> tuple[float, ...]:
    """``(r − mean) / (σ + 1e-6)`` with the population σ, one per reward (method.md 2.2).

    All exactly 0 when the rewards are equal. Needs at least one reward.
    """
    if all_equal(rewards):
        return (0.0,) * len(rewards)
    mean = math.fsum(rewards) / len(rewards)
    variance = math.fsum((reward - mean) ** 2 for reward in rewards) / len(rewards)
    scale = math.sqrt(variance) + EPSILON
    return tuple((reward - mean) / scale for reward in rewards)
