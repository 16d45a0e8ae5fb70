"""prune: skills that hurt are removed; no model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillevo.core.plan import PruneTarget, prune_targets
from skillevo.operators.base import OperatorContext, OperatorTools, counted
from skillevo.types import Edit, Operator, Refusal


def build(tools: OperatorTools) -> Prune:
    """The operator, ready to run."""
    return Prune(tools)


@dataclass(frozen=True, slots=True)
class Prune:
    """Removes skills of low utility by the rule of the configuration."""

    tools: OperatorTools

    async def propose(self, context: OperatorContext) -> Sequence[Edit | Refusal]:
        """One edit per skill that goes, worst first."""
        targets = prune_targets(
            context.library,
            context.directions,
            context.utilities,
            self.tools.prune,
            context.present,
        )
        return [_edit(context, target) for target in targets]


def _edit(context: OperatorContext, target: PruneTarget) -> Edit:
    behind = counted(target.questions, context.groups)
    return Edit(
        operator=Operator.PRUNE,
        agent=context.agent.name,
        skill=target.skill,
        text=None,
        removes=(target.skill,),
        summary="remove a skill that hurts",
        why=f"{behind}: {target.why}." if target.questions else f"Of old credit: {target.why}.",
        support=len(target.questions),
        utility=target.utility,
        author="program",
    )
