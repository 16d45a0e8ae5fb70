"""What a run is made of, and where it stands between iterations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from skillevo.pipeline.gate import Gate
from skillevo.ports import LibraryStore, Method, RunLog
from skillevo.rollout.episode import ActorSettings
from skillevo.rollout.group import Rollouts
from skillevo.types import IterationResult, MethodState, Question, Score, Team


@dataclass(frozen=True, slots=True)
class Run:
    """Everything a run is made of. ``base`` is the commit it starts from, ``record`` the text of
    its evidence's ``run.json``; ``finished`` is told of each iteration as it ends."""

    id: str
    base: str
    record: str
    seed: int
    iterations: int
    batch: int
    group_size: int
    differing_only: bool
    reuse_base: bool
    train: tuple[Question, ...]
    team: Team
    rollouts: Rollouts
    training: ActorSettings
    method: Method
    gate: Gate
    store: LibraryStore
    log: RunLog
    finished: Callable[[IterationResult], None]


@dataclass(frozen=True, slots=True)
class Position:
    """Where a run stands between iterations. ``score`` is the team's on V when it is known,
    ``events`` the lines of the evidence's ``events.jsonl`` so far."""

    head: str
    team: Team
    state: MethodState
    score: Score | None = None
    events: str = ""
