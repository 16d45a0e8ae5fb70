"""The gate: each agent's candidate on its own against the team as it was, on a fixed set V."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skillevo.core.acceptance import Policy, decide
from skillevo.core.seeds import Phase
from skillevo.errors import ServerError
from skillevo.rollout.episode import ActorSettings, Draws
from skillevo.rollout.group import Rollouts, Scoring
from skillevo.types import Candidate, Question, Score, Team, Trajectory, Verdict

OnScored = Callable[[str, Trajectory], None]


@dataclass(frozen=True, slots=True)
class Gate:
    """Measures libraries on ``questions`` (pinned for the run) and decides by ``policy``.

    ``label`` in the callback names what is measured: ``base``, ``final`` or the agent.
    """

    rollouts: Rollouts
    questions: tuple[Question, ...]
    settings: ActorSettings
    repeats: int
    policy: Policy
    run_seed: int

    async def measure(self, team: Team, label: str, seen: OnScored) -> Score:
        """S(K) on V (method.md 2.6) over the questions that could be scored, maybe none."""
        scoring = Scoring(self.questions, self.repeats)

        def done(trajectory: Trajectory) -> None:
            scoring.add(trajectory)
            seen(label, trajectory)

        draws = Draws(self.run_seed, Phase.VALIDATION, 0)
        await self.rollouts.run(team, self.questions, self.repeats, self.settings, draws, done)
        return scoring.score()

    async def measure_base(self, team: Team, seen: OnScored) -> Score:
        """The score of the team as it is; ServerError when not a single question had one."""
        first_fault: list[str] = []

        def done(label: str, trajectory: Trajectory) -> None:
            seen(label, trajectory)
            if trajectory.error and not first_fault:
                first_fault.append(f"{trajectory.question}: {trajectory.error}")

        score = await self.measure(team, "base", done)
        if not score.rewards:
            raise ServerError(
                "no validation question could be scored",
                why="".join(first_fault),
                fix="skillevo doctor",
            )
        return score

    async def judge(
        self, base: Score, team: Team, candidates: Sequence[Candidate], seen: OnScored
    ) -> list[tuple[Score, Verdict]]:
        """Score and verdict per candidate, in order; only that candidate's agent is replaced."""

        async def one(candidate: Candidate) -> tuple[Score, Verdict]:
            changed = team.with_library(candidate.library)
            score = await self.measure(changed, candidate.agent, seen)
            count = len(self.questions)
            return score, decide(candidate.agent, base, score, count, self.policy)

        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(one(candidate)) for candidate in candidates]
        return [task.result() for task in running]
