"""One iteration: base score, groups and credit, edits as commits, gate, merges."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from skillevo.core.evidence import EVENTS, Files
from skillevo.core.evidence_edit import edit_file
from skillevo.core.evidence_iteration import Seen, decision_files, later_events, learning_files
from skillevo.core.refs import candidate_branch
from skillevo.core.seeds import Phase, draw
from skillevo.core.settle import settle
from skillevo.errors import ServerError
from skillevo.library.tree import apply_edit
from skillevo.pipeline.run import Position, Run
from skillevo.pipeline.stream import GroupStream
from skillevo.rollout.episode import Draws
from skillevo.rollout.group import Excluded, Grouping
from skillevo.types import (
    AgentResult,
    Candidate,
    CriticCounts,
    Decision,
    Edit,
    Group,
    IterationResult,
    MethodState,
    Outcome,
    Question,
    Score,
    Settlement,
    StepResult,
    Team,
    Trajectory,
    Verdict,
)

Judged = tuple[Candidate, Score, Verdict]


@dataclass(frozen=True, slots=True)
class Published:
    """What became of the candidates, the method's next state, and all events so far."""

    settlement: Settlement
    state: MethodState
    events: str


@dataclass(slots=True)
class Stage:
    """One iteration as it runs; ``doing`` names the stage for messages."""

    run: Run
    index: int
    doing: str = "start"
    excluded: list[Excluded] = field(default_factory=list)
    seen: Seen = field(init=False)

    def __post_init__(self) -> None:
        self.seen = Seen(self.index)

    async def iterate(self, at: Position) -> tuple[IterationResult, Position]:
        """Base score, groups and credit, edits as commits, gate, merges."""
        run = self.run
        run.log.event("iteration", index=self.index, of=run.iterations)
        base = at.score or await self._measure_base(at.team)
        groups: list[Group] = []
        step = await self._learn(at, groups)
        candidates = await self._commit(at, step, groups)
        judged = await self._judge(base, at.team, candidates)
        published = await self._publish(at, base, step, judged)
        state, outcomes = published.state, published.settlement.outcomes
        team, moved = await self._next_team(at, published.settlement)
        score = None if moved else self._next_score(base, judged, outcomes)
        result = IterationResult(
            index=self.index,
            base_score=base.mean,
            groups=len(groups),
            mean_reward=sum(g.mean_reward for g in groups) / len(groups) if groups else 0.0,
            contrast=sum(any(g.advantages) for g in groups),
            excluded=tuple((e.question, e.reason) for e in self.excluded),
            critic=_critic_counts(step),
            agents=_agent_results(run.team, outcomes),
            refusals=step.refusals,
        )
        self._record(step, state, result)
        return result, Position(published.settlement.head, team, state, score, published.events)

    async def measure_final(self, team: Team) -> Score:
        """The team's score on V after the last iteration, with progress."""
        self._begin("final validation", 1)
        return await self.run.gate.measure(team, "final", self._scored)

    async def _measure_base(self, team: Team) -> Score:
        self._begin("validation of the base", 1)
        return await self.run.gate.measure_base(team, self._scored)

    # --- rollouts and credit ----------------------------------------------------------------------

    async def _learn(self, at: Position, groups: list[Group]) -> StepResult:
        """Rollouts stream into the method, which assesses each group as it ends."""
        run = self.run
        chosen = draw(run.seed, f"batch {self.index}", [q.id for q in run.train], run.batch)
        batch = [question for question in run.train if question.id in set(chosen)]
        self.doing = "rollouts and credit"
        total = len(batch) * run.group_size
        run.log.event("stage", name=self.doing, iteration=self.index, total=total)
        stream = GroupStream()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._sample(at.team, batch, stream, groups))
            return await run.method.step(at.state, self.index, at.team, stream)

    async def _sample(
        self, team: Team, batch: Sequence[Question], stream: GroupStream, groups: list[Group]
    ) -> None:
        run = self.run
        grouping = Grouping(batch, run.group_size, differing=run.differing_only)

        def done(trajectory: Trajectory) -> None:
            self._rolled_out("training", trajectory)
            closed = grouping.add(trajectory)
            if isinstance(closed, Excluded):
                self.excluded.append(closed)
                run.log.event("group_excluded", question=closed.question, reason=closed.reason)
            elif closed is not None:
                groups.append(closed)
                stream.put(closed)

        draws = Draws(run.seed, Phase.TRAINING, self.index)
        await run.rollouts.run(team, batch, run.group_size, run.training, draws, done)
        if not groups and not run.differing_only:
            raise ServerError(
                f"no group of iteration {self.index} could be used",
                why=f"{self.excluded[0].question}: {self.excluded[0].reason}",
                fix="skillevo doctor",
            )
        stream.close()

    # --- edits, gate, merge -----------------------------------------------------------------------

    async def _commit(
        self, at: Position, step: StepResult, groups: Sequence[Group]
    ) -> list[Candidate]:
        """One candidate per edited agent, in team order; each edit is one commit."""
        run = self.run
        self.doing = "edits"
        candidates = []
        for agent in run.team.agents:
            edits = [edit for edit in step.edits if edit.agent == agent.name]
            if edits:
                candidates.append(await self._candidate(at, agent.name, edits, step, groups))
        return candidates

    async def _candidate(
        self,
        at: Position,
        agent: str,
        edits: Sequence[Edit],
        step: StepResult,
        groups: Sequence[Group],
    ) -> Candidate:
        libraries = [at.team.library(agent)]
        for edit in edits:
            libraries.append(apply_edit(libraries[-1], edit))
        before = dict(zip(edits, libraries, strict=False))

        def evidence(name: str, edit: Edit) -> str:
            old = before[edit].get(edit.skill)
            return edit_file(name, edit, self.index, old, groups, step.assessments, self.seen)

        committed = await asyncio.to_thread(
            self.run.store.commit, agent, self.index, edits, at.head, evidence
        )
        for entry in committed:
            self.run.log.event(
                "edit",
                id=entry.id,
                operator=entry.edit.operator,
                agent=agent,
                skill=entry.edit.skill,
                commit=entry.commit,
                summary=entry.edit.summary,
            )
        return Candidate(
            agent=agent,
            iteration=self.index,
            branch=candidate_branch(self.run.id, agent, self.index),
            base=at.head,
            head=committed[-1].commit,
            library=libraries[-1],
            edits=tuple(committed),
        )

    async def _judge(
        self, base: Score, team: Team, candidates: Sequence[Candidate]
    ) -> list[Judged]:
        if not candidates:
            return []
        self._begin("gate", len(candidates))
        judged = await self.run.gate.judge(base, team, candidates, self._scored)
        return [(c, s, v) for c, (s, v) in zip(candidates, judged, strict=True)]

    async def _publish(
        self, at: Position, base: Score, step: StepResult, judged: Sequence[Judged]
    ) -> Published:
        """Decisions recorded with the iteration's evidence; accepted candidates merged."""
        self.doing = "merge"
        made: list[tuple[MethodState, str]] = []

        def evidence(settlement: Settlement) -> Files:
            outcomes = settlement.outcomes
            decided = [(e.edit, one.decision) for one in outcomes for e in one.candidate.edits]
            state = settle(step.state, decided)
            excluded = [(e.question, e.reason) for e in self.excluded]
            later = later_events(self.index, excluded, step, outcomes)
            events = at.events + self.seen.events(later)
            made.append((state, events))
            scores = [(s, one) for (_, s, _), one in zip(judged, outcomes, strict=True)]
            return {
                **learning_files(self.index, step),
                **decision_files(self.index, base, scores, state),
                EVENTS: events,
            }

        settlement = await asyncio.to_thread(
            self.run.store.publish, self.index, [(c, v) for c, _, v in judged], evidence
        )
        for one in settlement.outcomes:
            self.run.log.event("verdict", iteration=self.index, verdict=_final(one))
        return Published(settlement, *made[-1])

    async def _next_team(self, at: Position, settlement: Settlement) -> tuple[Team, bool]:
        """The team at the head of the run branch, and whether others had a part in it."""
        if settlement.tip != at.head:
            read = self.run.store.team_libraries
            libraries = await asyncio.to_thread(read, settlement.head)
            names = [agent.name for agent in at.team.agents]
            return replace(at.team, libraries=tuple(libraries[name] for name in names)), True
        team = at.team
        for one in settlement.outcomes:
            if one.decision is Decision.ACCEPT:
                team = team.with_library(one.candidate.library)
        return team, False

    def _next_score(
        self, base: Score, judged: Sequence[Judged], outcomes: Sequence[Outcome]
    ) -> Score | None:
        """The next base when it is known: unchanged, or that of the only accepted candidate.

        A score that misses questions is measured again: kept, it would leave every later gate as
        indecisive as this one.
        """
        pairs = zip(judged, outcomes, strict=True)
        accepted = [score for (_, score, _), one in pairs if one.decision is Decision.ACCEPT]
        known = [base] if not accepted else accepted if self.run.reuse_base else []
        if len(known) != 1 or len(known[0].rewards) < len(self.run.gate.questions):
            return None
        return known[0]

    # --- records ----------------------------------------------------------------------------------

    def _begin(self, name: str, teams: int) -> None:
        self.doing = name
        total = teams * len(self.run.gate.questions) * self.run.gate.repeats
        self.run.log.event("stage", name=name, iteration=self.index, total=total)

    def _scored(self, label: str, trajectory: Trajectory) -> None:
        self._rolled_out(f"validation:{label}", trajectory)

    def _rolled_out(self, phase: str, trajectory: Trajectory) -> None:
        log = self.run.log
        self.seen.rollout(phase, trajectory)
        log.trajectory(self.index, phase, trajectory)
        log.event(
            "rollout",
            phase=phase,
            question=trajectory.question,
            sample=trajectory.sample,
            reward=trajectory.reward,
            stop_reason=trajectory.stop_reason,
            error=trajectory.error,
        )

    def _record(self, step: StepResult, state: MethodState, result: IterationResult) -> None:
        log = self.run.log
        log.record(self.index, "credit", {"assessments": step.assessments})
        log.record(
            self.index, "aggregate", {"directions": step.directions, "evidence": step.evidence}
        )
        log.record(self.index, "state", {"state": state})
        log.record(self.index, "result", {"result": result})


def _agent_results(team: Team, outcomes: Sequence[Outcome]) -> tuple[AgentResult, ...]:
    by_agent = {one.candidate.agent: one for one in outcomes}
    results = []
    for agent in team.agents:
        result = AgentResult(agent.name, (), Decision.UNCHANGED)
        if agent.name in by_agent:
            one = by_agent[agent.name]
            result = replace(
                result,
                edits=one.candidate.edits,
                decision=one.decision,
                verdict=_final(one),
                merge=one.merge,
            )
        results.append(result)
    return tuple(results)


def _final(outcome: Outcome) -> Verdict:
    """The verdict as it turned out: a candidate that the gate accepted may be stale."""
    verdict = outcome.verdict
    return replace(verdict, decision=outcome.decision, reason=outcome.reason or verdict.reason)


def _critic_counts(step: StepResult) -> CriticCounts:
    outcomes = Counter(assessment.outcome for assessment in step.assessments)
    rejected = sum(len(assessment.rejected) for assessment in step.assessments)
    return CriticCounts(
        accepted=outcomes["accepted"],
        repaired=outcomes["repaired"],
        unusable=outcomes["unusable"],
        unavailable=outcomes["unavailable"],
        rejected_items=rejected,
    )
