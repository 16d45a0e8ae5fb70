"""The evidence of an iteration: its events, what the critic said, decisions and scores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from skillevo.core.evidence import Files, dump, folder, row_digest, trajectory_row
from skillevo.types import (
    MethodState,
    Outcome,
    Pattern,
    RunResult,
    Score,
    StepResult,
    Trajectory,
)

# --- what an iteration saw ----------------------------------------------------------------------


@dataclass(slots=True)
class Seen:
    """The rollouts of one iteration as they end: rows of ``events.jsonl`` and digests of groups.

    ``digests`` has the digest of a training rollout by question and sample.
    """

    iteration: int
    rows: list[tuple[tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)
    digests: dict[tuple[str, int], str] = field(default_factory=dict)

    def rollout(self, phase: str, trajectory: Trajectory) -> None:
        """Note one rollout of a phase: ``training`` or ``validation:<label>``."""
        found = row_digest(trajectory_row(trajectory))
        if phase == "training":
            self.digests[trajectory.question, trajectory.sample] = found
        order = ["validation:base", "training"].index(phase) if phase in _EARLY else 2
        key = (order, phase, trajectory.question, trajectory.sample)
        self.rows.append((
            key,
            {
                "event": "rollout",
                "iteration": self.iteration,
                "phase": phase,
                "question": trajectory.question,
                "sample": trajectory.sample,
                "stop_reason": trajectory.stop_reason.value,
                "reward": trajectory.reward,
                "digest": found,
            },
        ))  # fmt: skip

    def events(self, later: Iterable[Mapping[str, Any]]) -> str:
        """Lines of ``events.jsonl``: the rollouts in a fixed order, then ``later``."""
        rows = [row for _, row in sorted(self.rows, key=lambda pair: pair[0])]
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in [*rows, *later])


_EARLY = ("validation:base", "training")


def later_events(
    iteration: int,
    excluded: Iterable[tuple[str, str]],
    step: StepResult,
    settled: Sequence[Outcome],
) -> list[dict[str, Any]]:
    """The events of an iteration after its rollouts: exclusions, assessments, edits, decisions."""
    events: list[dict[str, Any]] = [
        {"event": "excluded", "iteration": iteration, "question": question, "reason": reason}
        for question, reason in sorted(excluded)
    ]
    events += [
        {
            "event": "assessed",
            "iteration": iteration,
            "question": said.question,
            "outcome": said.outcome,
        }
        for said in step.assessments
    ]
    for one in settled:
        events += [
            {"event": "edit", "iteration": iteration, "id": entry.id}
            for entry in one.candidate.edits
        ]
    events += [
        {
            "event": "decision",
            "iteration": iteration,
            "agent": one.candidate.agent,
            "decision": one.decision.value,
        }
        for one in settled
    ]
    return events


# --- files of an iteration ----------------------------------------------------------------------


def learning_files(iteration: int, step: StepResult) -> Files:
    """Credits, diagnoses with what was rejected and why, and what they add up to."""
    said = step.assessments
    place = folder(iteration)
    return {
        f"{place}/credits.json": dump(
            "credits",
            {
                "assessments": [
                    {
                        "question": a.question,
                        "outcome": a.outcome,
                        "notes": dict(a.notes),
                        "calls": list(a.calls),
                    }
                    for a in said
                ],
                "credits": [asdict(c) for a in said for c in a.credits],
                "feedback": [asdict(f) for a in said for f in a.feedback],
            },
        ),
        f"{place}/diagnoses.json": dump(
            "diagnoses",
            {
                "accepted": [asdict(d) for a in said for d in a.diagnoses],
                "rejected": [asdict(r) for a in said for r in a.rejected],
            },
        ),
        f"{place}/aggregate.json": dump(
            "aggregate",
            {
                "directions": [asdict(d) for d in step.directions],
                "patterns": [_pattern(e.agent, p) for e in step.evidence for p in e.patterns],
                "refusals": [asdict(r) for r in step.refusals],
            },
        ),
    }


def decision_files(
    iteration: int, base: Score, judged: Sequence[tuple[Score, Outcome]], state: MethodState
) -> Files:
    """The decisions, the scores per question before and after, and the method's next state."""
    place = folder(iteration)
    files = {
        f"{place}/decision.json": dump(
            "decision",
            {"base_score": base.mean, "agents": [_decision(outcome) for _, outcome in judged]},
        ),
        f"{place}/state.json": dump(
            "method_state",
            {
                "utilities": {
                    "/".join(pair): value for pair, value in sorted(state.utilities.items())
                },
                "refused": sorted(state.refused),
            },
        ),
    }
    for score, outcome in judged:
        agent = outcome.candidate.agent
        files[f"{place}/scores/{agent}.json"] = dump("scores", _scores(agent, base, score))
    return files


def result_file(result: RunResult) -> Files:
    """How the run ended."""
    value = {
        "final_score": result.final_score,
        "not_done": list(result.not_done),
        "head": result.head,
    }
    return {"result.json": dump("result", value)}


def _pattern(agent: str, pattern: Pattern) -> dict[str, Any]:
    return {
        "agent": agent,
        "failure_type": pattern.failure_type,
        "skill": pattern.skill,
        "action": pattern.action,
        "questions": list(pattern.questions),
        "loss": pattern.loss,
        "diagnoses": [d.id for d in pattern.examples],
    }


def _decision(outcome: Outcome) -> dict[str, Any]:
    candidate, verdict = outcome.candidate, outcome.verdict
    return {
        "agent": candidate.agent,
        "decision": outcome.decision,
        "verdict": verdict.decision,
        "base_score": verdict.base,
        "score": verdict.score,
        "standard_error": verdict.standard_error,
        "n": verdict.n,
        "repeats": verdict.repeats,
        "better": verdict.better,
        "worse": verdict.worse,
        "policy": verdict.policy,
        "reason": outcome.reason or verdict.reason,
        "candidate": candidate.head,
        "base": candidate.base,
        "merge": outcome.merge or None,
        "base_moved": outcome.base_moved or None,
        "edits": [entry.id for entry in candidate.edits],
    }


def _scores(agent: str, before: Score, after: Score) -> dict[str, Any]:
    old, new = before.by_question, after.by_question
    return {
        "agent": agent,
        "repeats": after.repeats,
        "questions": [
            {"question": question, "before": old.get(question), "after": new.get(question)}
            for question in sorted({*old, *new})
        ],
    }
