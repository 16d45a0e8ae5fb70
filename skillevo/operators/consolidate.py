"""consolidate: redundant skills of one agent become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillevo.core.plan import redundancy_components
from skillevo.operators.base import (
    OperatorContext,
    OperatorTools,
    ask_operator,
    counted,
    prompt_digest,
    refusal,
)
from skillevo.operators.draft import (
    CONTRACT,
    draft_schema,
    proposes_nothing,
    skill_file,
    skill_payload,
)
from skillevo.types import Edit, Operator, Refusal


def build(tools: OperatorTools) -> Consolidate:
    """The operator, ready to run."""
    return Consolidate(tools)


@dataclass(frozen=True, slots=True)
class Consolidate:
    """Merges connected components of ``redundant_with``; nothing is cut from the inputs."""

    tools: OperatorTools

    async def propose(self, context: OperatorContext) -> Sequence[Edit | Refusal]:
        """One edit per component of redundant skills."""
        components = redundancy_components(context.library, context.directions)
        return [await self._merge(context, names) for names in components]

    async def _merge(self, context: OperatorContext, names: tuple[str, ...]) -> Edit | Refusal:
        label = " + ".join(names)
        skills = [skill for skill in context.library.skills if skill.name in names]
        with_files = [skill.name for skill in skills if skill.resources]
        if with_files:
            reason = f"{', '.join(with_files)} has files beside its SKILL.md"
            return refusal(context, Operator.CONSOLIDATE, label, reason)
        payload = {
            "agent": context.agent.name,
            "role": context.agent.role,
            "skills": [
                {**skill_payload(skill), "utility": round(context.utilities.get(skill.name, 0), 3)}
                for skill in skills
            ],
        }
        cap = self.tools.seat.max_tokens
        schema = draft_schema(cap)
        answer, why = await ask_operator(
            self.tools, "consolidate", context, payload, schema, CONTRACT, max_tokens=cap
        )
        if answer is None:
            return refusal(context, Operator.CONSOLIDATE, label, why)
        if proposes_nothing(answer.value):
            return refusal(context, Operator.CONSOLIDATE, label, "the optimizer keeps them apart")
        made = skill_file(answer.value, set(context.library.names) - set(names))
        if isinstance(made, str):
            return refusal(context, Operator.CONSOLIDATE, label, made)
        name, text = made
        behind = [d for d in context.directions if d.skill in names]
        questions = sorted({question for d in behind for question in d.questions})
        utilities = [context.utilities.get(n, 0.0) for n in names]
        return Edit(
            operator=Operator.CONSOLIDATE,
            agent=context.agent.name,
            skill=name,
            text=text,
            removes=tuple(n for n in names if n != name),
            summary=f"merge {' and '.join(names)}",
            why=f"{counted(questions, context.groups)}: these skills say the same.",
            support=len(questions),
            utility=sum(utilities) / len(utilities),
            sources=names,
            author=self.tools.seat.model.identity.model,
            prompt=prompt_digest(self.tools, "consolidate"),
        )
