"""What a critic said of groups, and what it adds up to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Operator(StrEnum):
    """The only ways a library changes, in the order in which they run."""

    REFINE = "refine"
    CONSOLIDATE = "consolidate"
    PRUNE = "prune"
    INDUCE = "induce"


class Contribution(StrEnum):
    """The critic's verdict on one skill in one group."""

    HELPFUL = "helpful"
    HARMFUL = "harmful"
    REDUNDANT = "redundant"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True, order=True)
class Citation:
    """A step of a rollout of the group, both counted from 0."""

    rollout: int
    step: int


@dataclass(frozen=True, slots=True)
class Credit:
    """The critic's verdict on one (agent, skill) for one question; ``credit`` is in [-1, 1]."""

    question: str
    agent: str
    skill: str
    credit: float
    verdict: Contribution
    reason: str = ""
    evidence: tuple[Citation, ...] = ()
    suggested_edit: str = ""
    redundant_with: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Feedback:
    """What concerns an agent but none of its present skills."""

    question: str
    agent: str
    feedback: str
    missing_capability: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A structured failure record whose citations were checked; ``skill`` is None to induce one."""

    id: str
    question: str
    agent: str
    skill: str | None
    failure_type: str
    cited_steps: tuple[Citation, ...]
    contrast_steps: tuple[Citation, ...]
    edit_action: Operator
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Rejected:
    """An item of a model's answer that broke a rule, with the reason; ``item`` is JSON text."""

    question: str
    kind: str
    reason: str
    item: str


@dataclass(frozen=True, slots=True)
class Assessment:
    """What the critic said of one group, checked.

    ``outcome`` is ``accepted``, ``repaired`` (the second answer was used) or ``unusable`` (no valid
    JSON came back); ``rejected`` lists what was dropped, ``notes`` counts what was normalised.
    """

    question: str
    outcome: str
    credits: tuple[Credit, ...] = ()
    feedback: tuple[Feedback, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    notes: tuple[tuple[str, int], ...] = ()
    calls: tuple[str, ...] = ()


class Direction(StrEnum):
    """The aggregated verdict on one skill."""

    KEEP = "keep"
    REFINE = "refine"
    REDUNDANT = "redundant"
    LOW_UTILITY = "low_utility"


@dataclass(frozen=True, slots=True)
class EditDirection:
    """One skill's credits across questions merged into a direction.

    ``mean_credit`` is the program's own mean over questions, ``utility_score`` what the aggregator
    said; both in [-1, 1]. ``questions`` are the distinct questions behind it, sorted.
    """

    agent: str
    skill: str
    verdict: Direction
    mean_credit: float
    utility_score: float
    questions: tuple[str, ...]
    summary: str = ""
    suggested_edit: str = ""
    redundant_with: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pattern:
    """Diagnoses with the same agent, failure type, skill and action.

    ``questions`` are the distinct questions that show it, sorted; their number is the support w(p).
    ``loss`` is the sum of 1 − mean reward over them.
    """

    agent: str
    failure_type: str
    skill: str | None
    action: Operator
    questions: tuple[str, ...]
    loss: float
    examples: tuple[Diagnosis, ...]

    @property
    def support(self) -> int:
        """w(p): distinct questions, so G rollouts of one question count once."""
        return len(self.questions)


@dataclass(frozen=True, slots=True)
class InductionEvidence:
    """What one agent lacks, by evidence: its strongest patterns and the feedback with them."""

    agent: str
    patterns: tuple[Pattern, ...] = ()
    feedback: tuple[Feedback, ...] = ()

    @property
    def questions(self) -> tuple[str, ...]:
        """The distinct questions behind the evidence, sorted."""
        ids = {q for p in self.patterns for q in p.questions} | {f.question for f in self.feedback}
        return tuple(sorted(ids))
