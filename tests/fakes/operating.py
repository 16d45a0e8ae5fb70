"""An operator's tools and one agent's situation, small and overridable."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from fakes.evolution import SAMPLED, Script, make_group, make_team

from skillevo.ask.seat import Seat
from skillevo.core.plan import PruneRule
from skillevo.operators.base import LibraryOperator, OperatorContext, OperatorTools
from skillevo.ports import ChatModel
from skillevo.types import (
    Edit,
    EditDirection,
    Group,
    InductionEvidence,
    ModelRole,
    Question,
    Refusal,
    Skill,
    Thinking,
    Trajectory,
)


def exact_answer(question: Question, trajectory: Trajectory) -> float:
    """1 for an accepted answer."""
    return float(trajectory.answer in question.answers)


def make_tools(
    script: Script | None = None,
    *,
    model: ChatModel | None = None,
    max_tokens: int = 1200,
    **options: Any,
) -> OperatorTools:
    """Tools around a script that must not be asked unless it is given, or around a model."""
    model = model or (script or Script(AssertionError("no call expected"))).model
    values: dict[str, Any] = {
        "seat": Seat(model, ModelRole.OPTIMIZER, SAMPLED, max_tokens, Thinking.OFF, 1),
        "library_limit": 4,
        "prune": PruneRule(-0.3, "mean", 1, keep_last=True),
        "note": lambda purpose: "",
        "reward": exact_answer,
        **options,
    }
    return OperatorTools(**values)


def make_context(
    *skills: Skill | str,
    directions: tuple[EditDirection, ...] = (),
    evidence: InductionEvidence | None = None,
    utilities: Mapping[str, float] | None = None,
    groups: tuple[Group, ...] | None = None,
) -> OperatorContext:
    """The situation of the agent ``answerer`` with those skills."""
    team = make_team(answerer=skills)
    library = team.library("answerer")
    return OperatorContext(
        agent=team.agents[0],
        library=library,
        present=frozenset(library.names),
        iteration=1,
        directions=directions,
        evidence=evidence or InductionEvidence("answerer"),
        utilities=utilities or {},
        groups=(make_group("q1", [0.0, 1.0]), make_group("q2", [0.5, 0.5]))
        if groups is None
        else groups,
    )


def run(operator: LibraryOperator, context: OperatorContext) -> list[Edit | Refusal]:
    """What the operator proposes."""
    return list(asyncio.run(operator.propose(context)))


def only_edit(proposals: list[Edit | Refusal]) -> Edit:
    """The one proposal, which is an edit."""
    (proposal,) = proposals
    assert isinstance(proposal, Edit), proposal
    return proposal


def only_refusal(proposals: list[Edit | Refusal]) -> Refusal:
    """The one proposal, which is a refusal."""
    (proposal,) = proposals
    assert isinstance(proposal, Refusal), proposal
    return proposal
