"""Findings as lines for people, in the style of compilers."""

from __future__ import annotations

from collections.abc import Sequence

from skillevo.library.characters import log_line, visible
from skillevo.types import Problem, Severity

_MESSAGE_LIMIT = 300


def problem_lines(files: int, problems: Sequence[Problem]) -> list[str]:
    """A line per finding, then the count."""
    lines = [
        log_line(
            f"{_path(p.path)}:{p.line}:{p.column}: {p.severity.value}: "
            f"{visible(p.message, _MESSAGE_LIMIT)} [{p.rule}]"
        )
        for p in problems
    ]
    return [*lines, count_line(files, problems)]


def count_line(files: int, problems: Sequence[Problem]) -> str:
    """How much was checked and what it came to, in a sentence."""
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    return f"{files} skills checked: {errors} errors, {len(problems) - errors} warnings"


def by_severity(problems: Sequence[Problem]) -> list[Problem]:
    """Errors before warnings, otherwise in the order given."""
    return sorted(problems, key=lambda problem: problem.severity is not Severity.ERROR)


def _path(path: str) -> str:
    # In a CI log a line that begins with two colons is a command to the runner; this stays a path.
    shown = visible(path, 1000)
    return f"./{shown}" if shown.lstrip().startswith("::") else shown
