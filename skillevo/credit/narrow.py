"""The critic's schema cut to one group: only its agents, skills, rollouts and steps can be named.

A server that enforces the schema then cannot decode a citation of a step that does not exist, and
strings are bounded so that the answer fits the generation cap. Below a cap of 400 tokens only what
the method cannot do without is asked for. The full schema stays the contract.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skillevo.ask.bounds import TENTHS, text_limit
from skillevo.credit.citations import Constraints
from skillevo.schemas import load_schema

SMALL_CAP = 400
MOST_STEPS = 2
DISPENSABLE = {"reason", "evidence", "suggested_edit", "redundant_with", "missing_capability"}


def critic_schema(rules: Constraints, max_tokens: int, *, structured: bool) -> dict[str, Any]:
    """The narrowed schema; parts that can hold nothing in this group are left out."""
    text = {"type": "string", "maxLength": text_limit(max_tokens, 600)}
    entries = max(1, min(16, max_tokens // 150))
    properties: dict[str, Any] = {}
    if any(rules.skills.values()):
        count = sum(len(names) for names in rules.skills.values())
        properties["credits"] = _list(_credit_entries(rules, text), min(count, entries))
    if structured and (diagnoses := _diagnosis_entries(rules, text)):
        properties["diagnoses"] = _list(diagnoses, entries)
    feedback = {
        "agent": {"enum": list(rules.skills)},
        "feedback": {**text, "minLength": 1},
        "missing_capability": {"type": "string", "maxLength": text_limit(max_tokens, 300)},
    }
    properties["feedback"] = _list([_object(feedback)], entries)
    schema = _object(properties)
    if max_tokens < SMALL_CAP:
        if "diagnoses" in properties:
            schema = _object({k: v for k, v in properties.items() if k != "feedback"})
        schema = _brief(schema)
    return {"title": load_schema("critic")["title"], **schema}


def _brief(schema: Any) -> Any:
    """The schema without fields that can be missing, and with one step where there may be more."""
    if isinstance(schema, list):
        return [_brief(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: _brief(value) for key, value in schema.items()}
    if "properties" in out:
        kept = {k: v for k, v in out["properties"].items() if k not in DISPENSABLE}
        out |= {"properties": kept, "required": list(kept)}
    if out.get("maxItems") == MOST_STEPS:
        out["maxItems"] = 1
    return out


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
                "evidence": _steps(rules, agent, every),
                "suggested_edit": text,
                "redundant_with": {"type": "array", "maxItems": 2, "items": {"enum": list(names)}},
            }
        )
        for agent, names in rules.skills.items()
        if names
    ]


def _diagnosis_entries(rules: Constraints, text: dict[str, Any]) -> list[dict[str, Any]]:
    """Without full reward the best rollouts serve as contrast, and then they are not cited."""
    poor, best = list(rules.others), sorted(rules.full)
    if poor and not best:
        top = max(rules.advantages)
        best = [g for g in poor if rules.advantages[g] == top > min(rules.advantages)]
        poor = [g for g in poor if g not in best]
    entries = []
    for agent, names in rules.skills.items():
        cited = _steps(rules, agent, poor)
        if cited["maxItems"] == 0:
            continue
        targets: list[tuple[Any, list[str]]] = [({"type": "null"}, ["induce"])]
        if names:
            targets.append(({"enum": list(names)}, ["refine", "prune", "consolidate", "induce"]))
        for skill, actions in targets:
            fields = {
                "agent": {"const": agent},
                "skill": skill,
                "failure_type": {"enum": list(rules.failure_types)},
                "edit_action": {"enum": actions},
                "cited_steps": {**cited, "minItems": 1},
                "contrast_steps": _steps(rules, agent, best),
                "explanation": text,
            }
            entries.append(_object(fields))
    return entries


def _steps(rules: Constraints, agent: str, rollouts: Sequence[int]) -> dict[str, Any]:
    """Up to two steps of the agent in those rollouts; rollouts of one layout share an entry."""
    layouts: dict[tuple[int, ...], list[int]] = {}
    for rollout in rollouts:
        if steps := rules.steps_of(agent, [rollout]):
            layouts.setdefault(steps, []).append(rollout)
    if not layouts:
        return {"type": "array", "maxItems": 0}
    entries = [
        _object({"rollout": {"enum": numbers}, "step": {"enum": list(steps)}})
        for steps, numbers in layouts.items()
    ]
    return _list(entries, MOST_STEPS)


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
