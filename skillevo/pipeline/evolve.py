"""The loop of a run: iterations until all are done or a cap is met."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from skillevo.core.evidence import EVENTS
from skillevo.core.evidence_iteration import result_file
from skillevo.core.refs import run_branch
from skillevo.errors import BudgetReached
from skillevo.pipeline.iteration import Stage
from skillevo.pipeline.run import Position, Run
from skillevo.types import IterationResult, MethodState, RunResult

T = TypeVar("T")


async def evolve(run: Run) -> RunResult:
    """All iterations; a cap that is met ends the run in order with what was finished.

    Raises what the models and the store raise for faults of the whole run.
    """
    await asyncio.to_thread(run.store.begin, run.id, run.base, {"run.json": run.record})
    at = Position(run.base, run.team, MethodState())
    done: list[IterationResult] = []
    not_done: list[str] = []
    for index in range(1, run.iterations + 1):
        stage = Stage(run, index)
        outcome = await _within_budget(stage.iterate(at))
        if isinstance(outcome, BudgetReached):
            not_done += _missed(run, index, stage.doing, outcome)
            break
        result, at = outcome
        done.append(result)
        run.finished(result)
    final = at.score.mean if at.score else None
    last = Stage(run, 0)
    if final is None and not not_done:
        measured = await _within_budget(last.measure_final(at.team))
        if isinstance(measured, BudgetReached):
            not_done.append(f"the final team's validation score ({measured.cap} used up)")
        elif measured.rewards:
            final = measured.mean
        else:
            not_done.append("the final team's validation score (no question could be scored)")
    told = RunResult(
        run=run.id,
        base=run.base,
        branch=run_branch(run.id).removeprefix("refs/heads/"),
        head=at.head,
        iterations=tuple(done),
        final_score=final,
        not_done=tuple(not_done),
    )
    events = at.events + last.seen.events([])
    await asyncio.to_thread(run.store.end, {**result_file(told), EVENTS: events})
    return told


def _missed(run: Run, index: int, doing: str, stop: BudgetReached) -> list[str]:
    missed = [f"iteration {index} stopped during {doing} ({stop.cap} used up)"]
    if index < run.iterations:
        last = f" to {run.iterations}" if index + 1 < run.iterations else ""
        missed.append(f"iteration {index + 1}{last} not started")
    return missed


async def _within_budget(work: Coroutine[Any, Any, T]) -> T | BudgetReached:
    """The result, or the cap that was met, however deep in task groups it was raised."""
    stop: BudgetReached | None = None
    try:
        return await work
    except* BudgetReached as group:
        stop = _leaf(group)
    assert stop is not None
    return stop


def _leaf(group: BaseExceptionGroup[BudgetReached]) -> BudgetReached:
    first = group.exceptions[0]
    return _leaf(first) if isinstance(first, BaseExceptionGroup) else first
