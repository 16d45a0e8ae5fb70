"""Findings as workflow commands, which GitHub shows beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from skillevo.library.characters import visible
from skillevo.report.problems.as_text import by_severity, count_line
from skillevo.types import Problem

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}
_DATA_TABLE, _PROPERTY_TABLE = str.maketrans(_DATA), str.maketrans(_PROPERTY)
_MESSAGE_LIMIT = 2000


def github_lines(files: int, problems: Sequence[Problem]) -> list[str]:
    """An annotation per finding, errors first since GitHub shows ten of each kind, then the count.

    Nothing that a file holds can end its annotation or begin another command.
    """
    return [*map(_annotation, by_severity(problems)), count_line(files, problems)]


def _annotation(problem: Problem) -> str:
    properties = {
        "file": problem.path,
        "line": str(problem.line),
        "col": str(problem.column),
        "title": problem.rule,
    }
    shown = ",".join(f"{key}={_escaped(value)}" for key, value in properties.items())
    message = visible(problem.message, _MESSAGE_LIMIT)
    text = f"{message}\n{problem.fix}" if problem.fix else message
    return f"::{problem.severity.value} {shown}::{_without_old_commands(text)}"


def _escaped(value: str) -> str:
    return value.translate(_PROPERTY_TABLE)


def _without_old_commands(text: str) -> str:
    """Escaped, and without ``##[``: runners look for that older form anywhere in a line."""
    return text.translate(_DATA_TABLE).replace("##[", "## [")
