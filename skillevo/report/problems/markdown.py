"""Findings as Markdown: the summary of a CI job."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skillevo.library.characters import visible
from skillevo.report.problems.as_text import by_severity, count_line
from skillevo.types import Problem

MAX_BYTES = 900_000
_NOTE_BYTES = 500
_SPECIAL = re.compile(r"[^\w\s/.-]|_")


def markdown_text(files: int, problems: Sequence[Problem], *, limit: int = MAX_BYTES) -> str:
    """A heading, the count and a table, errors first; at most ``limit`` bytes (over 1,000).

    What does not fit is counted, with the command that shows it. Text from files is inert: it
    makes no markup, link, mention or image.
    """
    lines = ["## Skill check", "", f"{count_line(files, problems)}."]
    if problems:
        lines += ["", "| | place | rule | finding |", "|---|---|---|---|"]
    size = sum(len(line.encode()) + 1 for line in lines) + _NOTE_BYTES
    rows: list[str] = []
    for problem in by_severity(problems):
        row = _row(problem)
        size += len(row.encode()) + 1
        if size > limit:
            break
        rows.append(row)
    rest = len(problems) - len(rows)
    if rest:
        rows += ["", f"{rest:,} more findings: `skillevo validate --format json` lists them all."]
    return "\n".join([*lines, *rows]) + "\n"


def _row(problem: Problem) -> str:
    place = f"{visible(problem.path, 300)}:{problem.line}:{problem.column}"
    finding = _inert(visible(problem.message, 300))
    return f"| {problem.severity.value} | {_inert(place)} | {problem.rule} | {finding} |"


def _inert(text: str) -> str:
    """Text that Markdown shows as it is: every mark an entity, inside an element for code."""
    return f"<code>{_SPECIAL.sub(lambda match: f'&#{ord(match.group())};', text)}</code>"
