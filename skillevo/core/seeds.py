"""Every seed of a run is derived from the run's one seed, in one place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from enum import StrEnum


class Phase(StrEnum):
    """What a model call is part of; training draws differ per iteration, the others do not."""

    TRAINING = "training"
    VALIDATION = "validation"
    CREDIT = "credit"
    OPTIMIZE = "optimize"


def derive_seed(run_seed: int, *parts: str | int) -> int:
    """A seed in [0, 2³¹) that depends on the run seed and every part, and on nothing else."""
    content = json.dumps([run_seed, *parts], ensure_ascii=False).encode()
    return int.from_bytes(hashlib.sha256(content).digest()[:4]) >> 1


def call_seed(
    run_seed: int, phase: Phase, iteration: int, question: str, sample: int, agent: str, step: int
) -> int:
    """The seed of one call of a rollout (method.md 6): never the library, so that a candidate sees
    the draws of its base. ``iteration`` counts in training only."""
    when = iteration if phase is Phase.TRAINING else 0
    return derive_seed(run_seed, phase, when, question, sample, agent, step)


def draw(run_seed: int, purpose: str, ids: Iterable[str], size: int) -> tuple[str, ...]:
    """``size`` of the ids without replacement (all when there are fewer), in a seeded order.

    Depends on the set of ids, not on their order.
    """
    ranked = sorted(ids, key=lambda item: (derive_seed(run_seed, purpose, item), item))
    return tuple(ranked[:size])
