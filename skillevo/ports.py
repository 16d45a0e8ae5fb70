"""The Protocols between the method and the outside world."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Protocol

from skillevo.types import (
    Candidate,
    ChatReply,
    ChatRequest,
    CommittedEdit,
    Edit,
    Group,
    Library,
    MethodState,
    ModelIdentity,
    Question,
    Settlement,
    Split,
    Step,
    StepResult,
    Team,
    Trajectory,
    Verdict,
)


class ChatModel(Protocol):
    """A chat model. Implementations are safe to call concurrently from one event loop."""

    @property
    def identity(self) -> ModelIdentity:
        """Which model answers; constant for the life of the object."""
        ...

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The model's answer.

        Raises CallFailed when the answer could not be had, ServerError when the server is gone for
        good, BudgetReached when a cap forbids the call. Retries, if any, happen in here.
        """
        ...

    async def aclose(self) -> None:
        """Release connections. Safe to call twice."""
        ...


class Tool(Protocol):
    """Something an agent can call by writing text."""

    @property
    def name(self) -> str:
        """The name under which the call is recorded."""
        ...

    def find_call(self, text: str) -> str | None:
        """The argument of the call that ``text`` makes, or None when it makes none."""
        ...

    def run(self, argument: str) -> str:
        """The result as text; a fault of the call is text too."""
        ...


class Player(Protocol):
    """One rollout's access to the team, handed to ``Environment.rollout``."""

    @property
    def team(self) -> Team:
        """The team under test; its libraries are fixed for the rollout."""
        ...

    async def play(self, question: Question, tools: Sequence[Tool] = ()) -> Trajectory:
        """Run the standard episode of the team's topology. The reward is not set."""
        ...

    async def ask(self, agent: str, question: Question, steps: Sequence[Step]) -> Step:
        """One model call of ``agent`` after ``steps``: the building block of a custom loop."""
        ...


class Environment(Protocol):
    """What poses tasks, runs tools, and rewards a finished trajectory."""

    def questions(self, split: Split) -> Sequence[Question]:
        """The split's questions in file order; an absent split is empty."""
        ...

    async def rollout(self, question: Question, player: Player) -> Trajectory:
        """One complete execution. Override it whole for a harness that runs its own loop."""
        ...

    def reward(self, question: Question, trajectory: Trajectory) -> float:
        """R(q, τ) in [0, 1]; pure and repeatable."""
        ...

    def note(self, purpose: str) -> str:
        """A short extra instruction for ``critic``, ``refine``, ``consolidate`` or ``induce``."""
        ...


class Method(Protocol):
    """How groups become edits. One loop serves every method: ``step(state, groups)``."""

    @property
    def name(self) -> str:
        """The method's name as in the configuration."""
        ...

    async def step(
        self, state: MethodState, iteration: int, team: Team, groups: AsyncIterator[Group]
    ) -> StepResult:
        """Edits and the next state from one iteration's groups, which arrive as they finish.

        The result must not depend on the order of arrival.
        """
        ...


class LibraryStore(Protocol):
    """The git side of a run: candidates, commits, merges and evidence, never the user's branches.

    Every step records evidence (texts by path) in the same transaction in which it moves refs.
    """

    def team_libraries(self, revision: str) -> Mapping[str, Library]:
        """The libraries at a commit, by agent; an absent folder is an empty library."""
        ...

    def begin(self, run: str, base: str, evidence: Mapping[str, str]) -> None:
        """Create the run branch at ``base``; ConflictError when the run exists."""
        ...

    def commit(
        self,
        agent: str,
        iteration: int,
        edits: Sequence[Edit],
        base: str,
        evidence: Callable[[str, Edit], str],
    ) -> Sequence[CommittedEdit]:
        """Write each edit as one commit on the agent's candidate branch, from ``base`` on.

        ``evidence`` gives the record of an edit from its id.
        """
        ...

    def publish(
        self,
        iteration: int,
        judged: Sequence[tuple[Candidate, Verdict]],
        evidence: Callable[[Settlement], Mapping[str, str]],
    ) -> Settlement:
        """Record what becomes of the candidates, then merge the accepted ones, all at once."""
        ...

    def end(self, evidence: Mapping[str, str]) -> None:
        """Record how the run ended."""
        ...


class RunLog(Protocol):
    """What a run leaves behind beside git: events, trajectories, records."""

    def event(self, kind: str, **data: Any) -> None:
        """Append one event and tell the observers."""
        ...

    def record(self, iteration: int, name: str, value: Any) -> None:
        """Write one JSON record of an iteration, atomically."""
        ...

    def trajectory(self, iteration: int, phase: str, trajectory: Trajectory) -> None:
        """Append one trajectory."""
        ...
