"""Who speaks next and what an agent sees: exposure, prompt layout and topologies.

Prompts are byte-stable so that a server can reuse prefixes: role and skills (sorted) form the
system message, then text, question and earlier notes follow; nothing depends on the rollout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from skillevo.types import (
    Agent,
    Library,
    Message,
    Question,
    Skill,
    Step,
    StepKind,
    Team,
    TraceKind,
    TraceRow,
)


def expose(library: Library, question: Question) -> tuple[Skill, ...]:
    """The skills that stand in the agent's prompt for this question: all of them, by name."""
    return library.skills


def exposure_trace(team: Team, question: Question, agent: str, step: int) -> tuple[TraceRow, ...]:
    """The trace rows of one model call: what the agent was shown, not what helped."""
    shown = expose(team.library(agent), question)
    return tuple(TraceRow(agent, skill.name, TraceKind.EXPOSED, step) for skill in shown)


def system_prompt(agent: Agent, skills: Sequence[Skill]) -> str:
    """The agent's role, then ``## Skills`` and the bodies of its skills (method.md 2.7)."""
    if not skills:
        return agent.role
    return "\n\n".join([agent.role, "## Skills", *(skill.body for skill in skills)])


class Topology(Protocol):
    """The order of speech and what each agent is told."""

    def next_agent(self, team: Team, steps: Sequence[Step]) -> str | None:
        """The agent whose turn it is after ``steps``, or None when the episode is over."""
        ...

    def messages(
        self, team: Team, agent: str, question: Question, steps: Sequence[Step]
    ) -> tuple[Message, ...]:
        """What the agent is sent. More steps of the same agent only append messages."""
        ...

    def answer(self, steps: Sequence[Step]) -> str:
        """The team's final answer after the last step."""
        ...


@dataclass(frozen=True, slots=True)
class Sequential:
    """Each agent speaks once, in order; it sees the question and the notes of those before it."""

    def next_agent(self, team: Team, steps: Sequence[Step]) -> str | None:
        spoken = _closing_steps(steps)
        if len(spoken) == len(team.agents):
            return None
        return team.agents[len(spoken)].name

    def messages(
        self, team: Team, agent: str, question: Question, steps: Sequence[Step]
    ) -> tuple[Message, ...]:
        member = next(a for a in team.agents if a.name == agent)
        shown = expose(team.library(agent), question)
        closed = _closing_steps(steps)
        system = Message("system", system_prompt(member, shown))
        user = Message("user", _task(question, closed))
        own = steps[closed[-1].index + 1 :] if closed else steps
        return (system, user, *_tool_history(own))

    def answer(self, steps: Sequence[Step]) -> str:
        return steps[-1].output.strip() if steps else ""


TOPOLOGIES: dict[str, Topology] = {"sequential": Sequential()}


def _closing_steps(steps: Sequence[Step]) -> list[Step]:
    """The model steps that ended an agent's turn: those not followed by a tool step."""
    following = [step.kind for step in steps[1:]] + [StepKind.MODEL]
    return [
        step
        for step, after in zip(steps, following, strict=False)
        if step.kind is StepKind.MODEL and after is StepKind.MODEL
    ]


def _task(question: Question, notes: Sequence[Step]) -> str:
    parts = [f"Text:\n{question.context}"] if question.context else []
    parts.append(f"Question: {question.text}")
    parts += [f"Note from {note.agent}:\n{note.output.strip()}" for note in notes]
    return "\n\n".join(parts)


def _tool_history(steps: Sequence[Step]) -> list[Message]:
    history = []
    for step in steps:
        if step.kind is StepKind.MODEL:
            history.append(Message("assistant", step.output))
        else:
            history.append(Message("user", f"Result of {step.tool}:\n{step.output}"))
    return history
