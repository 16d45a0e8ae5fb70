"""refine: anchored edits of one skill along its aggregated credit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skillevo.ask.bounds import bound_strings
from skillevo.core.edits import AnchoredEdit, Applied, EditOp, Outcome, apply_edits
from skillevo.core.plan import refine_targets
from skillevo.library.document import replace_body, set_field
from skillevo.library.tree import estimate_tokens
from skillevo.operators.base import (
    BODY_LIMIT_TOKENS,
    OperatorContext,
    OperatorTools,
    ask_operator,
    counted,
    direction_payload,
    prompt_digest,
    refusal,
)
from skillevo.operators.draft import skill_payload
from skillevo.schemas import load_schema
from skillevo.types import Edit, EditDirection, Operator, Refusal, Skill


def build(tools: OperatorTools) -> Refine:
    """The operator, ready to run."""
    return Refine(tools)


@dataclass(frozen=True, slots=True)
class Refine:
    """Edits skills whose verdict is refine; its cap is 2/3 of the optimizer's (800 of 1,200)."""

    tools: OperatorTools

    async def propose(self, context: OperatorContext) -> Sequence[Edit | Refusal]:
        """One edit per skill that the evidence wants changed."""
        return [
            await self._refine(context, direction)
            for direction in refine_targets(context.library, context.directions)
        ]

    async def _refine(self, context: OperatorContext, direction: EditDirection) -> Edit | Refusal:
        skill = context.library.get(direction.skill)
        assert skill is not None
        cap = self.tools.seat.max_tokens * 2 // 3
        payload = {
            "agent": context.agent.name,
            "role": context.agent.role,
            "skill": skill_payload(skill),
            "evidence": direction_payload(direction),
        }
        schema = bound_strings(load_schema("refine"), cap)
        answer, why = await ask_operator(
            self.tools, "refine", context, payload, schema, "refine", max_tokens=cap
        )
        if answer is None:
            return refusal(context, Operator.REFINE, skill.name, why)
        return self._edit(context, direction, skill, answer.value)

    def _edit(
        self,
        context: OperatorContext,
        direction: EditDirection,
        skill: Skill,
        value: dict[str, Any],
    ) -> Edit | Refusal:
        applied = apply_edits(skill.body, [_anchored(item) for item in value["edits"]])
        description = " ".join(value.get("description", "").split()) or skill.description
        failed = [o.value for o in applied.outcomes if o is not Outcome.APPLIED]
        if applied.text == skill.body and description == skill.description:
            reason = f"no edit applied ({', '.join(failed)})" if failed else "it changes nothing"
            return refusal(context, Operator.REFINE, skill.name, reason)
        if not applied.text.strip():
            return refusal(context, Operator.REFINE, skill.name, "it would empty the skill")
        if estimate_tokens(applied.text) > max(BODY_LIMIT_TOKENS, estimate_tokens(skill.body)):
            reason = f"its body would have more than {BODY_LIMIT_TOKENS} tokens"
            return refusal(context, Operator.REFINE, skill.name, reason)
        text = skill.text
        if applied.text != skill.body:
            text = replace_body(text, applied.text)
        if description != skill.description:
            text = set_field(text, "description", description)
        return Edit(
            operator=Operator.REFINE,
            agent=context.agent.name,
            skill=skill.name,
            text=text,
            removes=(),
            summary=value.get("summary", "").strip() or "follow the evidence",
            why=f"{counted(direction.questions, context.groups)}: "
            f"{direction.summary or direction.suggested_edit}",
            support=len(direction.questions),
            utility=direction.mean_credit,
            notes=_notes(applied),
            author=self.tools.seat.model.identity.model,
            prompt=prompt_digest(self.tools, "refine"),
        )


def _anchored(item: dict[str, Any]) -> AnchoredEdit:
    return AnchoredEdit(
        EditOp(item["op"]), item["anchor"], item.get("old", ""), item.get("new", "")
    )


def _notes(applied: Applied) -> tuple[str, ...]:
    return tuple(
        f"edit {number}: {outcome.value}" for number, outcome in enumerate(applied.outcomes, 1)
    )
