"""Edits of a front matter as text replacements: each gives the new file, touching one span only."""

from __future__ import annotations

import re

from skillevo.library.nodes import Document, Entry, Shape, Value
from skillevo.library.quoting import spliced

_REST_OF_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)*")


def replace_value(document: Document, entry: Entry, value: str) -> str:
    """The file with the value's span replaced by a one-line scalar."""
    text, old = document.text, entry.value
    start = old.start
    if old.shape is not Shape.TEXT and old.style != "flow":
        start = text.index(":", entry.key.end) + 1
    space = "" if text[start - 1] in " \t" else " "
    return text[:start] + space + spliced(value) + text[old.end :]


def insert_entry(document: Document, key: str, value: str) -> str:
    """The file with a new last key: before the closing fence, or inside flow style's braces."""
    text, root = document.text, document.root
    entry = f"{spliced(key)}: {spliced(value)}"
    if root is not None and root.style == "flow":
        place = root.entries[-1].value.end if root.entries else root.start + 1
        comma = ", " if root.entries else ""
        return text[:place] + comma + entry + text[place:]
    indent = ""
    if root is not None:
        first = root.start
        indent = " " * (first - text.rfind("\n", 0, first) - 1)
    place = document.header_end
    return f"{text[:place]}{indent}{entry}{document.newline}{text[place:]}"


def remove_entry(document: Document, entry: Entry) -> str:
    """The file without the entry: its lines, or its part of a flow mapping."""
    root = document.root
    if root is not None and root.style == "flow":
        start, end = _flow_part(root, entry)
    else:
        start, end = _whole_lines(document, entry)
    return document.text[:start] + document.text[end:]


def replace_body(document: Document, body: str) -> str:
    """The file with other text after the closing fence; what surrounds the old body stays.

    ``body`` has ``\\n`` line ends, no blank line before and no white space after it.
    """
    text, newline = document.text, document.newline
    new = body.replace("\n", newline)
    start, end = document.body_span
    if start < end:
        return text[:start] + new + text[end:]
    if not body:
        return text
    fence = text[: document.body_start]
    return fence + ("" if fence.endswith("\n") else newline) + newline + new + newline


def _flow_part(root: Value, entry: Entry) -> tuple[int, int]:
    position = root.entries.index(entry)
    if position + 1 < len(root.entries):
        return entry.key.start, root.entries[position + 1].key.start
    if position:
        return root.entries[position - 1].value.end, entry.value.end
    return root.start + 1, root.end - 1


def _whole_lines(document: Document, entry: Entry) -> tuple[int, int]:
    text = document.text
    start = text.rfind("\n", 0, entry.key.start) + 1
    rest = _REST_OF_LINE.match(text, max(entry.value.end, entry.key.end))
    end = rest.end() if rest else len(text)
    position = document.entries.index(entry)
    before = document.entries[position - 1].value if position else None
    if before is not None and before.style in ("|", ">"):
        blank = _BLANK_LINES.match(text, end, document.header_end)
        end = blank.end() if blank else end
    return start, end
