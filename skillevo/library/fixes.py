"""The repairs that are safe to make without asking: what a reader sees stays the same."""

from __future__ import annotations

import re

from skillevo.library.document import read
from skillevo.library.nodes import Document, Finding, Shape, Value
from skillevo.library.quoting import quoted

_FIELD_LINE = re.compile(r"([ ]*[^\s#'\"\[{&*!|>%@`:-][^\n:]*:[ ]+)([^\s'\"\[{&*!|>%@`#][^\n]*)")
_MAX_REPAIRS = 100
_TEXT_FIELDS = frozenset({"name", "description", "license", "compatibility"})


def safe_fixes(data: bytes) -> bytes:
    """The file with its byte order mark, line ends, fence blanks and missing quotes repaired.

    The same bytes when there is nothing to repair, or nothing that is safe to.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    for _ in range(_MAX_REPAIRS):
        repaired = _repaired(text)
        if repaired == text:
            break
        text = repaired
    return text.encode("utf-8")


def _repaired(text: str) -> str:
    document = read(text)
    for fault in document.faults:
        if fault.rule == "fence-trailing-blanks":
            line_end = text.find("\n", fault.offset)
            rest = text[line_end:] if line_end >= 0 else ""
            return text[: fault.offset] + rest
        if fault.rule == "unquoted-colon":
            return _with_quoted_line(text, fault)
    return text if document.faults else _with_quoted_values(document)


def _with_quoted_line(text: str, fault: Finding) -> str:
    """The line's value quoted; unchanged when it may go on in the next line or holds a comment."""
    start = text.rfind("\n", 0, fault.offset) + 1
    stop = text.index("\n", start)
    match = _FIELD_LINE.fullmatch(text, start, stop)
    if match is None or " #" in match.group(2) or text[stop + 1 : stop + 2].isspace():
        return text
    return text[:start] + match.group(1) + quoted(match.group(2).rstrip()) + text[stop:]


def _with_quoted_values(document: Document) -> str:
    values = [entry.value for entry in document.entries if entry.key.text in _TEXT_FIELDS]
    metadata = document.entry("metadata")
    values += [entry.value for entry in metadata.value.entries] if metadata else []
    text = document.text
    for value in sorted(values, key=lambda value: -value.start):
        if _is_guessed(value):
            text = text[: value.start] + quoted(value.text) + text[value.end :]
    return text


def _is_guessed(value: Value) -> bool:
    return value.shape is Shape.TEXT and value.plain and value.kind not in ("str", "null")
