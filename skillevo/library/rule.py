"""What a rule of the checker is, and the examples that document and test it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from skillevo.types import Severity


class Kind(StrEnum):
    """Whether the format itself, other clients, or good practice asks for it."""

    SPEC = "spec"
    PORTABILITY = "portability"
    RECOMMENDATION = "recommendation"


class Profile(StrEnum):
    """Whose reading of the format counts."""

    SPEC = "spec"
    CLAUDE_CODE = "claude-code"
    CODEX = "codex"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One file of a tree. ``data`` is needed for skill files only.

    A skill file that is no symbolic link and has no ``data`` counts as missing.
    """

    data: bytes | None = None
    symlink: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """A small tree that a rule accepts or finds fault with."""

    files: Mapping[str, TreeEntry]
    library_limit: int | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``profiles`` are those that apply it; ``fixable`` means that ``--fix`` can."""

    id: str
    severity: Severity
    kind: Kind
    summary: str
    fix: str
    bad: Example
    good: Example
    profiles: frozenset[Profile] = frozenset(Profile)
    fixable: bool = False


SAMPLE_PATH = "sort-photos/SKILL.md"
SAMPLE_HEAD = "name: sort-photos\ndescription: Sorts photos by date. Use when a folder is a mess.\n"
SAMPLE_BODY = "\n# Steps\n\nRead the date, then move the file.\n"


def whole(content: str | bytes, path: str = SAMPLE_PATH, **more: str) -> Example:
    """An example of one skill file; ``more`` maps further paths to their text."""
    data = content if isinstance(content, bytes) else content.encode()
    rest = {name: TreeEntry(text.encode()) for name, text in more.items()}
    return Example({path: TreeEntry(data), **rest})


def head(lines: str, path: str = SAMPLE_PATH) -> Example:
    """An example that is all about the front matter."""
    return whole(f"---\n{lines}---\n{SAMPLE_BODY}", path)


def body(text: str, **more: str) -> Example:
    """An example that is all about the body."""
    return whole(f"---\n{SAMPLE_HEAD}---\n{text}", **more)


def skill(name: str, description: str = "") -> str:
    """A correct skill file of that name."""
    task = name.replace("-", " ")
    text = description or f"Helps to {task}. Use when the user asks to {task}."
    return f"---\nname: {name}\ndescription: {text}\n---\n{SAMPLE_BODY}"


def tree(files: Mapping[str, str], library_limit: int | None = None) -> Example:
    """An example of several files."""
    entries = {path: TreeEntry(text.encode()) for path, text in files.items()}
    return Example(entries, library_limit)
