"""What a skill must hold to enter a library: the error rules, less what a project ignores."""

from __future__ import annotations

import re
from dataclasses import dataclass

from skillevo.library.rule import Profile
from skillevo.library.rules import check_skill
from skillevo.types import Problem, Severity

FORGIVABLE = frozenset(
    {
        "allowed-tools-list",
        "client-field",
        "compatibility-length",
        "description-length",
        "metadata-value",
        "unknown-field",
    }
)
"""Error rules that an ignore lifts from a library: what breaks others makes a skill unreadable, or
unlike its folder, for everyone."""


@dataclass(frozen=True, slots=True)
class Ignore:
    """Findings of one rule to leave out, in files that the pattern ``path`` fits.

    ``path`` counts from the folder of skillevo.toml: ``*`` and ``?`` stay inside one folder,
    ``**`` goes through any number of them.
    """

    path: str
    rule: str
    reason: str

    def fits(self, path: str) -> bool:
        """True for a path, relative to skillevo.toml's folder, that the pattern describes."""
        return re.fullmatch(_expression(self.path), path, re.DOTALL) is not None


@dataclass(frozen=True, slots=True)
class Standard:
    """How strictly the skills of a project are taken. Paths of ``ignores`` count from its top."""

    profile: Profile = Profile.SPEC
    ignores: tuple[Ignore, ...] = ()

    def errors(self, path: str, data: bytes, directory: str) -> list[Problem]:
        """Why the skill file may not enter a library, in order; empty when it may."""
        problems = check_skill(path, data, profile=self.profile, directory=directory)
        return [p for p in problems if p.severity is Severity.ERROR and not self._forgiven(p)]

    def _forgiven(self, problem: Problem) -> bool:
        return problem.rule in FORGIVABLE and any(
            ignore.rule == problem.rule and ignore.fits(problem.path) for ignore in self.ignores
        )


FORMAT = Standard()
"""The format as it is written, nothing ignored."""


def _expression(pattern: str) -> str:
    """The pattern as a regular expression."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    tokens = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return "".join(parts.get(token, re.escape(token)) for token in tokens)
