"""What a check of a run's history found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: which check, where (a file, a commit, a ref), and what."""

    check: str
    place: str
    message: str


@dataclass(frozen=True, slots=True)
class Verified:
    """One run: what was checked, what is wrong, and in words what could not be checked."""

    run: str
    edits: int
    merges: int
    citations: int
    findings: tuple[Finding, ...]
    not_checked: tuple[str, ...]
