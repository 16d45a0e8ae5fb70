"""The values that walk down the method, one frozen type per arrow (standard library only)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

Pair = tuple[str, str]
"""(agent, skill)."""


# --- models -----------------------------------------------------------------------------------


class ModelRole(StrEnum):
    """Who a call is made for; calls and tokens are counted per role."""

    ACTOR = "actor"
    CRITIC = "critic"
    OPTIMIZER = "optimizer"


class Thinking(StrEnum):
    """Whether a reasoning model may think before it answers; ``DEFAULT`` leaves it to the server."""

    ON = "on"
    OFF = "off"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Sampling:
    """Every sampling parameter, always sent explicitly because servers have defaults of their own."""

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0

    @property
    def greedy(self) -> bool:
        """True when every draw gives the same text."""
        return self.temperature == 0.0


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One model call.

    ``sample`` is the index of the draw (None for greedy calls, so that equal greedy calls are one
    call); ``schema`` is a JSON Schema as canonical JSON text, empty for free text; ``affinity`` is
    the question id that a router may hash. ``role`` and ``affinity`` are no part of the call key.
    """

    role: ModelRole
    messages: tuple[Message, ...]
    sampling: Sampling
    max_tokens: int
    seed: int = 0
    sample: int | None = None
    schema: str = ""
    thinking: Thinking = Thinking.DEFAULT
    affinity: str = ""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back. Token counts are None when the server did not report them, never 0."""

    text: str
    finish_reason: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    key: str = ""
    reused: bool = False


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model answers: part of every call key and recorded in the run."""

    endpoint: str
    model: str
    revision: str = ""


# --- skills -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Resource:
    """A file of a skill beside its SKILL.md, carried byte for byte by its git blob id."""

    path: str
    mode: str
    blob: str


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill. ``text`` is the whole SKILL.md and the source of truth of the other fields."""

    name: str
    description: str
    body: str
    text: str
    resources: tuple[Resource, ...] = ()


@dataclass(frozen=True, slots=True)
class Library:
    """The skills of one agent, sorted by name."""

    agent: str
    skills: tuple[Skill, ...] = ()

    def get(self, name: str) -> Skill | None:
        """The skill of that name, or None."""
        return next((skill for skill in self.skills if skill.name == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        """The skill names, sorted."""
        return tuple(skill.name for skill in self.skills)


@dataclass(frozen=True, slots=True)
class Agent:
    """One member of the team with its fixed role prompt."""

    name: str
    role: str


@dataclass(frozen=True, slots=True)
class Team:
    """The agents in speaking order with their libraries, one library per agent."""

    agents: tuple[Agent, ...]
    libraries: tuple[Library, ...]

    def library(self, agent: str) -> Library:
        """The library of ``agent``; KeyError when the team has no such agent."""
        for library in self.libraries:
            if library.agent == agent:
                return library
        raise KeyError(agent)

    def with_library(self, library: Library) -> Team:
        """The same team with only that agent's library replaced."""
        return replace(
            self,
            libraries=tuple(
                library if old.agent == library.agent else old for old in self.libraries
            ),
        )


# --- questions, rollouts, groups ----------------------------------------------------------------


class Split(StrEnum):
    """The three data splits; their question ids never overlap."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Question:
    """One task. ``answers`` are the accepted references; the best match counts."""

    id: str
    text: str
    answers: tuple[str, ...]
    context: str = ""
    category: str = ""


class StepKind(StrEnum):
    """A step is one model call or one tool call."""

    MODEL = "model"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Step:
    """One model call or tool call inside a trajectory; ``index`` counts from 0.

    ``messages`` is what the agent was sent (empty for a tool step), ``output`` the exact text that
    came back, ``call`` the key of the call in the call log.
    """

    index: int
    agent: str
    kind: StepKind
    output: str
    messages: tuple[Message, ...] = ()
    call: str = ""
    tool: str = ""
    argument: str = ""
    truncated: bool = False


class TraceKind(StrEnum):
    """Whether a skill stood in the prompt or was loaded on demand."""

    EXPOSED = "exposed"
    LOADED = "loaded"


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One row of the skill trace: exposure is not credit."""

    agent: str
    skill: str
    kind: TraceKind
    step: int


class StopReason(StrEnum):
    """How a rollout ended. Only ``FINISHED`` carries a reward."""

    FINISHED = "finished"
    REFUSED = "refused"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One complete team execution. ``reward`` is in [0, 1], None unless the rollout finished."""

    question: str
    sample: int
    steps: tuple[Step, ...]
    answer: str
    stop_reason: StopReason
    reward: float | None = None
    trace: tuple[TraceRow, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """The usable rollouts of one question under the same libraries, in sample order.

    ``wanted`` is G; fewer trajectories mean that some rollouts could not be had. ``advantages`` has
    one value per trajectory, in the same order.
    """

    question: Question
    trajectories: tuple[Trajectory, ...]
    advantages: tuple[float, ...]
    wanted: int

    @property
    def rewards(self) -> tuple[float, ...]:
        """The G rewards, each in [0, 1]."""
        return tuple(t.reward for t in self.trajectories if t.reward is not None)

    @property
    def complete(self) -> bool:
        """True when every wanted rollout is there."""
        return len(self.trajectories) == self.wanted

    @property
    def mean_reward(self) -> float:
        """The mean reward of the usable rollouts, in [0, 1]."""
        return sum(self.rewards) / len(self.rewards)


# --- credit -----------------------------------------------------------------------------------


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
    """An item of a model's answer that broke a rule, kept with the reason; ``item`` is JSON text."""

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
    """What one agent lacks, by evidence: its strongest patterns and the feedback that goes along."""

    agent: str
    patterns: tuple[Pattern, ...] = ()
    feedback: tuple[Feedback, ...] = ()

    @property
    def questions(self) -> tuple[str, ...]:
        """The distinct questions behind the evidence, sorted."""
        ids = {q for p in self.patterns for q in p.questions} | {f.question for f in self.feedback}
        return tuple(sorted(ids))


# --- edits, candidates, verdicts ------------------------------------------------------------------


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
        return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


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


# --- state of a run -------------------------------------------------------------------------------


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


# --- problems of a library ------------------------------------------------------------------------


class Severity(StrEnum):
    """An error makes a file invalid; a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding of the checker. ``kind`` is spec, portability or recommendation; 1-based marks."""

    rule: str
    severity: Severity
    kind: str
    path: str
    line: int
    column: int
    message: str
    fix: str = ""
