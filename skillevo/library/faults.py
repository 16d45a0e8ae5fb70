"""Faults of a front matter: what YAML readers refuse, and keys and tabs that they let pass."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillevo.library.nodes import Finding, Shape, Value

_TAB_OR_COMMENT = re.compile(r"\t|#[^\n]*")


def header_faults(text: str, start: int, end: int, root: Value | None) -> Iterator[Finding]:
    """The faults of the front matter ``text[start:end]`` whose mapping is ``root``."""
    if root is None:
        return
    yield from _key_faults(root)
    if "\t" in text[start:end]:
        yield from _tab_faults(text, start, end, root)


def syntax_fault(text: str, offset: int, problem: str) -> Finding:
    """What a YAML parser's complaint at an offset means for the writer."""
    character = text[offset : offset + 1]
    if character == "\t":
        return Finding("tab-in-header", offset, "a tab stands where YAML wants spaces")
    if "nesting depth" in problem:
        return Finding("header-too-complex", offset, "the front matter nests too deep")
    if "cannot start any token" in problem:
        return Finding("yaml-syntax", offset, f"a plain value cannot begin with {character!r}")
    if "mapping values are not allowed" in problem:
        line = text[text.rfind("\n", 0, offset) + 1 : offset]
        if re.search(r":\s", line):
            message = "a value without quotes holds a colon and a blank"
            return Finding("unquoted-colon", offset, message)
    return Finding("yaml-syntax", offset, f"YAML: {problem}")


def _key_faults(value: Value) -> Iterator[Finding]:
    seen: set[str] = set()
    for entry in value.entries:
        key = entry.key
        if not key.is_text:
            shown = "a collection" if key.shape is not Shape.TEXT else repr(key.text)
            yield Finding("key-not-text", key.start, f"the key {shown} is not text for YAML")
        elif key.text in seen:
            yield Finding("duplicate-key", key.start, f"the key {key.text!r} is given twice")
        seen.add(key.text)
        yield from _key_faults(entry.value)
    for item in value.items:
        yield from _key_faults(item)


def _tab_faults(text: str, start: int, end: int, root: Value) -> Iterator[Finding]:
    """The first tab outside quotes, blocks and comments, where readers disagree about it."""
    position = start
    for leaf in [*_protected(root), Value(Shape.TEXT, end, end)]:
        for match in _TAB_OR_COMMENT.finditer(text, position, leaf.start):
            if match.group() == "\t":
                yield Finding("tab-in-header", match.start(), "a tab stands outside of quotes")
                return
        position = leaf.end


def _protected(value: Value) -> Iterator[Value]:
    """The quoted and block scalars in file order; a tab inside them is data."""
    if value.style in ("'", '"', "|", ">"):
        yield value
    for item in value.items:
        yield from _protected(item)
    for entry in value.entries:
        yield from _protected(entry.key)
        yield from _protected(entry.value)
