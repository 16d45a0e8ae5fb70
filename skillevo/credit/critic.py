"""One critic call per group: credits, feedback and diagnoses, each checked against the group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skillevo.ask.render import prompt, render, with_note
from skillevo.ask.seat import Seat
from skillevo.ask.structured import Outcome, ask_json
from skillevo.core.seeds import Phase
from skillevo.credit.citations import FAILURE_TYPES, Constraints, constraints_of
from skillevo.credit.narrow import critic_schema
from skillevo.credit.payload import group_payload, share_texts
from skillevo.credit.read import read_answer
from skillevo.errors import CallFailed
from skillevo.types import (
    Assessment,
    ChatRequest,
    Group,
    Team,
)

UNAVAILABLE = "unavailable"
PARTS = ("credits", "feedback", "diagnoses")


@dataclass(frozen=True, slots=True)
class Critic:
    """Reads whole groups. ``failure_types`` extend the built-in vocabulary,
    rewards from ``full_reward`` on are not diagnosed; ``note`` is the
    environment's extra instruction."""

    seat: Seat
    structured: bool = True
    category_label: bool = False
    failure_types: tuple[str, ...] = ()
    full_reward: float = 1.0
    note: str = ""

    async def assess(self, team: Team, group: Group) -> Assessment:
        """What the critic says of the group; a call that could not be had is an outcome, too."""
        rules = constraints_of(team, group, self.failure_types, self.full_reward)
        question = group.question.id

        def check(value: dict[str, Any]) -> Sequence[str]:
            if not any(part in value for part in PARTS):
                return [f"The object holds none of {', '.join(PARTS)}."]
            return read_answer(value, question, rules, structured=self.structured).faults

        try:
            answer = await ask_json(self.seat.model, self._request(team, group, rules), check)
        except CallFailed as error:
            return Assessment(question, UNAVAILABLE, notes=((error.reason, 1),))
        if not any(part in answer.value for part in PARTS):
            return Assessment(question, Outcome.UNUSABLE.value, calls=answer.calls)
        reading = read_answer(answer.value, question, rules, structured=self.structured)
        return Assessment(
            question=question,
            outcome=answer.outcome.value,
            credits=tuple(reading.credits),
            feedback=tuple(reading.feedback),
            diagnoses=tuple(reading.diagnoses),
            rejected=tuple(reading.rejected),
            notes=tuple(sorted(reading.notes.items())),
            calls=answer.calls,
        )

    def instructions(self) -> str:
        """The system message: the rubric, the diagnosis rules when asked for, the note."""
        text = prompt("critic")
        if self.structured:
            types = ", ".join((*FAILURE_TYPES, *self.failure_types))
            text += "\n\n" + render("critic_structured", failure_types=types)
        return with_note(text, self.note)

    def _request(self, team: Team, group: Group, rules: Constraints) -> ChatRequest:
        payload = group_payload(
            team,
            group,
            rules.full,
            category=self.category_label,
            constraints=self.structured,
        )
        question = group.question.id
        schema = critic_schema(rules, self.seat.max_tokens, structured=self.structured)
        return self.seat.request(
            self.instructions(),
            share_texts(payload),
            schema,
            seed=(Phase.CREDIT, question),
            affinity=question,
        )
