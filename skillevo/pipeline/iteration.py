"""One iteration: base score, groups and credit, edits as commits, gate, merges."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

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
    Question,
    Score,
    StepResult,
    Team,
    Trajectory,
    Verdict,
)


@dataclass(slots=True)
class Stage:
    """One iteration as it runs; ``doing`` names the stage for messages."""

    run: Run
    index: int
    doing: str = "start"
    excluded: list[Excluded] = field(default_factory=list)

    async def iterate(self, at: Position) -> tuple[IterationResult, Position]:
        """Base score, groups and credit, edits as commits, gate, merges."""
        run = self.run
        run.log.event("iteration", index=self.index, of=run.iterations)
        base = at.score or await self._measure_base(at.team)
        groups: list[Group] = []
        step = await self._learn(at, groups)
        candidates = await self._commit(at, step)
        judged = await self._judge(base, at.team, candidates)
        decided = [(candidate, verdict) for candidate, (_, verdict) in judged]
        head, team, merges = await self._merge(at, decided)
        state = settle(step.state, [(e.edit, v.decision) for c, v in decided for e in c.edits])
        score = self._next_score(base, [(s, v) for _, (s, v) in judged])
        result = IterationResult(
            index=self.index,
            base_score=base.mean,
            groups=len(groups),
            mean_reward=sum(g.mean_reward for g in groups) / len(groups) if groups else 0.0,
            contrast=sum(any(g.advantages) for g in groups),
            excluded=tuple((e.question, e.reason) for e in self.excluded),
            critic=_critic_counts(step),
            agents=_agent_results(run.team, decided, merges),
            refusals=step.refusals,
        )
        self._record(step, state, result)
        return result, Position(head, team, state, score)

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

    async def _commit(self, at: Position, step: StepResult) -> list[Candidate]:
        """One candidate per edited agent, in team order; each edit is one commit."""
        run = self.run
        self.doing = "edits"
        candidates = []
        for agent in run.team.agents:
            edits = [edit for edit in step.edits if edit.agent == agent.name]
            if edits:
                candidates.append(await self._candidate(at, agent.name, edits))
        return candidates

    async def _candidate(self, at: Position, agent: str, edits: Sequence[Edit]) -> Candidate:
        library = at.team.library(agent)
        for edit in edits:
            library = apply_edit(library, edit)
        store = self.run.store
        committed = await asyncio.to_thread(store.commit, agent, self.index, edits, at.head)
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
            library=library,
            edits=tuple(committed),
        )

    async def _judge(
        self, base: Score, team: Team, candidates: Sequence[Candidate]
    ) -> list[tuple[Candidate, tuple[Score, Verdict]]]:
        if not candidates:
            return []
        self._begin("gate", len(candidates))
        judged = await self.run.gate.judge(base, team, candidates, self._scored)
        return list(zip(candidates, judged, strict=True))

    async def _merge(
        self, at: Position, decided: Sequence[tuple[Candidate, Verdict]]
    ) -> tuple[str, Team, dict[str, str]]:
        """Accepted candidates one after the other onto the run branch; the rest stay."""
        self.doing = "merge"
        store = self.run.store
        head, team, merges = at.head, at.team, {}
        for candidate, verdict in decided:
            if verdict.decision is Decision.ACCEPT:
                head = await asyncio.to_thread(store.accept, candidate, verdict)
                team = team.with_library(candidate.library)
                merges[candidate.agent] = head
            else:
                await asyncio.to_thread(store.reject, candidate, verdict)
            self.run.log.event("verdict", iteration=self.index, verdict=verdict)
        return head, team, merges

    def _next_score(self, base: Score, judged: Sequence[tuple[Score, Verdict]]) -> Score | None:
        """The next base when it is known: unchanged, or that of the only accepted candidate.

        A score that misses questions is measured again: kept, it would leave every later gate as
        indecisive as this one.
        """
        accepted = [score for score, verdict in judged if verdict.decision is Decision.ACCEPT]
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


def _agent_results(
    team: Team, decided: Sequence[tuple[Candidate, Verdict]], merges: dict[str, str]
) -> tuple[AgentResult, ...]:
    by_agent = {candidate.agent: (candidate, verdict) for candidate, verdict in decided}
    results = []
    for agent in team.agents:
        result = AgentResult(agent.name, (), Decision.UNCHANGED)
        if agent.name in by_agent:
            candidate, verdict = by_agent[agent.name]
            result = replace(
                result,
                edits=candidate.edits,
                decision=verdict.decision,
                verdict=verdict,
                merge=merges.get(agent.name, ""),
            )
        results.append(result)
    return tuple(results)


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
