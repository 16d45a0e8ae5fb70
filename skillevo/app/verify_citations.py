"""Does every citation of a run lead to a step that was recorded as it is quoted?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from skillevo.app.verify_report import Finding
from skillevo.core.evidence import row_digest
from skillevo.store.evidence import CitedStep, EditEvidence, Evidence
from skillevo.store.runs import FOLDER

Place = tuple[int, str, str, int]
"""Iteration, phase, question and sample of a rollout."""
Row = Mapping[str, Any]


def read_trajectories(root: Path, run: str) -> dict[Place, Row] | None:
    """The recorded rollouts of a run, None when they are not here; damaged lines are left out."""
    path = root / FOLDER / "runs" / run / "trajectories.jsonl"
    rows: dict[Place, Row] = {}
    try:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                row = _row(line)
                if row is not None:
                    rows[row.pop("iteration"), row.pop("phase"), row["question"], row["sample"]] = (
                        row
                    )
    except (OSError, UnicodeDecodeError):
        return None
    return rows


def _row(line: str) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
        known = {type(row[key]) for key in ("iteration", "sample")} == {int}
        return row if known and isinstance(row["phase"] + row["question"], str) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def check_references(evidence: Evidence) -> Iterator[Finding]:
    """Inside the evidence: diagnoses that exist, citations of groups that are among the inputs."""
    for edit in evidence.edits.values():
        place = f"edits/{edit.id}.json"
        iteration = evidence.iteration(edit.iteration)
        if iteration is not None:
            known = {diagnosis.id for diagnosis in iteration.diagnoses}
            for name in edit.diagnoses:
                if name not in known:
                    yield Finding("citation", place, f"there is no diagnosis {name}")
        for cited in edit.citations:
            if _digest_of(edit, cited) is None:
                yield Finding("citation", place, f"{_where(cited)} is not among its inputs")


def check_citations(evidence: Evidence, rows: Mapping[Place, Row]) -> Iterator[Finding]:
    """Against the recorded rollouts: each cited step is there, by that agent, as quoted."""
    for edit in evidence.edits.values():
        for cited in edit.citations:
            fault = _fault(edit, cited, rows)
            if fault:
                yield Finding("citation", f"edits/{edit.id}.json", f"{_where(cited)} {fault}")


def check_rollouts(evidence: Evidence, rows: Mapping[Place, Row]) -> Iterator[Finding]:
    """Each rollout that the events list was recorded, with that digest."""
    for event in evidence.events:
        if event.get("event") != "rollout":
            continue
        place = (event["iteration"], event["phase"], event["question"], event["sample"])
        row = rows.get(place)
        if row is None or row_digest(row) != event["digest"]:
            what = "was not recorded" if row is None else "is not the one that was recorded"
            yield Finding("rollout", f"iteration {place[0]}, {place[1]}",
                          f"rollout {place[3]} of question {place[2]} {what}")  # fmt: skip


def _fault(edit: EditEvidence, cited: CitedStep, rows: Mapping[Place, Row]) -> str:
    row = rows.get((edit.iteration, "training", cited.question, cited.sample))
    if row is None:
        return "was not recorded"
    if row_digest(row) != _digest_of(edit, cited):
        return "is of a rollout that is not the one recorded"
    steps = row["steps"]
    if not 0 <= cited.step < len(steps):
        return f"does not exist: the rollout has {len(steps)} steps"
    step = steps[cited.step]
    if step["agent"] != cited.agent:
        return f"was made by {step['agent']}, not {cited.agent}"
    output = step.get("output", "")
    if not output.startswith(cited.excerpt) or cited.whole != (output == cited.excerpt):
        return "is quoted with other words"
    return ""


def _digest_of(edit: EditEvidence, cited: CitedStep) -> str | None:
    group = next((g for g in edit.groups if g.question == cited.question), None)
    if group is None or not 0 <= cited.rollout < len(group.trajectories):
        return None
    return group.trajectories[cited.rollout]


def _where(cited: CitedStep) -> str:
    return f"step {cited.step} of rollout {cited.sample} of question {cited.question}"
