"""The JSON Schemas of the project, and the one place that checks a value against one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

_PACKAGED = Path(__file__).parent / "_schemas"
_CHECKOUT = Path(__file__).parent.parent / "schemas"
_MESSAGE_HEAD, _MESSAGE_TAIL = 200, 80


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where a value breaks its schema. ``path`` holds keys and indices from the root;
    ``message`` is cut in the middle, since it quotes the value."""

    path: tuple[str | int, ...]
    message: str
    validator: str = ""
    detail: Any = None

    @property
    def where(self) -> str:
        """The path as ``a.b[2].c``, or ``the value`` at the root."""
        text = ""
        for part in self.path:
            text += f"[{part}]" if isinstance(part, int) else f".{part}"
        return text.removeprefix(".") or "the value"


@cache
def schema_text(name: str) -> str:
    """The text of ``schemas/<name>.schema.json``: packaged first, then the checkout."""
    for folder in (_PACKAGED, _CHECKOUT):
        path = folder / f"{name}.schema.json"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise FileNotFoundError(f"schema {name!r} is neither in {_PACKAGED} nor in {_CHECKOUT}")


def load_schema(name: str) -> dict[str, Any]:
    """A fresh copy of the schema, free to be narrowed by the caller."""
    schema: dict[str, Any] = json.loads(schema_text(name))
    return schema


def violations(value: Any, schema: str | Mapping[str, Any]) -> list[Violation]:
    """Every violation of ``value`` against a schema, given by name or whole, in path order."""
    document = load_schema(schema) if isinstance(schema, str) else schema
    validator = jsonschema.Draft202012Validator(document)
    found = [
        Violation(
            tuple(error.absolute_path),
            _shortened(error.message),
            error.validator,
            error.validator_value,
        )
        for error in validator.iter_errors(value)
    ]
    return sorted(found, key=lambda v: ([str(part) for part in v.path], v.message))


def _shortened(message: str) -> str:
    if len(message) <= _MESSAGE_HEAD + _MESSAGE_TAIL:
        return message
    return f"{message[:_MESSAGE_HEAD]} … {message[-_MESSAGE_TAIL:]}"
