"""Are the files of a run's evidence what the schema says?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from skillevo.app.verify_report import Finding
from skillevo.schemas import load_schema, violations

_ROOM = r"iterations/[0-9]{3,}"
_KINDS = {
    re.compile(pattern): kind
    for pattern, kind in {
        "run.json": "run",
        "state.json": "state",
        "result.json": "result",
        f"{_ROOM}/credits.json": "credits",
        f"{_ROOM}/diagnoses.json": "diagnoses",
        f"{_ROOM}/aggregate.json": "aggregate",
        f"{_ROOM}/decision.json": "decision",
        f"{_ROOM}/state.json": "method_state",
        f"{_ROOM}/scores/[a-z0-9-]+.json": "scores",
        "edits/[a-z0-9-]+.json": "edit",
    }.items()
}


def check_files(files: Mapping[str, bytes]) -> Iterator[Finding]:
    """A finding for each file of a kind that there is none, or that breaks the schema."""
    definitions = load_schema("evidence")["$defs"]
    for path, data in sorted(files.items()):
        if path == "events.jsonl":
            yield from _events(data)
            continue
        kind = next((kind for pattern, kind in _KINDS.items() if pattern.fullmatch(path)), None)
        if kind is None:
            yield Finding("evidence", path, "the evidence has no such file")
            continue
        value, fault = parsed(data)
        if fault:
            yield Finding("evidence", path, fault)
            continue
        schema = {"$defs": definitions, "$ref": f"#/$defs/{kind}"}
        for violation in violations(value, schema)[:3]:
            yield Finding("evidence", path, f"{violation.where}: {violation.message[:200]}")


def parsed(data: bytes) -> tuple[Any, str]:
    """The JSON value, and what is wrong with it (empty when nothing is)."""
    try:
        return json.loads(data), ""
    except (ValueError, RecursionError) as error:
        return None, f"is no JSON: {error}"


def _events(data: bytes) -> Iterator[Finding]:
    for number, line in enumerate(data.splitlines(), 1):
        value, fault = parsed(line)
        if fault or not isinstance(value, dict) or not isinstance(value.get("event"), str):
            yield Finding("evidence", f"events.jsonl:{number}", fault or "is no event")
