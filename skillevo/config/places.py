"""Where a key stands in skillevo.toml, and what its schema says: for messages that name both."""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import Any

from skillevo.errors import ConfigError
from skillevo.schemas import Violation, load_schema

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*["']?([A-Za-z0-9_-]+)["']?\s*(?:\.|=)""")


def line_of(text: str, path: tuple[str | int, ...]) -> int | None:
    """The 1-based line where the key at ``path`` stands, its table's line, or None.

    A best effort over TOML's usual layout (tables and bare keys); it only serves error messages.
    """
    counts: dict[str, int] = {}
    where: tuple[str | int, ...] = ()
    best: tuple[int, int] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        here: tuple[str | int, ...]
        if header := _HEADER.match(line):
            name = header[2].replace('"', "").replace(" ", "")
            where = tuple(name.split("."))
            if header[1] == "[[":
                where += (counts.get(name, 0),)
                counts[name] = counts.get(name, 0) + 1
            here = where
        elif key := _KEY.match(line):
            here = (*where, key[1])
        else:
            continue
        if path[: len(here)] == here and (best is None or len(here) > best[0]):
            best = (len(here), number)
    return best[1] if best else None


def place_of(path: Path, line: int | None) -> str:
    return f"{path}:{line}" if line else str(path)


def schema_error(path: Path, text: str, found: list[Violation]) -> ConfigError:
    first = found[0]
    if first.validator == "additionalProperties":
        return _unknown_key(path, text, first)
    more = f" ({len(found) - 1} more problems in this file)" if len(found) > 1 else ""
    place = place_of(path, line_of(text, first.path))
    return ConfigError(
        f"{place}: {first.where}: {first.message}{more}",
        why=description_of(first.path) or "the value does not fit the schema of skillevo.toml",
        fix="correct the value; docs/config.md lists every key",
    )


def _unknown_key(path: Path, text: str, violation: Violation) -> ConfigError:
    schema = _subschema(violation.path)
    known = sorted(schema.get("properties", {}))
    value: Any = tomllib.loads(text)
    for part in violation.path:
        value = value[part]
    unknown = next(key for key in value if key not in known)
    close = difflib.get_close_matches(unknown, known, n=1)
    place = place_of(path, line_of(text, (*violation.path, unknown)))
    table = violation.where if violation.path else "the file"
    return ConfigError(
        f"{place}: unknown key {unknown!r} in {table}",
        why="an unknown key would be ignored silently",
        fix=f"did you mean {close[0]!r}?" if close else f"known keys: {', '.join(known)}",
    )


def _subschema(path: tuple[str | int, ...]) -> dict[str, Any]:
    root = load_schema("config")
    schema: dict[str, Any] = root
    for part in path:
        schema = schema.get("items", {}) if isinstance(part, int) else schema["properties"][part]
        if "$ref" in schema:
            schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    return schema


def description_of(path: tuple[str | int, ...]) -> str:
    return str(_known_subschema(path).get("description", ""))


def type_at(path: tuple[str | int, ...]) -> str:
    return str(_known_subschema(path).get("type", ""))


def _known_subschema(path: tuple[str | int, ...]) -> dict[str, Any]:
    try:
        return _subschema(path)
    except KeyError:
        return {}
