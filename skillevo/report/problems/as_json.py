"""Findings as JSON; other tools rely on this shape (``schema_version``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skillevo.types import Problem

SCHEMA_VERSION = 1


def problems_json(files: int, problems: Sequence[Problem]) -> dict[str, Any]:
    """The findings of ``validate``; ``files`` is how many SKILL.md files were read."""
    return {
        "schema_version": SCHEMA_VERSION,
        "files": files,
        "problems": [
            {
                "rule": problem.rule,
                "severity": problem.severity.value,
                "kind": str(problem.kind),
                "path": problem.path,
                "line": problem.line,
                "column": problem.column,
                "message": problem.message,
                "fix": problem.fix,
            }
            for problem in problems
        ],
    }
