"""The gate's arithmetic: paired comparison of two scores, and the acceptance policies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from skillevo.types import Decision, Score, Verdict

SLACK = 1e-9
COVERAGE = 0.8


class Policy(Protocol):
    """Decides on the paired means of base and candidate."""

    def accepts(self, base: float, score: float) -> bool:
        """True when a candidate with ``score`` may replace a team with ``base``; both in [0, 1]."""
        ...

    @property
    def label(self) -> str:
        """The rule in a few words, for the verdict line and the merge commit."""
        ...


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Accept from ``base − delta`` on, with 1e-9 slack so that exact ties pass (method.md 2.6)."""

    delta: float

    def accepts(self, base: float, score: float) -> bool:
        return score >= base - self.delta - SLACK

    @property
    def label(self) -> str:
        return f"tolerance {self.delta:g}"


@dataclass(frozen=True, slots=True)
class Strict:
    """Accept only more than the base, by more than 1e-9."""

    def accepts(self, base: float, score: float) -> bool:
        return score > base + SLACK

    @property
    def label(self) -> str:
        return "strict"


@dataclass(frozen=True, slots=True)
class Off:
    """Accept everything: the gate-off ablation."""

    def accepts(self, base: float, score: float) -> bool:
        return True

    @property
    def label(self) -> str:
        return "off"


def policy(name: str, tolerance: float) -> Policy:
    """The policy of that name: tolerance, strict or off."""
    match name:
        case "tolerance":
            return Tolerance(tolerance)
        case "strict":
            return Strict()
        case "off":
            return Off()
    raise ValueError(f"unknown gate policy {name!r}")


def decide(agent: str, base: Score, candidate: Score, questions: int, rule: Policy) -> Verdict:
    """The verdict on one agent's candidate against the team as it was.

    Only questions scored on both sides count. With fewer than 80 % of the ``questions`` of the
    validation set the verdict is indecisive: a fault of the server is no evidence.
    """
    before, after = base.by_question, candidate.by_question
    shared = [q for q, _ in base.rewards if q in after]
    differences = [after[q] - before[q] for q in shared]
    n = len(shared)
    mean_before = math.fsum(before[q] for q in shared) / n if n else 0.0
    mean_after = math.fsum(after[q] for q in shared) / n if n else 0.0
    needed = math.ceil(COVERAGE * questions)
    if n < needed:
        decision = Decision.INDECISIVE
        reason = f"{n} of {questions} questions could be scored; {needed - n} more would decide"
    else:
        accepted = rule.accepts(mean_before, mean_after)
        decision = Decision.ACCEPT if accepted else Decision.REJECT
        reason = ""
    return Verdict(
        agent=agent,
        decision=decision,
        base=mean_before,
        score=mean_after,
        standard_error=standard_error(differences),
        n=n,
        repeats=base.repeats,
        better=sum(d > SLACK for d in differences),
        worse=sum(d < -SLACK for d in differences),
        policy=rule.label,
        reason=reason,
    )


def standard_error(differences: list[float]) -> float | None:
    """Standard error of the mean of paired differences (sample deviation, n − 1).

    None below two differences.
    """
    n = len(differences)
    if n < 2:
        return None
    mean = math.fsum(differences) / n
    variance = math.fsum((d - mean) ** 2 for d in differences) / (n - 1)
    return math.sqrt(variance / n)
