"""What a run records in git of how it came to its edits: files of the evidence tree, as text.

Nothing in them depends on the clock, the machine, or the order in which answers came. The shapes
are those of ``schemas/evidence.schema.json``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from skillevo.types import (
    Assessment,
    Citation,
    Edit,
    Group,
    MethodState,
    Outcome,
    Question,
    RunResult,
    Score,
    Skill,
    Step,
    StepResult,
    Trajectory,
)

SCHEMA_VERSION = 1
EVENTS = "events.jsonl"
EXCERPTS_BYTES = 16 * 1024
EXCERPT_CHARACTERS = 1200

Files = Mapping[str, str]
"""Texts of the evidence tree by path."""


# --- digests ------------------------------------------------------------------------------------


def dump(kind: str, value: Mapping[str, Any]) -> str:
    """A file of the evidence tree: readable JSON with its kind and version, and a final newline."""
    content = {"schema_version": SCHEMA_VERSION, "kind": kind, **value}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def encoded(text: str) -> bytes:
    """The bytes of a file; half a character, which UTF-8 cannot hold, becomes a question mark."""
    return text.encode("utf-8", "replace")


def digest(content: bytes | str) -> str:
    """``sha256:`` and the hexadecimal digest."""
    data = encoded(content) if isinstance(content, str) else content
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def text_id(text: str) -> str:
    """The id under which a prompt's text stands in ``texts.jsonl``."""
    return hashlib.sha256(encoded(text)).hexdigest()[:24]


def trajectory_row(trajectory: Trajectory) -> dict[str, Any]:
    """A trajectory as in ``trajectories.jsonl``, without iteration and phase; prompts by id."""
    return {
        "question": trajectory.question,
        "sample": trajectory.sample,
        "answer": trajectory.answer,
        "stop_reason": trajectory.stop_reason.value,
        "reward": trajectory.reward,
        "trace": [asdict(row) for row in trajectory.trace],
        "error": trajectory.error,
        "steps": [_step_row(step) for step in trajectory.steps],
    }


def row_digest(row: Mapping[str, Any]) -> str:
    """The digest of a trajectory's row, whatever the order of its keys."""
    return digest(json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def questions_digest(questions: Iterable[Question]) -> str:
    """The digest of a split: every question in file order."""
    return digest(json.dumps([asdict(q) for q in questions], ensure_ascii=False, sort_keys=True))


def _step_row(step: Step) -> dict[str, Any]:
    optional = {
        "output": step.output,
        "call": step.call,
        "tool": step.tool,
        "argument": step.argument,
        "truncated": step.truncated,
        "prompt": [{"role": m.role, "text": text_id(m.content)} for m in step.messages],
    }
    row = {"index": step.index, "agent": step.agent, "kind": step.kind.value}
    return row | {key: value for key, value in optional.items() if value}


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


def folder(iteration: int) -> str:
    """Where the files of an iteration lie."""
    return f"iterations/{iteration:03d}"


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


def _pattern(agent: str, pattern: Any) -> dict[str, Any]:
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


# --- edits --------------------------------------------------------------------------------------


def edit_file(
    name: str,
    edit: Edit,
    iteration: int,
    before: Skill | None,
    groups: Sequence[Group],
    assessments: Sequence[Assessment],
    seen: Seen,
) -> str:
    """The text of ``edits/<name>.json``: what an edit was made from, and why.

    ``before`` is the skill as it was. The inputs are the groups behind the edit, by the digests of
    their trajectories; the cited steps are quoted up to 16 KiB in all.
    """
    by_question = {group.question.id: group for group in groups}
    cited = _citations(edit, assessments)
    used = sorted({question for question, _ in cited})
    return dump(
        "edit",
        {
            "id": name,
            "iteration": iteration,
            "operator": edit.operator,
            "agent": edit.agent,
            "skill": edit.skill,
            "removes": list(edit.removes),
            "sources": list(edit.sources),
            "summary": edit.summary,
            "why": edit.why,
            "support": edit.support,
            "utility": edit.utility,
            "digest": f"sha256:{edit.digest}",
            "model": edit.author,
            "prompt": edit.prompt,
            "notes": list(edit.notes),
            "diagnoses": list(edit.diagnoses),
            "inputs": {
                "before": digest(before.text) if before else None,
                "after": None if edit.text is None else digest(edit.text),
                "groups": [_inputs(by_question[question], seen) for question in used],
            },
            "citations": _quoted(cited, by_question),
        },
    )


Place = tuple[str, Citation]
"""Question and step."""


def _citations(edit: Edit, assessments: Sequence[Assessment]) -> dict[Place, list[dict[str, str]]]:
    """The steps that the edit's diagnoses and the credits of its skills point to: each once, with
    what it is for (cited, contrast, credit) and which diagnosis or skill says so."""
    skills = {edit.skill, *edit.removes, *(s.rpartition("/")[2] for s in edit.sources)}
    found: dict[Place, list[dict[str, str]]] = {}
    for said in assessments:
        pointed: list[tuple[str, str, tuple[Citation, ...]]] = []
        for diagnosis in said.diagnoses:
            if diagnosis.id in edit.diagnoses:
                pointed.append(("cited", diagnosis.id, diagnosis.cited_steps))
                pointed.append(("contrast", diagnosis.id, diagnosis.contrast_steps))
        for credit in said.credits:
            if credit.agent == edit.agent and credit.skill in skills:
                pointed.append(("credit", f"{credit.agent}/{credit.skill}", credit.evidence))
        for use, source, steps in pointed:
            for step in steps:
                found.setdefault((said.question, step), []).append({"use": use, "source": source})
    return found


def _inputs(group: Group, seen: Seen) -> dict[str, Any]:
    question = group.question.id
    return {
        "question": question,
        "trajectories": [seen.digests[question, t.sample] for t in group.trajectories],
    }


def _quoted(
    cited: Mapping[Place, Sequence[Mapping[str, str]]], groups: Mapping[str, Group]
) -> list[dict[str, Any]]:
    left = EXCERPTS_BYTES
    rows = []
    for (question, place), uses in cited.items():
        trajectory = groups[question].trajectories[place.rollout]
        step = trajectory.steps[place.step]
        excerpt = _cut(step.output, left)
        left -= len(encoded(excerpt))
        rows.append({
            "question": question,
            "rollout": place.rollout,
            "sample": trajectory.sample,
            "step": place.step,
            "agent": step.agent,
            "step_kind": step.kind,
            "uses": list(uses),
            "excerpt": excerpt,
            "whole": excerpt == step.output,
        })  # fmt: skip
    return rows


def _cut(text: str, room: int) -> str:
    """The beginning of a text, at most ``EXCERPT_CHARACTERS`` characters and ``room`` bytes."""
    kept = text[:EXCERPT_CHARACTERS]
    while len(encoded(kept)) > room:
        kept = kept[: len(kept) // 2]
    return kept
