"""Layer 4 of the checker: the fields, judged on their text as written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillevo.library.names import MAX_NAME, well_formed
from skillevo.library.nodes import Document, Entry, Finding, Shape, Value
from skillevo.library.rule import Profile

MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500

_REQUIRED = ("name", "description")
_TEXT_FIELDS = frozenset({"name", "description", "license", "compatibility"})
_CLIENT_TEXT = frozenset(
    {"argument-hint", "when_to_use", "model", "effort", "context", "agent", "shell"}
)
_CLIENT_SWITCH = frozenset({"disable-model-invocation", "user-invocable"})
_CLIENT_LIST = frozenset({"arguments", "paths", "disallowed-tools"})
CLIENT_FIELDS = _CLIENT_TEXT | _CLIENT_SWITCH | _CLIENT_LIST | {"hooks"}
"""What Claude Code reads beside the format's own fields."""

_TAG = re.compile(r"<[A-Za-z/!?][^<>\n]{0,200}>")
_COMMENT = re.compile(r"[ \t]+#")
_PARENTHESES = re.compile(r"\([^()]*\)")


def check_fields(document: Document, directory: str | None, profile: Profile) -> Iterator[Finding]:
    """What is wrong with the fields of a readable front matter.

    The name is not compared with a ``directory`` of None.
    """
    present = {entry.key.text for entry in document.entries}
    for key in _REQUIRED:
        if key not in present:
            message = f"the field {key!r} is absent"
            yield Finding("missing-field", document.header_start, message)
    for entry in document.entries:
        yield from _check_entry(document.text, entry, directory, profile)


def _check_entry(
    text: str, entry: Entry, directory: str | None, profile: Profile
) -> Iterator[Finding]:
    key, value = entry.key.text, entry.value
    if key in _TEXT_FIELDS:
        yield from _check_text(text, entry)
        if value.shape is Shape.TEXT and not value.is_null:
            yield from _check_content(text, entry, directory)
    elif key == "metadata":
        yield from _check_metadata(entry)
    elif key == "allowed-tools":
        yield from _check_tools(entry, profile)
    elif profile is not Profile.CODEX:
        yield from _check_other(entry, profile)


def _check_text(text: str, entry: Entry) -> Iterator[Finding]:
    key, value = entry.key.text, entry.value
    if value.shape is not Shape.TEXT:
        yield Finding("wrong-type", value.start, f"{key!r} is a {value.shape}, not text")
    elif value.is_null:
        yield Finding("null-value", value.start, f"the field {key!r} has no value")
    elif value.kind != "str":
        message = f"YAML takes {key!r} for a value of type {value.kind}"
        yield Finding("quote-value", value.start, message)
    if value.plain and "\n" in text[entry.key.end : value.end]:
        message = f"the value of {key!r} goes over several lines without quotes"
        yield Finding("wrapped-plain-value", value.start, message)


def _check_content(text: str, entry: Entry, directory: str | None) -> Iterator[Finding]:
    if entry.key.text == "name":
        yield from _check_name(entry.value, directory)
    elif entry.key.text == "description":
        yield from _check_description(text, entry.value)
    elif entry.key.text == "compatibility":
        size = len(entry.value.text)
        if not 0 < size <= MAX_COMPATIBILITY:
            message = f"'compatibility' has {size:,} characters"
            yield Finding("compatibility-length", entry.value.start, message)


def _check_name(value: Value, directory: str | None) -> Iterator[Finding]:
    name = value.text
    if not well_formed(name):
        yield Finding("name-format", value.start, f"{_short(name)} is no skill name")
    if len(name) > MAX_NAME:
        yield Finding("name-length", value.start, f"the name has {len(name):,} characters")
    if directory is not None and name != directory:
        message = f"the name {_short(name)} is not the folder's, {_short(directory)}"
        yield Finding("name-directory", value.start, message)


def _check_description(text: str, value: Value) -> Iterator[Finding]:
    description, start = value.text, value.start
    if not description.strip():
        yield Finding("blank-description", start, "the description is blank")
    if len(description) > MAX_DESCRIPTION:
        message = f"the description has {len(description):,} characters"
        yield Finding("description-length", start, message)
    if "\n" in description.strip():
        yield Finding("description-line-break", start, "the description has line breaks")
    if value.plain and _COMMENT.match(text, value.end):
        yield Finding("comment-cuts-value", value.end, "the rest of the line is a comment to YAML")
    tag = _TAG.search(description)
    if tag:
        message = f"the description holds {_short(tag.group())}, which looks like a tag"
        yield Finding("tag-like-text", start, message)


def _check_metadata(entry: Entry) -> Iterator[Finding]:
    value = entry.value
    if value.is_null:
        yield Finding("null-value", value.start, "the field 'metadata' has no value")
    elif value.shape is not Shape.MAP:
        yield Finding("wrong-type", value.start, f"'metadata' is a {value.shape}, not a map")
    for inner in value.entries:
        if not inner.value.is_text:
            what = inner.value.kind if inner.value.shape is Shape.TEXT else inner.value.shape
            message = f"the metadata value of {_short(inner.key.text)} is of type {what}, not text"
            yield Finding("metadata-value", inner.value.start, message)


def _check_tools(entry: Entry, profile: Profile) -> Iterator[Finding]:
    value = entry.value
    if value.shape is Shape.LIST and all(item.is_text for item in value.items):
        if profile is not Profile.CLAUDE_CODE:
            yield Finding("allowed-tools-list", value.start, "'allowed-tools' is a list")
    elif value.shape is not Shape.TEXT:
        yield Finding("wrong-type", value.start, "'allowed-tools' is not text")
    elif value.is_null:
        yield Finding("null-value", value.start, "the field 'allowed-tools' has no value")
    elif "," in _PARENTHESES.sub("", value.text):
        yield Finding("allowed-tools-comma", value.start, "the tools are separated by commas")


def _check_other(entry: Entry, profile: Profile) -> Iterator[Finding]:
    key = entry.key.text
    if key not in CLIENT_FIELDS:
        yield Finding("unknown-field", entry.key.start, f"the format has no field {_short(key)}")
    elif profile is Profile.SPEC:
        message = f"the field {_short(key)} is Claude Code's own"
        yield Finding("client-field", entry.key.start, message)
    elif not _fits(key, entry.value):
        message = f"the field {_short(key)} has a value of another type than Claude Code reads"
        yield Finding("wrong-type", entry.value.start, message)


def _fits(key: str, value: Value) -> bool:
    if key in _CLIENT_SWITCH:
        return value.shape is Shape.TEXT and value.kind == "bool"
    if key in _CLIENT_LIST:
        return value.is_text or value.shape is Shape.LIST
    if key == "hooks":
        return value.shape is Shape.MAP
    return value.shape is Shape.TEXT and not value.is_null


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:79] + "…")
