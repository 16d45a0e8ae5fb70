"""What git said when it failed, turned into an error that a user can act on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skillevo.errors import ConflictError, EnvironmentFault, SkillevoError

_SAFE_DIRECTORY = "git config --global --add safe.directory "
_DISK = ("No space left", "Read-only file system", "Permission denied", "Disk quota exceeded")


def missing_git() -> EnvironmentFault:
    """There is no git program."""
    return EnvironmentFault(
        "git was not found",
        why="no program called git is on PATH",
        fix="install git 2.38 or later",
    )


def cannot_start(error: OSError) -> EnvironmentFault:
    """The machine could not start a git process or feed it."""
    return EnvironmentFault(
        "git could not be started",
        why=error.strerror or str(error),
        fix="free some disk space and memory, then try again",
    )


def unwritable(folder: Path, error: OSError) -> EnvironmentFault:
    """A temporary file for git could not be written."""
    return EnvironmentFault(
        f"cannot write to {folder}",
        why=error.strerror or str(error),
        fix="free some space or make the folder writable, then try again",
    )


def failed_command(command: str, status: int, stderr: str) -> SkillevoError:
    """The error for a git command that failed with ``status``."""
    words = stderr.strip()
    common = _common(words)
    if common is not None:
        return common
    return EnvironmentFault(
        f"git {command} failed with status {status}",
        why=_fatal(words),
        fix="git fsck, then try again",
    )


def failed_refs(refs: Sequence[str], stderr: str) -> SkillevoError:
    """The error for a refused ref transaction: nothing of it was done."""
    words = stderr.strip()
    common = _common(words)
    if common is not None:
        return common
    return ConflictError(f"cannot move {', '.join(refs)}", why=_fatal(words), fix=_ref_fix(words))


def _common(words: str) -> SkillevoError | None:
    if words.startswith("Timeout:"):
        return EnvironmentFault(
            "git did not answer in time", why=words, fix="see what keeps git busy, then try again"
        )
    if "dubious ownership" in words:
        rest = words.partition(_SAFE_DIRECTORY)[2].splitlines()
        return EnvironmentFault(
            "git does not trust this repository",
            why=words.splitlines()[0],
            fix=_SAFE_DIRECTORY + (rest[0] if rest else '"$PWD"'),
        )
    if "failed to sign" in words:
        return EnvironmentFault(
            "git cannot sign commits",
            why=_fatal(words),
            fix="make signing work (git commit --allow-empty -S), or unset commit.gpgsign",
        )
    if any(sign in words for sign in _DISK):
        return EnvironmentFault(
            "git cannot write to this repository",
            why=_fatal(words),
            fix="free some space or make the repository writable, then try again",
        )
    return None


def _ref_fix(words: str) -> str:
    if "cannot create" in words and "'refs/heads/skillevo' exists" in words:
        return "git branch -m skillevo <another-name>"
    if "aborted by" in words and "hook" in words:
        return "allow refs/heads/skillevo/ in the repository's reference-transaction hook"
    if ".lock'" in words:
        return "wait for the other git process; if there is none, remove the lock file named above"
    if "already exists" in words:
        return "choose another run id with --run-id"
    return "git for-each-ref refs/heads/skillevo shows who moved what; then start a new run"


def _fatal(words: str) -> str:
    """Git's own words without hints, on one line."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    kept = [line for line in lines if not line.startswith("hint:")]
    return " ".join(kept)[:1000] or "git gave no reason"
