"""A critic's answer read leniently into checked values: normalised, or rejected with the reason."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from skillevo.core.aggregate import clamp
from skillevo.credit.citations import Constraints, diagnosis_fault, exists, target_fault
from skillevo.schemas import load_schema, violations
from skillevo.types import (
    Citation,
    Contribution,
    Credit,
    Diagnosis,
    Feedback,
    Operator,
    Rejected,
)

KEPT_ITEM = 2000


@dataclass(slots=True)
class Reading:
    """What an answer holds. ``rejected`` keeps what broke a rule, ``notes`` counts repairs."""

    credits: list[Credit] = field(default_factory=list)
    feedback: list[Feedback] = field(default_factory=list)
    diagnoses: list[Diagnosis] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)

    @property
    def faults(self) -> list[str]:
        """The violations as sentences for the repair round."""
        return [f"{item.kind}: {item.reason}" for item in self.rejected]


def read_answer(
    value: dict[str, Any], question: str, rules: Constraints, *, structured: bool
) -> Reading:
    """Every item of a critic's answer, checked against schema and constraints.

    Numbers as strings, wrong case of names and credits out of range are put right and counted;
    of duplicates the first is kept. Never raises on any JSON value.
    """
    reading = Reading()
    kinds = {"credits": _credit, "feedback": _feedback}
    if structured:
        kinds["diagnoses"] = _diagnosis
    for kind, read in kinds.items():
        items = value.get(kind, [])
        if not isinstance(items, list):
            items = [items]
        for item in items:
            _read_item(reading, question, rules, kind, item, read)
    return reading


ReadOne = Callable[[Reading, str, Constraints, dict[str, Any]], str | None]


def _read_item(
    reading: Reading, question: str, rules: Constraints, kind: str, item: Any, read: ReadOne
) -> None:
    fault: str | None = "is no object"
    if isinstance(item, dict):
        item = _normalise(reading, rules, kind, item)
        schema = load_schema("critic")
        entry = {**schema["properties"][kind]["items"], "$defs": schema["$defs"]}
        found = violations(item, entry)
        fault = f"{found[0].where}: {found[0].message}" if found else None
        fault = fault or read(reading, question, rules, item)
    if fault is not None:
        text = json.dumps(item, ensure_ascii=False)[:KEPT_ITEM]
        reading.rejected.append(Rejected(question, kind, fault[:300], text))


def _normalise(
    reading: Reading, rules: Constraints, kind: str, item: dict[str, Any]
) -> dict[str, Any]:
    out = dict(item)
    _fix_name(reading, out, "agent", tuple(rules.skills))
    if out.get("skill") in ("", "null", "none", "None") and kind == "diagnoses":
        out["skill"] = None
        reading.notes["skill written as a word for null"] += 1
    agent = out.get("agent")
    _fix_name(reading, out, "skill", rules.skills.get(agent, ()) if isinstance(agent, str) else ())
    _fix_number(reading, out, "credit", float)
    credit = out.get("credit")
    if kind == "credits" and isinstance(credit, int | float) and not isinstance(credit, bool):
        # Clamped before it becomes a float: JSON knows integers that no float can hold.
        out["credit"] = float(clamp(credit, -1, 1))
        if out["credit"] != credit:
            reading.notes["credit out of range"] += 1
    for key in ("evidence", "cited_steps", "contrast_steps"):
        if isinstance(out.get(key), list):
            out[key] = [_normal_step(reading, step) for step in out[key]]
    return out


def _normal_step(reading: Reading, step: Any) -> Any:
    if not isinstance(step, dict):
        return step
    out = dict(step)
    for key in ("rollout", "step"):
        _fix_number(reading, out, key, int)
    return out


def _fix_name(reading: Reading, item: dict[str, Any], key: str, known: tuple[str, ...]) -> None:
    value = item.get(key)
    if not isinstance(value, str) or value in known:
        return
    for name in known:
        if name.lower() == value.strip().lower():
            item[key] = name
            reading.notes["name in another case"] += 1


def _fix_number(
    reading: Reading, item: dict[str, Any], key: str, kind: type[int] | type[float]
) -> None:
    value = item.get(key)
    if isinstance(value, str):
        try:
            number = kind(value)
        except ValueError:
            return
        if isinstance(number, float) and not math.isfinite(number):
            return
        item[key] = number
        reading.notes["number written as text"] += 1


def _credit(
    reading: Reading, question: str, rules: Constraints, item: dict[str, Any]
) -> str | None:
    agent, skill = item["agent"], item["skill"]
    if fault := target_fault(rules, agent, skill):
        return fault
    if any(c.agent == agent and c.skill == skill for c in reading.credits):
        reading.notes["duplicate credit"] += 1
        return None
    others = (name for name in item.get("redundant_with", ()) if name != skill)
    reading.credits.append(
        Credit(
            question=question,
            agent=agent,
            skill=skill,
            credit=float(item["credit"]),
            verdict=Contribution(item["verdict"]),
            reason=item.get("reason", ""),
            evidence=tuple(c for c in _citations(item.get("evidence", [])) if exists(rules, c)),
            suggested_edit=item.get("suggested_edit", "").strip(),
            redundant_with=tuple(sorted({n for n in others if n in rules.skills[agent]})),
        )
    )
    return None


def _feedback(
    reading: Reading, question: str, rules: Constraints, item: dict[str, Any]
) -> str | None:
    if fault := target_fault(rules, item["agent"], None):
        return fault
    reading.feedback.append(
        Feedback(question, item["agent"], item["feedback"], item.get("missing_capability", ""))
    )
    return None


def _diagnosis(
    reading: Reading, question: str, rules: Constraints, item: dict[str, Any]
) -> str | None:
    action = Operator(item["edit_action"])
    cited, contrast = _citations(item["cited_steps"]), _citations(item["contrast_steps"])
    agent, skill, failure = item["agent"], item["skill"], item["failure_type"]
    if fault := diagnosis_fault(rules, agent, skill, failure, action, cited, contrast):
        return fault
    reading.diagnoses.append(
        Diagnosis(
            id=f"d-{question}-{len(reading.diagnoses)}",
            question=question,
            agent=agent,
            skill=skill,
            failure_type=failure,
            cited_steps=cited,
            contrast_steps=contrast,
            edit_action=action,
            explanation=item.get("explanation", ""),
        )
    )
    return None


def _citations(items: list[dict[str, Any]]) -> tuple[Citation, ...]:
    return tuple(Citation(int(item["rollout"]), int(item["step"])) for item in items)
