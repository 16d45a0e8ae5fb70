"""Edits, candidates, scores and verdicts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from skillevo.types.credit import Operator
from skillevo.types.skills import Library


@dataclass(frozen=True, slots=True)
class Edit:
    """One operator's change of one agent's library; it becomes exactly one commit.

    ``skill`` is what the edit is about (the new skill for consolidate and induce), ``text`` its new
    SKILL.md or None when the edit only removes, ``removes`` the skills whose folders go.
    ``support`` counts distinct questions; ``utility`` is in [-1, 1] or None when there is none.
    """

    operator: Operator
    agent: str
    skill: str
    text: str | None
    removes: tuple[str, ...]
    summary: str
    why: str
    support: int
    utility: float | None = None
    diagnoses: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    author: str = ""
    prompt: str = ""
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """sha256 of what the edit does, so that a rejected one is recognised when it comes back."""
        content = [self.operator, self.agent, self.skill, self.text, sorted(self.removes)]
        text = json.dumps(content, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Refusal:
    """An edit that was wanted but not made, with the reason."""

    operator: Operator
    agent: str
    skill: str
    reason: str


@dataclass(frozen=True, slots=True)
class CommittedEdit:
    """An edit with its id (``<run>-NNNN``) and its commit."""

    id: str
    edit: Edit
    commit: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """An edited library of one agent on its own branch, not yet accepted."""

    agent: str
    iteration: int
    branch: str
    base: str
    head: str
    library: Library
    edits: tuple[CommittedEdit, ...]


class Decision(StrEnum):
    """What became of an agent's candidate."""

    ACCEPT = "accept"
    REJECT = "reject"
    INDECISIVE = "indecisive"
    STALE = "stale"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Score:
    """A validated library: reward per question (mean over H repeats), in the order of V."""

    rewards: tuple[tuple[str, float], ...]
    repeats: int

    @property
    def mean(self) -> float:
        """S(K), in [0, 1]; 0 questions is a caller's error."""
        return sum(reward for _, reward in self.rewards) / len(self.rewards)

    @property
    def by_question(self) -> Mapping[str, float]:
        """Reward per question id."""
        return dict(self.rewards)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The gate's decision on one candidate, with everything the one-line verdict needs.

    ``base`` and ``score`` are means over the ``n`` questions that both have; ``standard_error`` is
    that of the paired difference, None below two questions.
    """

    agent: str
    decision: Decision
    base: float
    score: float
    standard_error: float | None
    n: int
    repeats: int
    better: int
    worse: int
    policy: str
    reason: str = ""

    @property
    def delta(self) -> float:
        """Candidate minus base, in [-1, 1]."""
        return self.score - self.base


@dataclass(frozen=True, slots=True)
class Outcome:
    """What publishing makes of a judged candidate.

    ``decision`` is the verdict's, or STALE (``reason`` says why) when the agent's folder changed on
    the run branch meanwhile. ``merge`` is the merge commit of an accepted candidate, empty
    otherwise; ``base_moved`` the tip it was merged onto when others had moved the run branch.
    """

    candidate: Candidate
    verdict: Verdict
    decision: Decision
    merge: str = ""
    base_moved: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Settlement:
    """The outcomes of one iteration, in order. ``tip`` is the run branch before them, ``head`` the
    run branch with every accepted candidate."""

    iteration: int
    tip: str
    head: str
    outcomes: tuple[Outcome, ...] = ()
