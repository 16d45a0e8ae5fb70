"""What a method remembers and what a run gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from skillevo.types.credit import Assessment, EditDirection, InductionEvidence
from skillevo.types.edits import CommittedEdit, Decision, Edit, Refusal, Verdict
from skillevo.types.skills import Pair


@dataclass(frozen=True, slots=True)
class MethodState:
    """What a method remembers between iterations; written even when every candidate is rejected.

    ``utilities`` is the running utility per (agent, skill); ``refused`` the digests of edits that
    the gate rejected in this run.
    """

    utilities: Mapping[Pair, float] = field(default_factory=dict)
    refused: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a method made of one iteration's groups: edits in operator order, and the new state."""

    edits: tuple[Edit, ...]
    state: MethodState
    assessments: tuple[Assessment, ...] = ()
    directions: tuple[EditDirection, ...] = ()
    evidence: tuple[InductionEvidence, ...] = ()
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentResult:
    """One agent in one iteration. ``verdict`` is None when nothing was edited."""

    agent: str
    edits: tuple[CommittedEdit, ...]
    decision: Decision
    verdict: Verdict | None = None
    merge: str = ""


@dataclass(frozen=True, slots=True)
class CriticCounts:
    """How the critic's answers of an iteration ended."""

    accepted: int = 0
    repaired: int = 0
    unusable: int = 0
    unavailable: int = 0
    rejected_items: int = 0


@dataclass(frozen=True, slots=True)
class IterationResult:
    """One finished iteration. ``base_score`` is b_t in [0, 1]; ``excluded`` the groups left out."""

    index: int
    base_score: float
    groups: int
    mean_reward: float
    contrast: int
    excluded: tuple[tuple[str, str], ...]
    critic: CriticCounts
    agents: tuple[AgentResult, ...]
    refusals: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True)
class RunResult:
    """A whole run. ``final_score`` is the last team's validation score, None when not measured;
    ``not_done`` says in words what a cap prevented."""

    run: str
    base: str
    branch: str
    head: str
    iterations: tuple[IterationResult, ...]
    final_score: float | None
    not_done: tuple[str, ...]
