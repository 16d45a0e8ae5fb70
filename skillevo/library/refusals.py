"""Why a text is no skill, or an edit is not made, as errors that name the line and the way out."""

from __future__ import annotations

from skillevo.errors import LibraryError
from skillevo.library.catalog import RULES
from skillevo.library.nodes import Document, Finding, Lines, Shape


def refusal(document: Document, finding: Finding) -> LibraryError:
    """The error that tells a finding of a skill file, with its line."""
    line, _ = Lines.of(document.text).at(finding.offset)
    rule = RULES[finding.rule]
    return LibraryError(
        f"SKILL.md:{line}: {finding.message}", why=rule.summary, fix=finding.fix or rule.fix
    )


def refuse_faults(document: Document) -> None:
    """Raise LibraryError for the first fault of a text, or for text that UTF-8 cannot hold."""
    if document.faults:
        raise refusal(document, document.faults[0])
    try:
        document.text.encode("utf-8")
    except UnicodeEncodeError as error:
        message = "half of a surrogate pair cannot be stored as UTF-8"
        raise refusal(document, Finding("not-utf8", error.start, message)) from error


def required_text(document: Document, key: str) -> str:
    """The text of a required field without white space around it; LibraryError without any."""
    entry = document.entry(key)
    place = document.header_start
    if entry is None:
        raise refusal(document, Finding("missing-field", place, f"the field {key!r} is absent"))
    value = entry.value
    if value.shape is not Shape.TEXT:
        raise refusal(document, Finding("wrong-type", value.start, f"{key!r} is not a text"))
    if value.is_null or not value.text.strip():
        raise refusal(document, Finding("null-value", value.start, f"the field {key!r} is empty"))
    return value.text.strip()


def others_unchanged(before: Document, after: Document, key: str) -> bool:
    """True when the two differ in nothing but the field ``key``."""
    old, new = ([e for e in d.entries if e.key.text != key] for d in (before, after))
    return (
        len(old) == len(new)
        and all(
            mine.key.text == theirs.key.text and mine.value.same_meaning(theirs.value)
            for mine, theirs in zip(old, new, strict=True)
        )
        and before.text[before.body_start :] == after.text[after.body_start :]
    )


def insist(kept: bool, thing: str) -> None:
    """Raise LibraryError when editing ``thing`` did not give exactly what was asked for."""
    if kept:
        return
    raise LibraryError(
        f"SKILL.md: {thing} cannot be edited alone",
        why="The way the front matter is written ties it to other fields, or the text is unusable.",
        fix="Write one `field: value` a line, then try again.",
    )
