"""Values of the method as JSON, for run records."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """``value`` made of dicts, lists and scalars only; dataclasses by field, sets sorted.

    A mapping keyed by (agent, skill) becomes ``agent/skill`` keys.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _key(key: Any) -> str:
    return "/".join(key) if isinstance(key, tuple) else str(key)


def dump_line(value: Any) -> str:
    """One line of JSON with a newline, fit for UTF-8: half characters become question marks."""
    return _whole(json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))) + "\n"


def dump_pretty(value: Any) -> str:
    """Readable JSON with a final newline, fit for UTF-8 like a line."""
    return _whole(json.dumps(plain(value), ensure_ascii=False, indent=2)) + "\n"


def _whole(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
