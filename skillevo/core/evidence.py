"""What a run records in git of how it came to its edits: files of the evidence tree, as text.

Nothing in them depends on the clock, the machine, or the order in which answers came. The shapes
are those of ``schemas/evidence.schema.json``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from skillevo.types import (
    Question,
    Step,
    Trajectory,
)

SCHEMA_VERSION = 1
EVENTS = "events.jsonl"

Files = Mapping[str, str]
"""Texts of the evidence tree by path."""


# --- digests ------------------------------------------------------------------------------------


def dump(kind: str, value: Mapping[str, Any]) -> str:
    """A file of the evidence tree: readable JSON with its kind and version, and a final newline."""
    content = {"schema_version": SCHEMA_VERSION, "kind": kind, **value}
    return encoded(json.dumps(content, ensure_ascii=False, indent=1)).decode() + "\n"


def encoded(text: str) -> bytes:
    """The bytes of a file; half a character, which UTF-8 cannot hold, becomes a question mark."""
    return text.encode("utf-8", "replace")


def digest(content: bytes | str) -> str:
    """``sha256:`` and the hexadecimal digest."""
    data = encoded(content) if isinstance(content, str) else content
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def text_id(text: str) -> str:
    """The id under which a prompt's text stands in ``texts.jsonl``."""
    return hashlib.sha256(encoded(text)).hexdigest()[:24]


def trajectory_row(trajectory: Trajectory) -> dict[str, Any]:
    """A trajectory as in ``trajectories.jsonl``, without iteration and phase; prompts by id."""
    return {
        "question": trajectory.question,
        "sample": trajectory.sample,
        "answer": trajectory.answer,
        "stop_reason": trajectory.stop_reason.value,
        "reward": trajectory.reward,
        "trace": [asdict(row) for row in trajectory.trace],
        "error": trajectory.error,
        "steps": [_step_row(step) for step in trajectory.steps],
    }


def row_digest(row: Mapping[str, Any]) -> str:
    """The digest of a trajectory's row, whatever the order of its keys."""
    return digest(json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def questions_digest(questions: Iterable[Question]) -> str:
    """The digest of a split: every question in file order."""
    return digest(json.dumps([asdict(q) for q in questions], ensure_ascii=False, sort_keys=True))


def _step_row(step: Step) -> dict[str, Any]:
    optional = {
        "output": step.output,
        "call": step.call,
        "tool": step.tool,
        "argument": step.argument,
        "truncated": step.truncated,
        "prompt": [{"role": m.role, "text": text_id(m.content)} for m in step.messages],
    }
    row = {"index": step.index, "agent": step.agent, "kind": step.kind.value}
    return row | {key: value for key, value in optional.items() if value}


def folder(iteration: int) -> str:
    """Where the files of an iteration lie."""
    return f"iterations/{iteration:03d}"
