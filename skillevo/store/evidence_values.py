"""A run's evidence as typed values: see ``schemas/evidence.schema.json`` for each file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skillevo.types import (
    Credit,
    Decision,
    Diagnosis,
    EditDirection,
    Feedback,
    Operator,
    Refusal,
    Rejected,
)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a run was made of. ``settings``, ``models`` and ``data`` are as in ``run.json``."""

    run: str
    skillevo: str
    base: str
    seed: int
    simulated: bool
    config_digest: str
    agents: tuple[str, ...]
    settings: Mapping[str, Any]
    models: Mapping[str, Any]
    data: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Assessed:
    """How the critic's answer on one question ended, and the keys of the calls."""

    question: str
    outcome: str
    notes: Mapping[str, int]
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundPattern:
    """Diagnoses that agree; ``questions`` are distinct, ``diagnoses`` their ids."""

    agent: str
    failure_type: str
    skill: str | None
    action: Operator
    questions: tuple[str, ...]
    loss: float
    diagnoses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """One question's reward before and after, in [0, 1]; None when no rollout finished."""

    question: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class AgentDecision:
    """What became of one candidate. ``verdict`` is the gate's word, ``decision`` the outcome; ids
    are empty where there is none."""

    iteration: int
    agent: str
    decision: Decision
    verdict: Decision
    base_score: float
    score: float
    standard_error: float | None
    n: int
    repeats: int
    better: int
    worse: int
    policy: str
    reason: str
    candidate: str
    base: str
    merge: str
    base_moved: str
    edits: tuple[str, ...]
    scores: tuple[QuestionScore, ...]


@dataclass(frozen=True, slots=True)
class Use:
    """Why a step is cited: ``cited`` or ``contrast`` by a diagnosis, ``credit`` by agent/skill."""

    use: str
    source: str


@dataclass(frozen=True, slots=True)
class CitedStep:
    """A step that an edit rests on. ``rollout`` counts usable rollouts, ``sample`` draws, both from
    0; ``whole`` says that the excerpt is all of the step's output."""

    question: str
    rollout: int
    sample: int
    step: int
    agent: str
    step_kind: str
    uses: tuple[Use, ...]
    excerpt: str
    whole: bool


@dataclass(frozen=True, slots=True)
class GroupInput:
    """A group that an edit rests on, by the digests of its usable rollouts in sample order."""

    question: str
    trajectories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EditEvidence:
    """What one edit was made from, and why. ``file_digest`` is that of its file, which the edit's
    commit names; ``before`` and ``after`` are digests of SKILL.md, empty for none."""

    id: str
    iteration: int
    operator: Operator
    agent: str
    skill: str
    removes: tuple[str, ...]
    sources: tuple[str, ...]
    summary: str
    why: str
    support: int
    utility: float | None
    digest: str
    model: str
    prompt: str
    notes: tuple[str, ...]
    diagnoses: tuple[str, ...]
    before: str
    after: str
    groups: tuple[GroupInput, ...]
    citations: tuple[CitedStep, ...]
    file_digest: str


@dataclass(frozen=True, slots=True)
class IterationEvidence:
    """What one iteration learned and decided; an iteration that was cut short is not there."""

    index: int
    base_score: float
    assessments: tuple[Assessed, ...]
    credits: tuple[Credit, ...]
    feedback: tuple[Feedback, ...]
    diagnoses: tuple[Diagnosis, ...]
    rejected: tuple[Rejected, ...]
    directions: tuple[EditDirection, ...]
    patterns: tuple[FoundPattern, ...]
    refusals: tuple[Refusal, ...]
    decisions: tuple[AgentDecision, ...]

    def decision(self, agent: str) -> AgentDecision | None:
        """What became of that agent's candidate, None when it had none."""
        return next((one for one in self.decisions if one.agent == agent), None)


@dataclass(frozen=True, slots=True)
class Evidence:
    """All evidence of one run. ``tip`` is the commit it was read from; ``final_score`` is None when
    the run did not end or did not measure it."""

    run: str
    tip: str
    record: RunRecord
    iterations: tuple[IterationEvidence, ...]
    edits: Mapping[str, EditEvidence]
    ended: bool
    final_score: float | None = None
    not_done: tuple[str, ...] = ()
    events: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    def iteration(self, index: int) -> IterationEvidence | None:
        """The iteration of that number, counted from 1."""
        return next((one for one in self.iterations if one.index == index), None)

    def decision_of(self, edit: str) -> AgentDecision | None:
        """What became of the candidate that an edit is part of, None while that is open."""
        found = (d for one in self.iterations for d in one.decisions if edit in d.edits)
        return next(found, None)
