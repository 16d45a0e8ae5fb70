"""induce: at most one new skill for an agent from its strongest failure patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
from skillevo.types import Edit, InductionEvidence, Operator, Refusal


def build(tools: OperatorTools) -> Induce:
    """The operator, ready to run."""
    return Induce(tools)


@dataclass(frozen=True, slots=True)
class Induce:
    """Asks the optimizer for one skill when there is evidence and a free slot."""

    tools: OperatorTools

    async def propose(self, context: OperatorContext) -> Sequence[Edit | Refusal]:
        """One new skill, nothing when there is no evidence, or why none was made."""
        if not context.evidence.questions:
            return []
        if len(context.library.skills) >= self.tools.library_limit:
            reason = f"the library holds its limit of {self.tools.library_limit} skills"
            return [refusal(context, Operator.INDUCE, "", reason)]
        cap = self.tools.seat.max_tokens
        payload = evidence_payload(context)
        answer, why = await ask_operator(
            self.tools, "induce", context, payload, draft_schema(cap), CONTRACT, max_tokens=cap
        )
        if answer is None:
            return [refusal(context, Operator.INDUCE, "", why)]
        if proposes_nothing(answer.value):
            return [refusal(context, Operator.INDUCE, "", "the optimizer proposes no skill")]
        made = skill_file(answer.value, context.library.names)
        if isinstance(made, str):
            return [refusal(context, Operator.INDUCE, "", made)]
        name, text = made
        return [
            Edit(
                operator=Operator.INDUCE,
                agent=context.agent.name,
                skill=name,
                text=text,
                removes=(),
                summary=answer.value["description"],
                why=_why(context),
                support=_support(context.evidence),
                diagnoses=tuple(d.id for p in context.evidence.patterns for d in p.examples),
                author=self.tools.seat.model.identity.model,
                prompt=prompt_digest(self.tools, "induce"),
            )
        ]


def evidence_payload(context: OperatorContext) -> dict[str, Any]:
    """The evidence as the optimizer reads it: patterns with support, examples, feedback."""
    return {
        "agent": context.agent.name,
        "role": context.agent.role,
        "skills": [skill_payload(skill) for skill in context.library.skills],
        "patterns": [
            {
                "failure_type": pattern.failure_type,
                "questions": pattern.support,
                "examples": [example.explanation for example in pattern.examples],
            }
            for pattern in context.evidence.patterns
        ],
        "feedback": [
            {"feedback": item.feedback, "missing_capability": item.missing_capability}
            for item in context.evidence.feedback
        ],
    }


def _support(evidence: InductionEvidence) -> int:
    if evidence.patterns:
        return evidence.patterns[0].support
    return len(evidence.questions)


def _why(context: OperatorContext) -> str:
    evidence = context.evidence
    if evidence.patterns:
        top = evidence.patterns[0]
        said = next((e.explanation for e in top.examples if e.explanation), "")
        behind = counted(top.questions, context.groups)
        return f"{behind}: {top.failure_type.replace('_', ' ')}. {said}".strip()
    said = evidence.feedback[0].missing_capability
    return f"{counted(evidence.questions, context.groups)}: missing: {said}"
