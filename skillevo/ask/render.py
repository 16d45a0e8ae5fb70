"""Prompt files of the package: loaded once, filled by name, identified by digest."""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache
from importlib import resources
from typing import Any

_COMMENT = re.compile(r"\A<!--.*?-->\n", re.DOTALL)
_SLOT = re.compile(r"\{\{([a-z_]+)\}\}")


@cache
def prompt(name: str) -> str:
    """The text of ``prompts/<name>.md`` without its purpose line and outer blank lines."""
    path = resources.files("skillevo.ask") / "prompts" / f"{name}.md"
    return _COMMENT.sub("", path.read_text(encoding="utf-8"), count=1).strip()


def render(name: str, **values: str) -> str:
    """The prompt with every ``{{slot}}`` replaced in one pass, so that values are never expanded.

    Raises KeyError when a slot has no value.
    """
    return _SLOT.sub(lambda slot: values[slot[1]], prompt(name))


def with_note(text: str, note: str) -> str:
    """A prompt followed by the environment's note for it, if there is one."""
    return f"{text}\n\n{note.strip()}" if note.strip() else text


def compact_json(value: Any) -> str:
    """JSON for a model: no needless spaces, text as it is, keys in the given order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def digest(text: str) -> str:
    """``sha256:`` and the digest of a prompt, as stored in trailers."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
