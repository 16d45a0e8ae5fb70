"""A SKILL.md taken apart: where its fences, keys and values stand, nothing interpreted away."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Shape(StrEnum):
    """What kind of YAML node a value is."""

    TEXT = "text"
    LIST = "list"
    MAP = "map"


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule broken at a character offset of the text; an empty ``fix`` means the rule's own."""

    rule: str
    offset: int
    message: str
    fix: str = ""


# Named tuples: a check makes thousands of the two, each in half the time of a frozen dataclass.
class Value(NamedTuple):
    """One YAML value. ``start`` and ``end`` are offsets into the whole file.

    ``text`` is a scalar's text as written, before YAML guesses a type; ``kind`` is the guess for a
    plain scalar (``str``, ``int``, ``bool``, ``null`` …). ``style`` is ``'``, ``"``, ``|`` or ``>``
    for a scalar, ``flow`` for a bracketed collection, empty for plain and block ones.
    """

    shape: Shape
    start: int
    end: int
    text: str = ""
    style: str = ""
    kind: str = "str"
    items: tuple[Value, ...] = ()
    entries: tuple[Entry, ...] = ()

    @property
    def is_text(self) -> bool:
        """True for a scalar that every YAML reader takes as a string."""
        return self.shape is Shape.TEXT and self.kind == "str"

    @property
    def is_null(self) -> bool:
        """True for an absent value, ``~`` or ``null``."""
        return self.shape is Shape.TEXT and self.kind == "null"

    @property
    def plain(self) -> bool:
        """True for a scalar without quotes and without a block indicator."""
        return self.shape is Shape.TEXT and not self.style

    def same_meaning(self, other: Value) -> bool:
        """True when both stand for the same data, however they are written."""
        if (self.shape, self.text, self.kind) != (other.shape, other.text, other.kind):
            return False
        pairs = list(zip(self.items, other.items, strict=False))
        for mine, theirs in zip(self.entries, other.entries, strict=False):
            pairs += [(mine.key, theirs.key), (mine.value, theirs.value)]
        sizes = (len(self.items), len(self.entries)) == (len(other.items), len(other.entries))
        return sizes and all(mine.same_meaning(theirs) for mine, theirs in pairs)


class Entry(NamedTuple):
    """One key of a mapping with its value."""

    key: Value
    value: Value


@dataclass(frozen=True, slots=True)
class Document:
    """A SKILL.md split at its fences, with every fault that reading found.

    ``header_start`` and ``header_end`` bound the YAML between the fences, ``body_start`` is the
    offset after the closing fence and its line end. ``root`` is the header's mapping, None when the
    header is empty or could not be read; then ``readable`` tells the two apart.
    """

    text: str
    newline: str = "\n"
    header_start: int = 0
    header_end: int = 0
    body_start: int = 0
    root: Value | None = None
    readable: bool = False
    faults: tuple[Finding, ...] = ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The header's keys in file order."""
        return self.root.entries if self.root else ()

    def entry(self, key: str) -> Entry | None:
        """The first entry of that key, or None."""
        return next((e for e in self.entries if e.key.text == key), None)

    @property
    def body_span(self) -> tuple[int, int]:
        """Offsets of the body without blank lines before it and white space after it."""
        stop = len(self.text.rstrip())
        if stop <= self.body_start:
            return self.body_start, self.body_start
        rest = self.text[self.body_start : stop]
        blank = len(rest) - len(rest.lstrip())
        line = rest.rfind("\n", 0, blank) + 1
        return self.body_start + line, stop

    @property
    def body(self) -> str:
        """The body with ``\\n`` line ends; empty when there is none."""
        start, stop = self.body_span
        return self.text[start:stop].replace("\r\n", "\n")


@dataclass(frozen=True, slots=True)
class Lines:
    """Line and column of an offset, both from 1."""

    starts: list[int] = field(default_factory=lambda: [0])

    @classmethod
    def of(cls, text: str) -> Lines:
        """The line index of a text whose lines end in a line feed."""
        return cls([0, *_after_each_line_feed(text)])

    def at(self, offset: int) -> tuple[int, int]:
        """(line, column) of the character at ``offset``."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


def _after_each_line_feed(text: str) -> Iterator[int]:
    position = text.find("\n")
    while position >= 0:
        yield position + 1
        position = text.find("\n", position + 1)
