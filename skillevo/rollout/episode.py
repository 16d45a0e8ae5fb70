"""One rollout: an episode is a loop over steps with a list of tools; every fault of it is data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillevo.core.seeds import Phase, call_seed
from skillevo.errors import BudgetReached, CallFailed, SkillevoError
from skillevo.ports import ChatModel, Environment, Tool
from skillevo.rollout.team import Topology, exposure_trace
from skillevo.types import (
    ChatRequest,
    ModelRole,
    Question,
    Sampling,
    Step,
    StepKind,
    StopReason,
    Team,
    Thinking,
    Trajectory,
)

MAX_TOOL_CALLS = 8


@dataclass(frozen=True, slots=True)
class Draws:
    """Where the seeds of a rollout come from; ``iteration`` counts from 1."""

    run_seed: int
    phase: Phase
    iteration: int


@dataclass(frozen=True, slots=True)
class ActorSettings:
    """How agents decode."""

    sampling: Sampling
    max_tokens: int
    thinking: Thinking = Thinking.DEFAULT


@dataclass(frozen=True, slots=True)
class TeamPlayer:
    """The shipped Player: one rollout of ``team``, sample ``sample`` of its question."""

    team: Team
    topology: Topology
    model: ChatModel
    settings: ActorSettings
    draws: Draws
    sample: int

    async def play(self, question: Question, tools: Sequence[Tool] = ()) -> Trajectory:
        """The topology's episode: agents in turn, each with up to 8 tool calls per turn."""
        steps: list[Step] = []
        while (agent := self.topology.next_agent(self.team, steps)) is not None:
            steps.append(await self.ask(agent, question, steps))
            for _ in range(MAX_TOOL_CALLS):
                result = _run_tool(steps[-1], tools)
                if result is None:
                    break
                steps += [result, await self.ask(agent, question, [*steps, result])]
        return self._trajectory(question, steps)

    async def ask(self, agent: str, question: Question, steps: Sequence[Step]) -> Step:
        """One model call of ``agent``. Greedy calls carry neither seed nor sample index, so that
        equal ones are one call."""
        index = len(steps)
        greedy = self.settings.sampling.greedy
        messages = self.topology.messages(self.team, agent, question, steps)
        request = ChatRequest(
            role=ModelRole.ACTOR,
            messages=messages,
            sampling=self.settings.sampling,
            max_tokens=self.settings.max_tokens,
            seed=0 if greedy else self._seed(question, agent, index),
            sample=None if greedy else self.sample,
            thinking=self.settings.thinking,
            affinity=question.id,
        )
        reply = await self.model.chat(request)
        return Step(
            index=index,
            agent=agent,
            kind=StepKind.MODEL,
            output=reply.text,
            messages=messages,
            call=reply.key,
            truncated=reply.finish_reason == "length",
        )

    def _seed(self, question: Question, agent: str, step: int) -> int:
        d = self.draws
        return call_seed(d.run_seed, d.phase, d.iteration, question.id, self.sample, agent, step)

    def _trajectory(self, question: Question, steps: Sequence[Step]) -> Trajectory:
        trace = [
            row
            for step in steps
            if step.kind is StepKind.MODEL
            for row in exposure_trace(self.team, question, step.agent, step.index)
        ]
        return Trajectory(
            question=question.id,
            sample=self.sample,
            steps=tuple(steps),
            answer=self.topology.answer(steps),
            stop_reason=StopReason.FINISHED,
            trace=tuple(trace),
        )


def _run_tool(step: Step, tools: Sequence[Tool]) -> Step | None:
    for tool in tools:
        argument = tool.find_call(step.output)
        if argument is not None:
            return Step(
                index=step.index + 1,
                agent=step.agent,
                kind=StepKind.TOOL,
                output=tool.run(argument),
                tool=tool.name,
                argument=argument,
            )
    return None


async def run_episode(
    environment: Environment, question: Question, player: TeamPlayer
) -> Trajectory:
    """One rewarded rollout. A fault that concerns this rollout alone, told by the environment or
    raised, comes back as its stop reason and error, without a reward; a fault of the whole run
    (server gone, budget met) is raised."""
    try:
        trajectory = await environment.rollout(question, player)
        known = replace(trajectory, question=question.id, sample=player.sample, reward=None)
        if known.stop_reason is not StopReason.FINISHED:
            return known
        reward = float(environment.reward(question, trajectory))
    except (SkillevoError, BudgetReached):
        raise
    except CallFailed as error:
        reason = StopReason.REFUSED if error.terminal else StopReason.UNAVAILABLE
        return _faulty(question, player, reason, error.reason)
    except (Exception, SystemExit) as error:
        if isinstance(error, ExceptionGroup) and error.subgroup((SkillevoError, BudgetReached)):
            raise
        return _faulty(question, player, StopReason.FAILED, f"{type(error).__name__}: {error}")
    if not 0.0 <= reward <= 1.0:
        return _faulty(question, player, StopReason.FAILED, f"reward {reward!r} is not in [0, 1]")
    return replace(known, reward=reward)


def _faulty(question: Question, player: TeamPlayer, reason: StopReason, error: str) -> Trajectory:
    return Trajectory(
        question=question.id,
        sample=player.sample,
        steps=(),
        answer="",
        stop_reason=reason,
        error=error,
    )
