"""The critic's schema cut to one group: only its agents, skills, rollouts and steps can be named.

A server that enforces the schema then cannot decode a citation of a step that does not exist, and
strings are bounded so that the answer fits the generation cap. The full schema stays the contract.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skillevo.ask.bounds import TENTHS, text_limit
from skillevo.credit.citations import Constraints
from skillevo.schemas import load_schema


def critic_schema(rules: Constraints, max_tokens: int, *, structured: bool) -> dict[str, Any]:
    """The narrowed schema; parts that can hold nothing in this group are left out."""
    text = {"type": "string", "maxLength": text_limit(max_tokens, 600)}
    entries = max(1, min(16, max_tokens // 150))
    properties: dict[str, Any] = {}
    if any(rules.skills.values()):
        count = sum(len(names) for names in rules.skills.values())
        properties["credits"] = _list(_credit_entries(rules, text), min(count, entries))
    if structured and rules.others:
        properties["diagnoses"] = _list(_diagnosis_entries(rules, text), entries)
    feedback = {"agent": {"enum": list(rules.skills)}, "feedback": text, "missing_capability": text}
    properties["feedback"] = _list([_object(feedback)], entries)
    return {"title": load_schema("critic")["title"], **_object(properties)}


def _credit_entries(rules: Constraints, text: dict[str, Any]) -> list[dict[str, Any]]:
    every = range(len(rules.step_agents))
    return [
        _object(
            {
                "agent": {"const": agent},
                "skill": {"enum": list(names)},
                "verdict": {"enum": ["helpful", "harmful", "redundant", "neutral"]},
                "credit": {"enum": TENTHS},
                "reason": text,
                "evidence": _steps(every, rules.steps_of(agent, every)),
                "suggested_edit": text,
                "redundant_with": {"type": "array", "maxItems": 2, "items": {"enum": list(names)}},
            }
        )
        for agent, names in rules.skills.items()
        if names
    ]


def _diagnosis_entries(rules: Constraints, text: dict[str, Any]) -> list[dict[str, Any]]:
    best = sorted(rules.full)
    if not best:
        top = max(rules.advantages)
        best = [g for g in rules.others if rules.advantages[g] == top > min(rules.advantages)]
    entries = []
    for agent, names in rules.skills.items():
        cited = _steps(rules.others, rules.steps_of(agent, rules.others))
        if cited["maxItems"] == 0:
            continue
        targets: list[tuple[Any, list[str]]] = [({"type": "null"}, ["induce"])]
        if names:
            targets.append(({"enum": list(names)}, ["refine", "prune", "consolidate"]))
        for skill, actions in targets:
            fields = {
                "agent": {"const": agent},
                "skill": skill,
                "failure_type": {"enum": list(rules.failure_types)},
                "edit_action": {"enum": actions},
                "cited_steps": {**cited, "minItems": 1},
                "contrast_steps": _steps(best, rules.steps_of(agent, best)),
                "explanation": text,
            }
            entries.append(_object(fields))
    return entries


def _steps(rollouts: Sequence[int], steps: Sequence[int]) -> dict[str, Any]:
    if not rollouts or not steps:
        return {"type": "array", "maxItems": 0}
    step = {"rollout": {"enum": list(rollouts)}, "step": {"enum": list(steps)}}
    return {"type": "array", "maxItems": 2, "items": _object(step)}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(entries: list[dict[str, Any]], most: int) -> dict[str, Any]:
    items = entries[0] if len(entries) == 1 else {"anyOf": entries}
    return {"type": "array", "maxItems": most, "items": items}
