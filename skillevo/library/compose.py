"""Builds the tree of a front matter from parser events, refusing at once what is too large."""

from __future__ import annotations

from dataclasses import dataclass, field

from skillevo.library.nodes import Entry, Finding, Shape, Value

MAX_DEPTH = 16
MAX_VALUES = 20_000


class Refused(Exception):
    """The front matter cannot be read; ``finding`` says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


@dataclass(slots=True)
class _Open:
    shape: Shape
    start: int
    flow: bool
    children: list[Value] = field(default_factory=list)


class TreeBuilder:
    """Collects values into collections without recursion; ``root`` is the last complete value."""

    def __init__(self) -> None:
        self.root: Value | None = None
        self._open: list[_Open] = []
        self._count = 0

    def open(self, shape: Shape, start: int, *, flow: bool) -> None:
        """Begin a list or a map."""
        if len(self._open) >= MAX_DEPTH:
            raise Refused(Finding("header-too-complex", start, f"over {MAX_DEPTH} levels deep"))
        self._open.append(_Open(shape, start, flow))

    def close(self, end: int) -> None:
        """End the innermost collection; ``end`` counts for flow style only."""
        top = self._open.pop()
        children = top.children
        if not top.flow:
            end = children[-1].end if children else top.start
        style = "flow" if top.flow else ""
        if top.shape is Shape.LIST:
            value = Value(Shape.LIST, top.start, end, style=style, items=tuple(children))
        else:
            pairs = zip(children[::2], children[1::2], strict=True)
            entries = tuple(Entry(key, item) for key, item in pairs)
            value = Value(Shape.MAP, top.start, end, style=style, entries=entries)
        self.add(value)

    def add(self, value: Value) -> None:
        """Put a complete value into the innermost collection."""
        self._count += 1
        if self._count > MAX_VALUES:
            raise Refused(Finding("header-too-complex", value.start, f"over {MAX_VALUES} values"))
        if self._open:
            self._open[-1].children.append(value)
        else:
            self.root = value


def block_end(raw: str) -> int:
    """The length of a block scalar's source without the blank lines after its last line."""
    rest = raw[len(raw.rstrip(" \t\r\n")) :]
    return len(raw) - len(rest.lstrip(" \t"))
