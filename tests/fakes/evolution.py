"""Small teams, groups and scripted models for the tests of the method."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from skillevo.core.advantage import advantages
from skillevo.library.document import parse_skill, render_skill
from skillevo.llm.simulated import SimulatedChat
from skillevo.types import (
    Agent,
    ChatRequest,
    Citation,
    Contribution,
    Credit,
    Diagnosis,
    Group,
    Library,
    Operator,
    Question,
    Sampling,
    Skill,
    Step,
    StepKind,
    StopReason,
    Team,
    Trajectory,
)

Answer = str | dict[str, Any] | BaseException
SAMPLED = Sampling(temperature=1.0)


class Script:
    """A behaviour that gives the answers in turn (the last one for ever) and keeps the requests."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[ChatRequest] = []

    def __call__(self, request: ChatRequest) -> str:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, str) else json.dumps(answer)

    @property
    def model(self) -> SimulatedChat:
        """The script behind the model port."""
        return SimulatedChat(self, model="scripted")


def behaving(behaviour: Callable[[ChatRequest], str]) -> SimulatedChat:
    """A function behind the model port."""
    return SimulatedChat(behaviour, model="scripted")


def payload_of(request: ChatRequest) -> dict[str, Any]:
    """The JSON payload of a critic or optimizer request."""
    value: dict[str, Any] = json.loads(request.messages[1].content.partition("INPUT:\n")[2])
    return value


def make_skill(name: str, body: str = "Do it well.", description: str = "Says how.") -> Skill:
    """A valid skill."""
    return parse_skill(render_skill(name, description, body))


def make_team(**libraries: Sequence[Skill | str]) -> Team:
    """Agents in the given order, each with skills given whole or by name."""
    return Team(
        tuple(Agent(name, f"You are the {name}.") for name in libraries),
        tuple(
            Library(
                name,
                tuple(
                    sorted(
                        (make_skill(s) if isinstance(s, str) else s for s in skills),
                        key=lambda s: s.name,
                    )
                ),
            )
            for name, skills in libraries.items()
        ),
    )


def make_trajectory(
    question: str,
    reward: float | None,
    outputs: Sequence[tuple[str, str]],
    sample: int = 0,
    error: str = "",
) -> Trajectory:
    """A trajectory whose steps are (agent, output); without a reward it is a fault."""
    steps = tuple(
        Step(index, agent, StepKind.MODEL, output) for index, (agent, output) in enumerate(outputs)
    )
    return Trajectory(
        question=question,
        sample=sample,
        steps=steps,
        answer=steps[-1].output if steps else "",
        stop_reason=StopReason.UNAVAILABLE if reward is None else StopReason.FINISHED,
        reward=reward,
        error=error,
    )


def make_group(
    question: Question | str,
    rewards: Sequence[float],
    layouts: Sequence[Sequence[tuple[str, str]]] = (),
) -> Group:
    """A group with one trajectory per reward; by default reader and answerer speak once each."""
    if isinstance(question, str):
        question = Question(question, f"What about {question}?", ("x",))
    layouts = layouts or [
        [("reader", f"note {n}"), ("answerer", f"answer {n}")] for n in range(len(rewards))
    ]
    trajectories = tuple(
        make_trajectory(question.id, reward, layout, sample)
        for sample, (reward, layout) in enumerate(zip(rewards, layouts, strict=True))
    )
    return Group(question, trajectories, advantages(rewards), len(rewards))


def make_credit(
    question: str,
    credit: float,
    verdict: Contribution = Contribution.NEUTRAL,
    *,
    agent: str = "answerer",
    skill: str = "units",
    edit: str = "",
    redundant: tuple[str, ...] = (),
    reason: str = "",
) -> Credit:
    """A credit of one question."""
    return Credit(
        question, agent, skill, credit, verdict, reason=reason, suggested_edit=edit,
        redundant_with=redundant,
    )  # fmt: skip


def make_diagnosis(
    question: str,
    failure: str = "format",
    *,
    n: int = 0,
    agent: str = "answerer",
    skill: str | None = None,
    action: Operator = Operator.INDUCE,
) -> Diagnosis:
    """A diagnosis of one question."""
    return Diagnosis(
        f"d-{question}-{n}", question, agent, skill, failure, (Citation(0, 0),), (), action,
        explanation=f"{failure} in {question}",
    )  # fmt: skip
