"""What every operator is given and gives: the contract for operators found by entry point, too.

An entry point of the group ``skillevo.operators`` names a function
``build(tools: OperatorTools) -> LibraryOperator``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from skillevo.ask.render import compact_json, digest, prompt, with_note
from skillevo.ask.seat import Seat
from skillevo.ask.structured import Answer, Outcome, ask_json
from skillevo.core.plan import PruneRule
from skillevo.core.seeds import Phase
from skillevo.errors import CallFailed
from skillevo.schemas import violations
from skillevo.types import (
    Agent,
    Edit,
    EditDirection,
    Group,
    InductionEvidence,
    Library,
    Operator,
    Question,
    Refusal,
    Trajectory,
)

Reward = Callable[[Question, Trajectory], float]

BODY_LIMIT_TOKENS = 1200


@dataclass(frozen=True, slots=True)
class OperatorTools:
    """What operators are built from. ``note(purpose)`` is the environment's note, ``reward`` its
    R(q, τ) in [0, 1]."""

    seat: Seat
    library_limit: int
    prune: PruneRule
    note: Callable[[str], str]
    reward: Reward


@dataclass(frozen=True, slots=True)
class OperatorContext:
    """One agent's situation in one iteration.

    ``library`` is the library as edited so far in this iteration, ``present`` the skills that stood
    in it when the rollouts were made; ``groups`` are in question order; ``utilities`` holds the
    running utility per skill of this agent.
    """

    agent: Agent
    library: Library
    present: frozenset[str]
    iteration: int
    directions: tuple[EditDirection, ...]
    evidence: InductionEvidence
    utilities: Mapping[str, float]
    groups: tuple[Group, ...]


class LibraryOperator(Protocol):
    """Proposes edits of one agent's library."""

    async def propose(self, context: OperatorContext) -> Sequence[Edit | Refusal]:
        """Edits in the order in which they apply, and what was wanted but not made.

        Never raises for anything a model answered. BudgetReached and ServerError pass through.
        """
        ...


async def ask_operator(
    tools: OperatorTools,
    purpose: str,
    context: OperatorContext,
    payload: Mapping[str, Any],
    schema: Mapping[str, Any],
    contract: str,
    *,
    max_tokens: int,
) -> tuple[Answer | None, str]:
    """One optimizer call: the answer, or None and why it cannot be used.

    ``schema`` is what the server is asked to enforce, ``contract`` the name of the full schema that
    the answer is checked against.
    """

    def problems(value: dict[str, Any]) -> Sequence[str]:
        return [f"{v.where}: {v.message}" for v in violations(value, contract)]

    request = tools.seat.request(
        instructions(tools, purpose),
        payload,
        schema,
        seed=(Phase.OPTIMIZE, purpose, context.iteration, compact_json(payload)),
        max_tokens=max_tokens,
    )
    try:
        answer = await ask_json(tools.seat.model, request, problems)
    except CallFailed as error:
        return None, f"the optimizer could not be asked: {error.reason}"
    if answer.outcome is Outcome.UNUSABLE:
        return None, "the optimizer's answer held no JSON object, twice"
    if answer.violations:
        return None, f"the optimizer's answer broke the rules, twice: {answer.violations[0]}"
    return answer, ""


def instructions(tools: OperatorTools, purpose: str) -> str:
    """The operator's prompt with the environment's note."""
    return with_note(prompt(purpose), tools.note(purpose))


def prompt_digest(tools: OperatorTools, purpose: str) -> str:
    """The digest of the instructions under which the optimizer wrote an edit."""
    return digest(instructions(tools, purpose))


def refusal(context: OperatorContext, operator: Operator, skill: str, reason: str) -> Refusal:
    """What was wanted but not made."""
    return Refusal(operator, context.agent.name, skill, reason)


def counted(questions: Sequence[str], groups: Sequence[Group]) -> str:
    """``3 of 24 questions``: how many of the iteration's questions stand behind an edit."""
    return f"{len(questions)} of {len(groups)} questions"


def direction_payload(direction: EditDirection) -> dict[str, Any]:
    """A direction as the optimizer reads it."""
    return {
        "verdict": direction.verdict.value,
        "utility": round(direction.mean_credit, 3),
        "questions": len(direction.questions),
        "summary": direction.summary,
        "suggested_edit": direction.suggested_edit,
    }
