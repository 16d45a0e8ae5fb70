"""A Markdown body as sections by heading, and what changed between two bodies."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

_HEADING = re.compile(r"#{1,6}(?:[ \t]+|$)")
_CODE_FENCE = re.compile(r"[ ]{0,3}(```|~~~)")


class ChangeKind(StrEnum):
    """What happened to a skill or a section."""

    ADDED = "added"
    REMOVED = "removed"
    EDITED = "edited"
    MOVED = "moved"
    MERGED = "merged"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading line, empty for what stands before the first, with the text below it.

    ``number`` tells equal headings apart, from 0.
    """

    heading: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class SectionChange:
    """One section that was added, removed, edited or moved, with its text before and after."""

    change: ChangeKind
    heading: str
    before: str
    after: str


def split_sections(body: str) -> tuple[Section, ...]:
    """The body's sections in order; headings inside code do not count."""
    blocks: list[tuple[str, list[str]]] = [("", [])]
    fence = ""
    for line in body.split("\n"):
        mark = _CODE_FENCE.match(line)
        if mark and fence in ("", mark.group(1)):
            fence = "" if fence else mark.group(1)
        if not fence and _HEADING.match(line):
            blocks.append((line.rstrip(), []))
        else:
            blocks[-1][1].append(line)
    seen: Counter[str] = Counter()
    sections = []
    for heading, lines in blocks:
        text = "\n".join(lines).strip("\n")
        if heading or text:
            sections.append(Section(heading, seen[heading], text))
            seen[heading] += 1
    return tuple(sections)


def compare_sections(old: Sequence[Section], new: Sequence[Section]) -> tuple[SectionChange, ...]:
    """The sections that differ: first those of ``new`` in order, then those that are gone."""
    before = {(section.heading, section.number): section for section in old}
    after = {(section.heading, section.number): section for section in new}
    moved = _moved([key for key in before if key in after], [key for key in after if key in before])
    changes = []
    for key, section in after.items():
        previous = before.get(key)
        if previous is None:
            changes.append(SectionChange(ChangeKind.ADDED, section.heading, "", section.text))
        elif previous.text != section.text or key in moved:
            kind = ChangeKind.MOVED if previous.text == section.text else ChangeKind.EDITED
            changes.append(SectionChange(kind, section.heading, previous.text, section.text))
    gone = [section for key, section in before.items() if key not in after]
    changes += [SectionChange(ChangeKind.REMOVED, s.heading, s.text, "") for s in gone]
    return tuple(changes)


def _moved(old: list[tuple[str, int]], new: list[tuple[str, int]]) -> frozenset[tuple[str, int]]:
    """The fewest keys to move for one order to become the other: all but a longest common run."""
    rank = {key: position for position, key in enumerate(new)}
    tails: list[int] = []
    lengths = []
    for key in old:
        place = bisect_left(tails, rank[key])
        tails[place : place + 1] = [rank[key]]
        lengths.append(place + 1)
    kept = set()
    wanted, limit = len(tails), len(new)
    for key, length in zip(reversed(old), reversed(lengths), strict=True):
        if length == wanted and rank[key] < limit:
            kept.add(key)
            wanted, limit = wanted - 1, rank[key]
    return frozenset(old) - kept
