"""The evidence of one edit: what it was made from, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillevo.core.evidence import digest, dump, encoded
from skillevo.core.evidence_iteration import Seen
from skillevo.types import Assessment, Citation, Edit, Group, Skill

EXCERPTS_BYTES = 16 * 1024
EXCERPT_CHARACTERS = 1200


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
