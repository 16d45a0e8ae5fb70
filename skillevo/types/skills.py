"""Skills, libraries, the team, and problems of a library."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

Pair = tuple[str, str]
"""(agent, skill)."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A file of a skill beside its SKILL.md, carried byte for byte by its git blob id."""

    path: str
    mode: str
    blob: str


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill. ``text`` is the whole SKILL.md and the source of truth of the other fields."""

    name: str
    description: str
    body: str
    text: str
    resources: tuple[Resource, ...] = ()


@dataclass(frozen=True, slots=True)
class Library:
    """The skills of one agent, sorted by name."""

    agent: str
    skills: tuple[Skill, ...] = ()

    def get(self, name: str) -> Skill | None:
        """The skill of that name, or None."""
        return next((skill for skill in self.skills if skill.name == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        """The skill names, sorted."""
        return tuple(skill.name for skill in self.skills)


@dataclass(frozen=True, slots=True)
class Agent:
    """One member of the team with its fixed role prompt."""

    name: str
    role: str


@dataclass(frozen=True, slots=True)
class Team:
    """The agents in speaking order with their libraries, one library per agent."""

    agents: tuple[Agent, ...]
    libraries: tuple[Library, ...]

    def library(self, agent: str) -> Library:
        """The library of ``agent``; KeyError when the team has no such agent."""
        for library in self.libraries:
            if library.agent == agent:
                return library
        raise KeyError(agent)

    def with_library(self, library: Library) -> Team:
        """The same team with only that agent's library replaced."""
        return replace(
            self,
            libraries=tuple(
                library if old.agent == library.agent else old for old in self.libraries
            ),
        )


class Severity(StrEnum):
    """An error makes a file invalid; a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding of the checker; ``kind`` is spec, portability or recommendation, marks from 1."""

    rule: str
    severity: Severity
    kind: str
    path: str
    line: int
    column: int
    message: str
    fix: str = ""
