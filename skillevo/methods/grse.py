"""GRSE: compare the rollouts of one question, credit agents' skills, edit along the evidence."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from skillevo.core.aggregate import (
    credits_by_skill,
    induction_evidence,
    patterns,
    update_utilities,
)
from skillevo.core.plan import due_operators
from skillevo.credit.aggregator import Aggregator
from skillevo.credit.critic import Critic
from skillevo.errors import LibraryError
from skillevo.library.standard import FORMAT, Standard
from skillevo.library.tree import apply_edit
from skillevo.operators.base import LibraryOperator, OperatorContext
from skillevo.types import (
    Agent,
    Assessment,
    Edit,
    EditDirection,
    Group,
    InductionEvidence,
    Library,
    MethodState,
    Operator,
    Pair,
    Refusal,
    StepResult,
    Team,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Grse:
    """Group-relative skill evolution (method.md 2). ``schedule`` says when each operator is due;
    ``library_limit`` is L; ``notify`` is told of each assessment as it comes; skills hold the
    ``standard``."""

    critic: Critic
    aggregator: Aggregator
    operators: Mapping[str, LibraryOperator]
    schedule: Mapping[str, int]
    momentum: float
    library_limit: int
    notify: Callable[[Assessment], None]
    standard: Standard = FORMAT

    @property
    def name(self) -> str:
        return "grse"

    async def step(
        self, state: MethodState, iteration: int, team: Team, groups: AsyncIterator[Group]
    ) -> StepResult:
        """One iteration: assess each group as it ends, aggregate, then edit agent by agent."""
        assessed = await self._assess(team, groups)
        assessments = tuple(assessment for _, assessment in assessed)
        directions = await self._directions(team, assessments)
        evidence = self._evidence(team, assessed)
        utilities = update_utilities(state.utilities, directions, self.momentum)
        contexts = [
            _context(agent, team, iteration, directions, evidence, utilities, assessed)
            for agent in team.agents
        ]
        edited = await _gather([self._edit(context, state.refused) for context in contexts])
        edits = tuple(edit for own, _ in edited for edit in own)
        return StepResult(
            edits=edits,
            state=replace(state, utilities=utilities),
            assessments=assessments,
            directions=directions,
            evidence=evidence,
            refusals=tuple(refusal for _, refusals in edited for refusal in refusals),
        )

    async def _assess(
        self, team: Team, groups: AsyncIterator[Group]
    ) -> list[tuple[Group, Assessment]]:
        """Each group with what the critic said of it, by question id, so that the order of arrival
        leaves no trace."""
        assessed: list[tuple[Group, Assessment]] = []

        async def assess(group: Group) -> None:
            assessment = await self.critic.assess(team, group)
            self.notify(assessment)
            assessed.append((group, assessment))

        async with asyncio.TaskGroup() as tasks:
            async for group in groups:
                tasks.create_task(assess(group))
        return sorted(assessed, key=lambda pair: pair[0].question.id)

    async def _directions(
        self, team: Team, assessments: Sequence[Assessment]
    ) -> tuple[EditDirection, ...]:
        credits_ = credits_by_skill(assessments)
        merging = []
        for (agent, name), own in credits_.items():
            skill = team.library(agent).get(name)
            if skill is not None:
                merging.append(self.aggregator.direction(skill, own))
        return tuple(await _gather(merging))

    def _evidence(
        self, team: Team, assessed: Sequence[tuple[Group, Assessment]]
    ) -> tuple[InductionEvidence, ...]:
        rewards = {group.question.id: group.mean_reward for group, _ in assessed}
        found = patterns((d for _, said in assessed for d in said.diagnoses), rewards)
        feedback = [item for _, said in assessed for item in said.feedback]
        structured = self.critic.structured
        return tuple(
            induction_evidence(agent.name, found, feedback, structured=structured)
            for agent in team.agents
        )

    async def _edit(
        self, context: OperatorContext, refused: frozenset[str]
    ) -> tuple[list[Edit], list[Refusal]]:
        """The due operators in order, each on the library as the ones before left it."""
        edits: list[Edit] = []
        refusals: list[Refusal] = []
        for name in due_operators(context.iteration, self.schedule):
            for proposal in await self.operators[name].propose(context):
                if isinstance(proposal, Refusal):
                    refusals.append(proposal)
                    continue
                library = self._apply(context.library, proposal, refused)
                if isinstance(library, Refusal):
                    refusals.append(library)
                    continue
                edits.append(proposal)
                context = replace(context, library=library, present=_untouched(context, proposal))
        return edits, refusals

    def _apply(self, library: Library, edit: Edit, refused: frozenset[str]) -> Library | Refusal:
        """The library after the edit, or why it is not made: rejected before, or against a rule.

        Whatever an operator proposes, also one of another package, passes here.
        """
        why = ""
        edited = library
        if edit.digest in refused:
            why = "the gate rejected the same edit earlier in this run"
        else:
            try:
                edited = apply_edit(library, edit, standard=self.standard)
            except LibraryError as error:
                why = f"{error.what}: {error.why}" if error.why else error.what
        if not why and edited == library:
            why = "it changes nothing"
        if len(edited.skills) > max(self.library_limit, len(library.skills)):
            why = f"the library holds its limit of {self.library_limit} skills"
        return Refusal(edit.operator, edit.agent, edit.skill, why) if why else edited


def _context(
    agent: Agent,
    team: Team,
    iteration: int,
    directions: Sequence[EditDirection],
    evidence: Sequence[InductionEvidence],
    utilities: Mapping[Pair, float],
    assessed: Sequence[tuple[Group, Assessment]],
) -> OperatorContext:
    library = team.library(agent.name)
    return OperatorContext(
        agent=agent,
        library=library,
        present=frozenset(library.names),
        iteration=iteration,
        directions=tuple(d for d in directions if d.agent == agent.name),
        evidence=next(e for e in evidence if e.agent == agent.name),
        utilities={skill: value for (who, skill), value in utilities.items() if who == agent.name},
        groups=tuple(group for group, _ in assessed),
    )


def _untouched(context: OperatorContext, edit: Edit) -> frozenset[str]:
    """The skills that credit of the rollouts still speaks of: a merged skill is a new one, even
    when it has the name of a part."""
    if edit.operator is not Operator.CONSOLIDATE:
        return context.present
    return context.present - {edit.skill}


async def _gather(coroutines: Sequence[Coroutine[object, object, T]]) -> list[T]:
    """The results in order; the first fault cancels the rest."""
    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(coroutine) for coroutine in coroutines]
    return [task.result() for task in running]
