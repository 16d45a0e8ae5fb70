"""docs/config.md from schemas/config.schema.json: every key with its type, default and meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from skillevo.schemas import load_schema

HEAD = """# skillevo.toml

Every table and key. A key without a default must be given; an unknown key is an error. This page
is made from `schemas/config.schema.json`; after a change of the schema write it anew with
`SKILLEVO_REGENERATE=1 pytest tests/unit/config/test_config_page.py`.
"""
MODEL_DEFAULTS = {
    "base_url": "actor: required; others: see above",
    "model": "required for a server",
    "gguf": "the built-in model",
    "api_key_env": "no key",
    "context_tokens": "65536; embedded 4096",
    "in_flight": "64; embedded 1",
    "timeout_s": "600",
    "max_tokens": "actor 4096, critic 4000, optimizer 1200",
    "temperature": "actor 1.0; others 0",
    "top_p": "actor 0.95; others 1",
    "top_k": "actor 20; others 0",
    "min_p": "0",
    "presence_penalty": "0",
    "frequency_penalty": "0",
    "repetition_penalty": "1",
    "thinking": '"off"; embedded "default"',
}
"""The defaults of model tables, which depend on the role and the kind of server."""


def page() -> str:
    """The whole page as Markdown."""
    schema = load_schema("config")
    parts = [HEAD]
    for name, table in schema["properties"].items():
        if name == "models":
            parts += _models(table, schema["$defs"]["model"])
        else:
            parts += _table(f"[{name}]", table)
    return "\n".join(parts)


def _table(title: str, table: dict[str, Any]) -> Iterator[str]:
    keys, below = {}, []
    for key, sub in table["properties"].items():
        if "properties" in sub:
            below.append((f"{title[:-1]}.{key}]", sub))
        elif "properties" in sub.get("items", {}):
            below.append(
                (f"[{title[:-1]}.{key}]]", {**sub["items"], "description": sub["description"]})
            )
        else:
            keys[key] = sub
    required = table.get("required", ())
    yield _section(title, table["description"])
    if keys:
        yield _rows((key, sub, _default(key, sub, required)) for key, sub in keys.items())
    for name, sub in below:
        yield from _table(name, sub)


def _models(table: dict[str, Any], model: dict[str, Any]) -> Iterator[str]:
    yield _section("[models.actor], [models.critic], [models.optimizer]", table["description"])
    keys = model["properties"].items()
    yield _rows((key, sub, MODEL_DEFAULTS[key]) for key, sub in keys)


def _section(title: str, description: str) -> str:
    return f"## {title}\n\n{description}\n"


def _rows(rows: Iterator[tuple[str, dict[str, Any], str]]) -> str:
    lines = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for key, sub, default in rows:
        cells = (f"`{key}`", _kind(sub), default, sub["description"])
        lines.append(
            "| "
            + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells)
            + " |"
        )
    return "\n".join(lines) + "\n"


def _default(key: str, sub: dict[str, Any], required: tuple[str, ...]) -> str:
    if key in required:
        return "required"
    return f"`{json.dumps(sub['default'])}`"


def _kind(sub: dict[str, Any]) -> str:
    if "enum" in sub:
        return ", ".join(f"`{json.dumps(value)}`" for value in sub["enum"])
    if sub["type"] == "array":
        return "list of strings"
    names = {"integer": "whole number", "object": "table", "boolean": "true or false"}
    kind = str(sub["type"])
    return names.get(kind, kind) + _limits(sub)


def _limits(sub: dict[str, Any]) -> str:
    least, most = sub.get("minimum"), sub.get("maximum")
    above = sub.get("exclusiveMinimum")
    words = [
        *([f"from {least}"] if least is not None else []),
        *([f"above {above}"] if above is not None else []),
        *([f"to {most}"] if most is not None else []),
    ]
    return " " + " ".join(words) if words else ""
