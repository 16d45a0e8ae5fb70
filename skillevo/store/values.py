"""Small values of the git store: who, when, and what becomes of a ref."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

Entry = tuple[str, str]
"""Mode and object id of a path in a tree."""


class Result(NamedTuple):
    """How a git process ended."""

    status: int
    stdout: bytes
    stderr: str

    @property
    def line(self) -> str:
        """Standard output as text without the newline at its end."""
        return os.fsdecode(self.stdout).removesuffix("\n")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a commit is by."""

    name: str
    email: str


SKILLEVO = Identity("skillevo", "skillevo@localhost")
"""The author of every edit unless configured otherwise."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What goes into a commit beside its tree: author, committer and unix time in UTC."""

    author: Identity
    committer: Identity
    time_s: int

    @property
    def environment(self) -> dict[str, str]:
        """The stamp as git reads it."""
        date = f"@{self.time_s} +0000"
        return {
            "GIT_AUTHOR_NAME": self.author.name,
            "GIT_AUTHOR_EMAIL": self.author.email,
            "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_NAME": self.committer.name,
            "GIT_COMMITTER_EMAIL": self.committer.email,
            "GIT_COMMITTER_DATE": date,
        }


@dataclass(frozen=True, slots=True)
class RefChange:
    """One ref in a transaction: no ``old`` creates it, no ``new`` deletes it, equal ones verify."""

    ref: str
    new: str | None
    old: str | None

    @property
    def instruction(self) -> str:
        """The line of ``update-ref --stdin``."""
        if self.old is None:
            return f"create {self.ref} {self.new}\n"
        if self.new is None:
            return f"delete {self.ref} {self.old}\n"
        if self.new == self.old:
            return f"verify {self.ref} {self.old}\n"
        return f"update {self.ref} {self.new} {self.old}\n"


@dataclass(frozen=True, slots=True)
class Initialized:
    """What ``Repository.init`` did. ``commit`` is None when the directory lay in a repository."""

    root: Path
    commit: str | None
    wrote_identity: bool
