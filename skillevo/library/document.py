"""Text ⇄ skill: strict reading with marks, and edits that leave every other byte alone.

The one module that knows YAML and front-matter libraries. Nothing is ever written by a YAML dump.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from skillevo.errors import LibraryError
from skillevo.library import splice
from skillevo.library.characters import FORBIDDEN_IN_HEADER
from skillevo.library.compose import Refused, TreeBuilder, block_end
from skillevo.library.faults import header_faults, syntax_fault
from skillevo.library.fences import find_fences
from skillevo.library.nodes import Document, Finding, Shape, Value
from skillevo.library.quoting import scalar
from skillevo.library.refusals import (
    insist,
    others_unchanged,
    refuse_faults,
    required_text,
)
from skillevo.types import Resource, Skill

_FAST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FAST_TEXT: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_GUESSES: Mapping[str | None, list[tuple[str, re.Pattern[str]]]] = (
    yaml.SafeLoader.yaml_implicit_resolvers
)
_DOCUMENT_MARKS = (yaml.DocumentStartEvent, yaml.DocumentEndEvent)
_FENCE_LINE = re.compile(r"^---$", re.MULTILINE)
_GLUED_COMMENT = re.compile(r"[|>][0-9+-]*#")
_TWO_DOCUMENTS = "a document marker ends the front matter's YAML early"


def parse_skill(text: str, resources: tuple[Resource, ...] = ()) -> Skill:
    """The skill that a SKILL.md holds.

    Raises LibraryError, with the line, for a text whose fences or YAML are wrong or that lacks a
    name or a description. Whether these keep the format's limits is for the checker to say.
    """
    document = _sound(text)
    fields = {key: required_text(document, key) for key in ("name", "description")}
    return Skill(fields["name"], fields["description"], document.body, text, resources)


def render_skill(name: str, description: str, body: str) -> str:
    """A new SKILL.md in canonical form: line feeds, one line a field, one blank line, the body."""
    lines = f"name: {scalar(name.strip())}\ndescription: {scalar(description.strip())}\n"
    trimmed = _trimmed(body)
    text = f"---\n{lines}---\n" + (f"\n{trimmed}\n" if trimmed else "")
    skill = parse_skill(text)
    insist((skill.description, skill.body) == (description.strip(), trimmed), "the new skill")
    return text


def replace_body(text: str, body: str) -> str:
    """``text`` with another body; the front matter and the file's line ends stay."""
    before, trimmed = _sound(text), _trimmed(body)
    edited = splice.replace_body(before, trimmed)
    after = _sound(edited)
    same_head = edited[: before.body_start] == text[: before.body_start]
    insist(same_head and after.body == trimmed, "the body")
    return edited


def set_field(text: str, key: str, value: str) -> str:
    """``text`` with the top-level field set to a text; a field that is absent is added last."""
    before = _sound(text)
    entry = before.entry(key)
    if entry is None:
        edited = splice.insert_entry(before, key, value)
    else:
        edited = splice.replace_value(before, entry, value)
    after = _sound(edited)
    new = after.entry(key)
    is_set = new is not None and new.value.is_text and new.value.text == value
    insist(is_set and others_unchanged(before, after, key), f"the field {key!r}")
    return edited


def delete_field(text: str, key: str) -> str:
    """``text`` without that top-level field; the same text when it has none."""
    before = _sound(text)
    entry = before.entry(key)
    if entry is None:
        return text
    edited = splice.remove_entry(before, entry)
    after = _sound(edited)
    is_gone = after.entry(key) is None
    insist(is_gone and others_unchanged(before, after, key), f"the field {key!r}")
    return edited


def plain_fields(text: str) -> dict[str, str]:
    """Every field of a valid skill as text, ``metadata.author`` for a nested one, in file order."""
    # The checker has no use for it, and its import takes as long as checking fifty files.
    from frontmatter import parse
    from frontmatter.default_handlers import YAMLHandler

    class TextHandler(YAMLHandler):
        """Front matter between exact fences with every scalar left as text."""

        FM_BOUNDARY = _FENCE_LINE

        def load(self, fm: str, **kwargs: object) -> Any:
            return super().load(fm, Loader=_FAST_TEXT)

    try:
        fields, _ = parse(text, handler=TextHandler())
    except yaml.YAMLError as error:
        raise LibraryError("the front matter cannot be read", why=str(error)) from error
    return dict(_flattened(fields))


def read(text: str) -> Document:
    """The text taken apart, with every fault found on the way. Never raises."""
    fences = find_fences(text)
    newline = "\r\n" if text[: text.find("\n") + 1].endswith("\r\n") else "\n"
    if fences.header is None:
        return Document(text, newline, faults=fences.faults)
    start, end = fences.header
    faults, root, readable = list(fences.faults), None, True
    try:
        root = compose(text, start, end)
    except Refused as refused:
        faults.append(refused.finding)
        readable = False
    faults += header_faults(text, start, end, root)
    return Document(text, newline, start, end, fences.body_start, root, readable, tuple(faults))


def compose(text: str, start: int, end: int, loader: Any = _FAST) -> Value | None:
    """The mapping between two offsets, None when nothing is there but comments.

    Raises Refused at the first anchor, alias or tag, before anything is expanded, and for whatever
    is not one YAML mapping.
    """
    forbidden = FORBIDDEN_IN_HEADER.search(text, start, end)
    if forbidden:
        message = f"the front matter holds U+{ord(forbidden.group()):04X}"
        raise Refused(Finding("control-character", forbidden.start(), message))
    try:
        root = _build(text, start, end, loader)
    except yaml.YAMLError as error:
        offset = start + _error_index(error, end - start)
        problem = str(getattr(error, "problem", None) or "the text cannot be read")
        raise Refused(syntax_fault(text, offset, problem)) from error
    if root is None or (root.plain and not root.text):
        return None
    if root.shape is not Shape.MAP:
        raise Refused(Finding("not-a-mapping", root.start, "the front matter is not a mapping"))
    return root


def _flattened(fields: Mapping[str, object], prefix: str = "") -> list[tuple[str, str]]:
    flat: list[tuple[str, str]] = []
    for key, value in fields.items():
        if isinstance(value, Mapping):
            flat += _flattened(value, f"{prefix}{key}.")
        else:
            items = value if isinstance(value, list) else [value]
            flat.append((f"{prefix}{key}", ", ".join(str(item) for item in items)))
    return flat


def _build(text: str, start: int, end: int, loader: Any) -> Value | None:
    builder = TreeBuilder()
    parser = loader(text[start:end])
    try:
        # Asked event by event: ``yaml.parse`` looks at each one twice.
        while not isinstance(event := parser.get_event(), yaml.StreamEndEvent):
            _take(builder, event, text, start)
    finally:
        parser.dispose()
    return builder.root


def _take(builder: TreeBuilder, event: Any, text: str, start: int) -> None:
    if isinstance(event, yaml.NodeEvent):
        if event.anchor is not None or getattr(event, "tag", None) is not None:
            _refuse_indirection(event, start)
        if isinstance(event, yaml.ScalarEvent):
            builder.add(_scalar(text, event, start))
        elif isinstance(event, yaml.CollectionStartEvent):
            shape = Shape.MAP if isinstance(event, yaml.MappingStartEvent) else Shape.LIST
            builder.open(shape, start + _at(event.start_mark), flow=bool(event.flow_style))
    elif isinstance(event, yaml.CollectionEndEvent):
        builder.close(start + _at(event.end_mark))
    elif isinstance(event, _DOCUMENT_MARKS) and event.explicit:
        raise Refused(Finding("yaml-syntax", start + _at(event.start_mark), _TWO_DOCUMENTS))


def _refuse_indirection(event: yaml.NodeEvent, start: int) -> None:
    if event.anchor is not None:
        which = "alias" if isinstance(event, yaml.AliasEvent) else "anchor"
        message = f"the front matter uses a YAML {which}"
        raise Refused(Finding("anchor-or-alias", start + _at(event.start_mark), message))
    if getattr(event, "tag", None) is not None:
        message = "the front matter uses a YAML tag"
        raise Refused(Finding("yaml-tag", start + _at(event.start_mark), message))


def _error_index(error: yaml.YAMLError, size: int) -> int:
    """Where to look: where the parser stopped or, at the very end, where the construct began."""
    mark = getattr(error, "problem_mark", None)
    begin = getattr(error, "context_mark", None)
    index = _at(mark) if mark else 0
    if index >= size - 1 and begin:
        index = _at(begin)
    return max(0, min(index, size - 1))


def _at(mark: Any) -> int:
    """The mark's character offset; every event and error of a parse has one."""
    index: int = mark.index
    return index


def _scalar(text: str, event: yaml.ScalarEvent, start: int) -> Value:
    first, last = start + _at(event.start_mark), start + _at(event.end_mark)
    style = event.style or ""
    if style in ("|", ">"):
        if _GLUED_COMMENT.match(text, first):
            message = "text stands right after a block indicator and would be lost"
            raise Refused(Finding("yaml-syntax", first, message))
        last = first + block_end(text[first:last])
    kind = "str" if style else _guess(event.value)
    return Value(Shape.TEXT, first, last, event.value, style, kind)


def _guess(value: str) -> str:
    """What a YAML 1.1 reader makes of a plain scalar: ``str``, ``int``, ``null`` …"""
    for tag, pattern in _GUESSES.get(value[:1], ()):
        if pattern.match(value):
            return tag.rpartition(":")[2]
    return "str"


def _sound(text: str) -> Document:
    """The text taken apart; LibraryError for its first fault."""
    document = read(text)
    refuse_faults(document)
    return document


def _trimmed(body: str) -> str:
    """``body`` with line feeds, without blank lines before it and white space after it."""
    text = body.replace("\r\n", "\n").replace("\r", "\n").rstrip()
    blank = len(text) - len(text.lstrip())
    return text[text.rfind("\n", 0, blank) + 1 :]
