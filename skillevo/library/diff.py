"""The structural difference of libraries: fields, sections, size, red flags, skill by skill."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from skillevo.library.characters import estimate_tokens
from skillevo.library.document import plain_fields
from skillevo.library.redflags import red_flags
from skillevo.library.sections import (
    ChangeKind,
    Section,
    SectionChange,
    compare_sections,
    split_sections,
)
from skillevo.types import Library, Pair, Skill

__all__ = ["ChangeKind", "FieldChange", "SectionChange", "SkillChange", "compare_libraries"]

_NO_MERGES: Mapping[Pair, tuple[str, ...]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One front-matter field, or ``file:<path>`` with blob ids; None where it is absent.

    For a merged skill ``before`` joins the different values of its sources by line feeds.
    """

    field: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class SkillChange:
    """What became of one skill. ``sources`` are the skills that a merged one replaced.

    Tokens are estimates of the whole SKILL.md: 0 where there is none, the sources' sum for a merge.
    """

    agent: str
    skill: str
    change: ChangeKind
    sources: tuple[str, ...] = ()
    fields: tuple[FieldChange, ...] = ()
    sections: tuple[SectionChange, ...] = ()
    tokens_before: int = 0
    tokens_after: int = 0
    red_flags: tuple[str, ...] = ()


def compare_libraries(
    old: Mapping[str, Library],
    new: Mapping[str, Library],
    merged: Mapping[Pair, tuple[str, ...]] = _NO_MERGES,
) -> tuple[SkillChange, ...]:
    """Every skill that differs, sorted by agent and skill; equal skills are left out.

    ``merged`` maps a new (agent, skill) to the names of the same agent's skills that it replaced;
    those are told as its sources and not as removed.
    """
    changes: list[SkillChange] = []
    for agent in sorted({*old, *new}):
        before, after = old.get(agent, Library(agent)), new.get(agent, Library(agent))
        sources = {skill: names for (owner, skill), names in merged.items() if owner == agent}
        changes += _compare(before, after, sources)
    return tuple(changes)


def _compare(
    old: Library, new: Library, merged: Mapping[str, tuple[str, ...]]
) -> Iterator[SkillChange]:
    before = {skill.name: skill for skill in old.skills}
    after = {skill.name: skill for skill in new.skills}
    replaced = {name for skill in after if skill in merged for name in merged[skill]}
    for name in sorted({*before, *after}):
        was, now = before.get(name), after.get(name)
        if now is not None and name in merged:
            parts = [before[source] for source in merged[name] if source in before]
            yield _change(new, name, ChangeKind.MERGED, parts, now, merged[name])
        elif now is None and was is not None and name not in replaced:
            yield _change(new, name, ChangeKind.REMOVED, [was], None)
        elif was is None and now is not None:
            yield _change(new, name, ChangeKind.ADDED, [], now)
        elif was is not None and now is not None and was != now:
            yield _change(new, name, ChangeKind.EDITED, [was], now)


def _change(
    library: Library,
    name: str,
    kind: ChangeKind,
    old: Sequence[Skill],
    new: Skill | None,
    sources: tuple[str, ...] = (),
) -> SkillChange:
    fields = [_fields(skill) for skill in old]
    after = _fields(new) if new else {}
    before = _joined(fields)
    flags: tuple[str, ...] = ()
    if new is not None:
        tools = "\n".join(field.get("allowed-tools", "") for field in fields)
        neighbors = [skill for skill in library.skills if skill.name != name]
        flags = red_flags(new, old, neighbors, (tools, after.get("allowed-tools", "")))
    return SkillChange(
        library.agent,
        name,
        kind,
        sources,
        tuple(
            FieldChange(key, before.get(key), after.get(key))
            for key in dict.fromkeys([*after, *before])
            if before.get(key) != after.get(key)
        ),
        compare_sections(_sections(old), split_sections(new.body) if new else ()),
        sum(estimate_tokens(skill.text) for skill in old),
        estimate_tokens(new.text) if new else 0,
        flags,
    )


def _fields(skill: Skill) -> dict[str, str]:
    files = {f"file:{resource.path}": resource.blob for resource in skill.resources}
    return plain_fields(skill.text) | files


def _joined(parts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    keys = dict.fromkeys(key for part in parts for key in part)
    return {
        key: "\n".join(dict.fromkeys(part[key] for part in parts if key in part)) for key in keys
    }


def _sections(skills: Sequence[Skill]) -> tuple[Section, ...]:
    return split_sections("\n".join(skill.body for skill in skills))
