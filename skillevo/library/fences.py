"""Where the front matter of a SKILL.md begins and ends."""

from __future__ import annotations

import re
from dataclasses import dataclass

from skillevo.library.nodes import Finding

_FENCE = re.compile(r"^---([ \t]*)(?:\r?\n|\r?\Z)", re.MULTILINE)
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)+")


@dataclass(frozen=True, slots=True)
class Fences:
    """The spans between the fences, or None for ``header`` when there is no front matter."""

    header: tuple[int, int] | None
    body_start: int
    faults: tuple[Finding, ...]


def find_fences(text: str) -> Fences:
    """The front matter's span: from a first line ``---`` to the next line that is ``---``.

    Blanks after a fence are a fault that does not keep the rest from being read.
    """
    opening = _FENCE.match(text)
    if opening is None:
        return Fences(None, 0, (_no_opening(text),))
    closing = _FENCE.search(text, opening.end())
    if closing is None:
        message = "the front matter has no closing line ---"
        return Fences(None, 0, (Finding("closing-fence", 0, message),))
    faults = tuple(
        Finding("fence-trailing-blanks", fence.start(1), f"blanks after the {which} fence")
        for which, fence in (("opening", opening), ("closing", closing))
        if fence.group(1)
    )
    return Fences((opening.end(), closing.start()), closing.end(), faults)


def _no_opening(text: str) -> Finding:
    blank = _BLANK_LINES.match(text)
    start = blank.end() if blank else 0
    if text.startswith("---", start):
        why = "blank lines stand before the opening fence" if blank else "the line says more"
        return Finding("opening-fence", start, f"the first line must be exactly --- ({why})")
    return Finding("no-front-matter", 0, "the file has no front matter: its first line is not ---")
