"""Credits of one skill on several questions, merged by a model beside the program's own mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillevo.ask.bounds import TENTHS, bound_strings
from skillevo.ask.render import prompt
from skillevo.ask.seat import Seat
from skillevo.ask.structured import Outcome, ask_json
from skillevo.core.aggregate import clamp, fold_single, fold_without_model
from skillevo.core.seeds import Phase
from skillevo.errors import CallFailed
from skillevo.schemas import load_schema, violations
from skillevo.types import (
    ChatRequest,
    Credit,
    Direction,
    EditDirection,
    Skill,
)


@dataclass(frozen=True, slots=True)
class Aggregator:
    """Merges credits into one direction per skill; ``threshold`` serves when no answer is had."""

    seat: Seat
    threshold: float

    async def direction(self, skill: Skill, credits_: Sequence[Credit]) -> EditDirection:
        """The direction of one skill from one credit per question, at least one.

        A single credit is folded without a call. The verdict and score are the model's; the mean
        credit is always the program's (method.md 2.4).
        """
        if len(credits_) == 1:
            return fold_single(credits_[0])
        fallback = fold_without_model(credits_, self.threshold)
        try:
            answer = await ask_json(self.seat.model, self._request(skill, credits_), _check)
        except CallFailed:
            return fallback
        if answer.outcome is Outcome.UNUSABLE or answer.violations:
            return fallback
        value = answer.value
        names = {name for credit in credits_ for name in credit.redundant_with}
        redundant = {name for name in value.get("redundant_with", ()) if name != skill.name}
        return replace(
            fallback,
            verdict=Direction(value["verdict"]),
            utility_score=clamp(float(value["utility_score"]), -1.0, 1.0),
            summary=value["summary"],
            suggested_edit=value.get("suggested_edit", ""),
            redundant_with=tuple(sorted(redundant | names)),
        )

    def _request(self, skill: Skill, credits_: Sequence[Credit]) -> ChatRequest:
        payload = {
            "skill": {"name": skill.name, "description": skill.description, "body": skill.body},
            "credits": [
                {
                    "credit": credit.credit,
                    "verdict": credit.verdict.value,
                    "reason": credit.reason,
                    "suggested_edit": credit.suggested_edit,
                    "redundant_with": list(credit.redundant_with),
                }
                for credit in credits_
            ],
        }
        questions = [credit.question for credit in credits_]
        return self.seat.request(
            prompt("aggregate"),
            payload,
            _narrow(self.seat.max_tokens),
            seed=(Phase.CREDIT, credits_[0].agent, skill.name, *questions),
        )


def _check(value: dict[str, Any]) -> Sequence[str]:
    return [f"{v.where}: {v.message}" for v in violations(value, "aggregate")]


def _narrow(max_tokens: int) -> dict[str, Any]:
    schema = bound_strings(load_schema("aggregate"), max_tokens)
    schema["properties"]["utility_score"] = {"enum": TENTHS}
    return schema
