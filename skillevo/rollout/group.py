"""Groups of G rollouts per question, and scores of a team on a set of questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from skillevo.core.advantage import advantages, all_equal
from skillevo.ports import ChatModel, Environment
from skillevo.rollout.episode import ActorSettings, Draws, TeamPlayer, run_episode
from skillevo.rollout.scheduler import Job, run_lazily
from skillevo.rollout.team import Topology
from skillevo.types import Group, Question, Score, StopReason, Team, Trajectory

OnTrajectory = Callable[[Trajectory], None]


@dataclass(frozen=True, slots=True)
class Rollouts:
    """Everything rollouts need but the team, the questions and the draws.

    ``width`` bounds the episodes that run at once; the model behind ``model`` bounds its calls.
    """

    environment: Environment
    topology: Topology
    model: ChatModel
    width: int

    async def run(
        self,
        team: Team,
        questions: Sequence[Question],
        samples: int,
        settings: ActorSettings,
        draws: Draws,
        done: OnTrajectory,
    ) -> None:
        """Every rollout of every question, handed to ``done`` as it ends, in no fixed order."""

        def jobs() -> Iterator[Job]:
            for question in questions:
                for sample in range(samples):
                    yield self._job(team, question, sample, settings, draws, done)

        await run_lazily(jobs(), self.width)

    def _job(
        self,
        team: Team,
        question: Question,
        sample: int,
        settings: ActorSettings,
        draws: Draws,
        done: OnTrajectory,
    ) -> Job:
        async def job() -> None:
            player = TeamPlayer(team, self.topology, self.model, settings, draws, sample)
            done(await run_episode(self.environment, question, player))

        return job


@dataclass(frozen=True, slots=True)
class Excluded:
    """A group that cannot be used, with the reason."""

    question: str
    reason: str


class Grouping:
    """Collects trajectories and gives each question's group when its last rollout has ended."""

    def __init__(self, questions: Sequence[Question], size: int, *, differing: bool) -> None:
        self._questions = {question.id: question for question in questions}
        self._size = size
        self._differing = differing
        self._open: dict[str, list[Trajectory]] = {question.id: [] for question in questions}

    def add(self, trajectory: Trajectory) -> Group | Excluded | None:
        """The finished group, why it is excluded, or None while rollouts are missing."""
        rollouts = self._open[trajectory.question]
        rollouts.append(trajectory)
        if len(rollouts) < self._size:
            return None
        del self._open[trajectory.question]
        return self._close(self._questions[trajectory.question], rollouts)

    def _close(self, question: Question, rollouts: list[Trajectory]) -> Group | Excluded:
        """A group with faults uses what it has from ``min(2, G)`` rollouts on (method.md 2.2)."""
        usable = sorted((t for t in rollouts if t.reward is not None), key=lambda t: t.sample)
        if len(usable) < min(2, self._size):
            faults = [t.error for t in rollouts if t.stop_reason is not StopReason.FINISHED]
            reason = f"{len(usable)} of {self._size} rollouts could be had: {faults[0]}"
            return Excluded(question.id, reason)
        rewards = [t.reward for t in usable if t.reward is not None]
        if self._differing and all_equal(rewards):
            return Excluded(question.id, "all rewards are equal (group_filter = differing)")
        return Group(question, tuple(usable), advantages(rewards), self._size)


class Scoring:
    """Collects trajectories of a validation and gives the score over what could be had."""

    def __init__(self, questions: Sequence[Question], repeats: int) -> None:
        self._order = [question.id for question in questions]
        self._repeats = repeats
        self._rewards: dict[str, dict[int, float]] = {id_: {} for id_ in self._order}

    def add(self, trajectory: Trajectory) -> None:
        """Count one rollout; a fault counts as nothing, never as a reward of 0."""
        if trajectory.reward is not None:
            self._rewards[trajectory.question][trajectory.sample] = trajectory.reward

    def score(self) -> Score:
        """S(K) over the questions of which every repeat could be had (method.md 2.6)."""
        rewards = []
        for id_ in self._order:
            had = self._rewards[id_]
            if len(had) == self._repeats:
                mean = math.fsum(had[sample] for sample in sorted(had)) / self._repeats
                rewards.append((id_, mean))
        return Score(tuple(rewards), self._repeats)
