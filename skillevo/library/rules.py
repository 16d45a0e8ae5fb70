"""The checker: every rule of the format as a list of problems, whatever the bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from posixpath import basename, dirname

from skillevo.errors import ConfigError
from skillevo.library.catalog import ALL_RULES, RULES
from skillevo.library.checks_body import check_body
from skillevo.library.checks_bytes import check_text, decode
from skillevo.library.checks_fields import check_fields
from skillevo.library.checks_library import (
    SKILL_FILE,
    Layout,
    Placed,
    check_descriptions,
    check_layout,
    check_links,
)
from skillevo.library.document import read
from skillevo.library.links import file_links
from skillevo.library.nodes import Finding, Lines
from skillevo.library.rule import Profile, Rule, TreeEntry
from skillevo.types import Problem

__all__ = ["ALL_RULES", "Rule", "TreeEntry", "check_skill", "check_tree"]

_UNREADABLE = frozenset({"file-too-large", "not-utf8"})


def check_skill(
    path: str, data: bytes, *, profile: str = "spec", directory: str | None = None
) -> list[Problem]:
    """Every problem of one skill file, sorted by line, column and rule.

    ``path`` is a POSIX path that ends in the file's name; its parent's name, or ``directory``, is
    what the skill's name is compared with. Raises ConfigError for an unknown profile only.
    """
    return _sorted(_inspect(path, data, _profile(profile), directory).problems)


def check_tree(
    files: Mapping[str, TreeEntry], *, profile: str = "spec", library_limit: int | None = None
) -> list[Problem]:
    """Every problem of a tree of files, sorted by path, line and rule.

    Paths are POSIX and relative to the root. The skills below ``skills/<agent>/`` are checked as
    libraries too, with at most ``library_limit`` skills an agent when that is given.
    """
    known = _profile(profile)
    layout = Layout.of(files)
    problems: list[Problem] = []
    descriptions: dict[str, str] = {}
    for path, entry in sorted(files.items()):
        if entry.symlink and (_is_skill_file(path) or _is_skill_folder(path)):
            problems.append(_problem("symlinked-skill", path, "a symbolic link, not a file"))
        elif _is_skill_file(path) and entry.data is None:
            problems.append(_problem("missing-skill-file", path, "the file does not exist"))
        elif _is_skill_file(path) and entry.data is not None:
            seen = _inspect(path, entry.data, known, None)
            problems += seen.problems
            descriptions[dirname(path)] = seen.description
            missing = list(check_links(layout, path, seen.links))
            problems += _placed(missing, seen.text)
    problems += _placed(list(check_layout(layout, library_limit)))
    problems += _placed(list(check_descriptions(layout, descriptions)))
    return sorted(problems, key=lambda p: (p.path, p.line, p.rule, p.column, p.message))


@dataclass(frozen=True, slots=True)
class _Inspected:
    problems: list[Problem]
    text: str
    description: str = ""
    links: tuple[tuple[int, str], ...] = ()


def _inspect(path: str, data: bytes, profile: Profile, directory: str | None) -> _Inspected:
    """One file through layers 1 to 4, as far as what is wrong lets the next layer work."""
    text, findings = decode(data)
    if basename(path) != SKILL_FILE:
        findings.append(Finding("skill-file-name", 0, f"the file is named {basename(path)!r}"))
    if not _UNREADABLE.isdisjoint(finding.rule for finding in findings):
        return _Inspected(_problems(path, findings, text), text)
    document = read(text)
    findings += document.faults
    findings += check_text(document)
    links: tuple[tuple[int, str], ...] = ()
    if document.readable:
        links = file_links(text, document.body_start)
        parent = basename(dirname(path)) or None
        findings += check_fields(document, parent if directory is None else directory, profile)
        findings += check_body(document, links)
    described = document.entry("description")
    description = described.value.text if described else ""
    return _Inspected(_problems(path, findings, text), text, description, links)


def _problems(path: str, findings: Sequence[Finding], text: str) -> list[Problem]:
    lines = Lines.of(text if findings else "")
    return [
        _problem(f.rule, path, f.message, fix=f.fix, place=lines.at(f.offset)) for f in findings
    ]


def _placed(found: Sequence[Placed], text: str = "") -> list[Problem]:
    lines = Lines.of(text if found else "")
    return [_problem(p.rule, p.path, p.message, place=lines.at(p.offset)) for p in found]


def _problem(
    rule_id: str, path: str, message: str, *, fix: str = "", place: tuple[int, int] = (1, 1)
) -> Problem:
    rule = RULES[rule_id]
    line, column = place
    return Problem(rule_id, rule.severity, rule.kind, path, line, column, message, fix or rule.fix)


def _sorted(problems: list[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda p: (p.line, p.column, p.rule, p.message))


def _is_skill_file(path: str) -> bool:
    return basename(path).casefold() == SKILL_FILE.casefold()


def _is_skill_folder(path: str) -> bool:
    """True for ``…skills/<agent>/<skill>``, which only a link to a folder makes a file."""
    return path.split("/")[-3:-2] == ["skills"]


def _profile(name: str) -> Profile:
    try:
        return Profile(name)
    except ValueError:
        known = ", ".join(Profile)
        raise ConfigError(
            f"unknown profile {name!r}", why=f"The profiles are {known}.", fix="Choose one of them."
        ) from None
