"""A small environment, a tool and a player for tests of rollouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fakes.evolution import SAMPLED, make_team

from skillevo.core.seeds import Phase
from skillevo.ports import ChatModel, Player, Tool
from skillevo.rollout.episode import ActorSettings, Draws, TeamPlayer
from skillevo.rollout.team import Sequential
from skillevo.types import Question, Sampling, Split, Team, Trajectory

QUESTION = Question("q1", "Say yes?", ("yes",))


@dataclass
class Lookup:
    """A tool called by ``LOOKUP: word``; keeps its arguments."""

    name: str = "lookup"
    calls: list[str] = field(default_factory=list)

    def find_call(self, text: str) -> str | None:
        marker, _, argument = text.partition("LOOKUP: ")
        return argument if not marker and argument else None

    def run(self, argument: str) -> str:
        self.calls.append(argument)
        return f"{argument} found"


@dataclass
class World:
    """An environment over given questions; ``plays`` replaces the standard episode."""

    splits: dict[Split, tuple[Question, ...]] = field(default_factory=dict)
    tools: Sequence[Tool] = ()
    plays: Callable[[Question, Player], Any] | None = None
    rewards: Callable[[Question, Trajectory], Any] = lambda q, t: float(t.answer in q.answers)

    def questions(self, split: Split) -> Sequence[Question]:
        return self.splits.get(split, ())

    async def rollout(self, question: Question, player: Player) -> Trajectory:
        if self.plays is None:
            return await player.play(question, self.tools)
        played: Trajectory = await self.plays(question, player)
        return played

    def reward(self, question: Question, trajectory: Trajectory) -> Any:
        return self.rewards(question, trajectory)

    def note(self, purpose: str) -> str:
        return ""


def make_player(
    model: ChatModel,
    team: Team | None = None,
    *,
    sampling: Sampling = SAMPLED,
    phase: Phase = Phase.TRAINING,
    iteration: int = 1,
    sample: int = 0,
) -> TeamPlayer:
    """A player of a team with a reader and an answerer."""
    return TeamPlayer(
        team or make_team(reader=[], answerer=[]),
        Sequential(),
        model,
        ActorSettings(sampling, 64),
        Draws(7, phase, iteration),
        sample,
    )
