"""Anchored edits of a text: each anchor must occur exactly once, each edit succeeds by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class EditOp(StrEnum):
    """What an anchored edit does at its anchor."""

    REPLACE = "replace"
    INSERT_AFTER = "insert_after"
    INSERT_BEFORE = "insert_before"
    DELETE = "delete"


class Outcome(StrEnum):
    """What became of one anchored edit."""

    APPLIED = "applied"
    ANCHOR_MISSING = "anchor missing"
    ANCHOR_AMBIGUOUS = "anchor ambiguous"
    OVERLAPS = "overlaps"


@dataclass(frozen=True, slots=True)
class AnchoredEdit:
    """One edit. ``old`` is the span to replace or delete and defaults to the anchor; it must stand
    inside the anchor. ``new`` is the text to put in (unused by delete)."""

    op: EditOp
    anchor: str
    old: str = ""
    new: str = ""


@dataclass(frozen=True, slots=True)
class Applied:
    """The edited text and, in the order of the edits, what became of each."""

    text: str
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class _Splice:
    start: int
    end: int
    new: str


def apply_edits(text: str, edits: Sequence[AnchoredEdit]) -> Applied:
    """Apply every edit against the original ``text`` (method.md 2.5).

    An edit whose anchor is missing or ambiguous, or whose span overlaps that of an earlier edit,
    is left out by itself. Two insertions at one point both apply, in order.
    """
    splices: list[_Splice] = []
    outcomes: list[Outcome] = []
    for edit in edits:
        found = _locate(text, edit)
        if isinstance(found, _Splice) and any(_overlap(found, other) for other in splices):
            found = Outcome.OVERLAPS
        if isinstance(found, Outcome):
            outcomes.append(found)
        else:
            splices.append(found)
            outcomes.append(Outcome.APPLIED)
    return Applied(_join(text, splices), tuple(outcomes))


def _locate(text: str, edit: AnchoredEdit) -> _Splice | Outcome:
    start = _only(text, edit.anchor)
    if isinstance(start, Outcome):
        return start
    end = start + len(edit.anchor)
    match edit.op:
        case EditOp.INSERT_BEFORE:
            return _Splice(start, start, edit.new)
        case EditOp.INSERT_AFTER:
            return _Splice(end, end, edit.new)
    if edit.old:
        inner = _only(edit.anchor, edit.old)
        if isinstance(inner, Outcome):
            return inner
        start, end = start + inner, start + inner + len(edit.old)
    return _Splice(start, end, edit.new if edit.op is EditOp.REPLACE else "")


def _only(text: str, part: str) -> int | Outcome:
    """Where ``part`` stands when it does exactly once; occurrences may overlap."""
    first = text.find(part) if part else -1
    if first < 0:
        return Outcome.ANCHOR_MISSING
    return first if text.find(part, first + 1) < 0 else Outcome.ANCHOR_AMBIGUOUS


def _overlap(a: _Splice, b: _Splice) -> bool:
    if a.start == a.end and b.start == b.end:
        return False
    if a.start == a.end or b.start == b.end:
        point, span = (a, b) if a.start == a.end else (b, a)
        return span.start < point.start < span.end
    return a.start < b.end and b.start < a.end


def _join(text: str, splices: Sequence[_Splice]) -> str:
    pieces: list[str] = []
    at = 0
    for splice in sorted(splices, key=lambda s: (s.start, s.end)):
        pieces += [text[at : splice.start], splice.new]
        at = splice.end
    return "".join([*pieces, text[at:]])
