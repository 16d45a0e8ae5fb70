"""A model's skill draft made into a valid skill file, or refused with the reason."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from skillevo.ask.bounds import bound_strings
from skillevo.library.document import render_skill
from skillevo.library.tree import estimate_tokens, normalise_name
from skillevo.operators.base import BODY_LIMIT_TOKENS
from skillevo.schemas import load_schema
from skillevo.types import Skill

CONTRACT = "skill_draft"


def draft_schema(max_tokens: int) -> dict[str, Any]:
    """The draft's schema for decoding: bounded to the cap, every part asked for."""
    schema = bound_strings(load_schema(CONTRACT), max_tokens)
    for key in ("if", "then", "$schema", "description"):
        del schema[key]
    schema["required"] = list(schema["properties"])
    schema["additionalProperties"] = False
    return schema


def proposes_nothing(value: dict[str, Any]) -> bool:
    """True when the model decided against a skill."""
    return bool(value["decision"] == "none")


def skill_file(value: dict[str, Any], taken: Collection[str]) -> tuple[str, str] | str:
    """(name, SKILL.md text) of a checked draft, or why it cannot become a skill."""
    name = normalise_name(value["name"], taken)
    if name is None:
        return f"no valid skill name can be made of {value['name']!r}"
    steps = [_one_line(step) for step in value["steps"]]
    cautions = [_one_line(caution) for caution in value.get("cautions", ())]
    steps, cautions = _distinct(steps), _distinct(cautions)
    if not steps:
        return "the draft holds no instruction"
    body = "\n".join(f"{n}. {step}" for n, step in enumerate(steps, start=1))
    if cautions:
        body += "\n\nAvoid:\n\n" + "\n".join(f"- {caution}" for caution in cautions)
    if estimate_tokens(body) > BODY_LIMIT_TOKENS:
        return f"its body has {estimate_tokens(body)} tokens, more than {BODY_LIMIT_TOKENS}"
    description = _one_line(value["description"])
    if not description:
        return "the draft has no description"
    return name, render_skill(name, description, f"# {title(name)}\n\n{body}")


def title(name: str) -> str:
    """A heading made of a skill name."""
    return name.replace("-", " ").capitalize()


def skill_payload(skill: Skill) -> dict[str, str]:
    """A skill as the optimizer reads it, in full."""
    return {"name": skill.name, "description": skill.description, "body": skill.body}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _distinct(lines: list[str]) -> list[str]:
    return [line for line in dict.fromkeys(lines) if line]
