"""Questions, steps, trajectories and groups."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from skillevo.types.models import Message


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
