"""Reading what runs left: status, log, diff, validate."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillevo.config import CONFIG_NAME
from skillevo.errors import EnvironmentFault, SkillevoError
from skillevo.library.diff import SkillChange, compare_libraries
from skillevo.library.rule import TreeEntry
from skillevo.library.rules import check_tree
from skillevo.store import history
from skillevo.store.git import Repository
from skillevo.store.libraries import agents_at, read_libraries
from skillevo.store.runs import read_record
from skillevo.types import Pair, Problem

_PASSED_OVER = {".git", ".skillevo"}


@dataclass(frozen=True, slots=True)
class RunStatus:
    """One run in this repository. ``record`` is its printed result, None when it did not end."""

    run: str
    head: str | None
    accepted: int
    rejected: int
    record: Mapping[str, Any] | None


def runs(root: Path) -> list[RunStatus]:
    """The runs that have refs in the repository at ``root``, oldest first."""
    with Repository(root) as repository:
        merged = history.merges(repository)
        return [
            RunStatus(
                run=found.id,
                head=found.head,
                accepted=sum(merge.run == found.id for merge in merged),
                rejected=len(found.rejected),
                record=read_record(root, found.id, "result"),
            )
            for found in history.read_runs(repository)
        ]


def logged_edits(
    root: Path, *, run: str | None, revisions: str | None
) -> Sequence[history.LoggedEdit]:
    """The edits of a run, of a range, or of all runs, in edit order."""
    with Repository(root) as repository:
        return history.edits(repository, run, revisions)


def diff(root: Path, revisions: str | None) -> tuple[SkillChange, ...]:
    """What changed in the libraries between two revisions (``A..B``; ``A`` alone means to HEAD).

    Without revisions: from the base of the newest run to its branch. A consolidation is told from
    the trailers of the edits in between.
    """
    with Repository(root) as repository:
        old, new = _ends(repository, root, revisions)
        names = sorted({*agents_at(repository, old), *agents_at(repository, new)})
        merged = _merges(repository, f"{old}..{new}")
        return compare_libraries(
            read_libraries(repository, old, names), read_libraries(repository, new, names), merged
        )


def _merges(repository: Repository, revisions: str) -> dict[Pair, tuple[str, ...]]:
    edits = history.edits(repository, None, revisions)
    return {
        (edit.agent, edit.skill): tuple(source.rpartition("/")[2] for source in edit.sources)
        for edit in edits
        if edit.sources
    }


def _ends(repository: Repository, root: Path, revisions: str | None) -> tuple[str, str]:
    if revisions:
        old, dots, new = revisions.partition("..")
        return repository.resolve(old or "HEAD"), repository.resolve(
            new if dots and new else "HEAD"
        )
    found = [run for run in history.read_runs(repository) if run.head]
    if not found:
        raise SkillevoError(
            "there is no run to compare",
            why="no branch skillevo/<run>/main exists in this repository",
            fix="skillevo evolve",
        )
    newest = found[-1]
    merged = history.merges(repository, newest.id)
    record = read_record(root, newest.id, "run") or {}
    base = record.get("base") or (merged[0].base if merged else newest.head)
    return repository.resolve(str(base)), repository.resolve(str(newest.head))


# --- validate -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings of a check; ``files`` counts the SKILL.md files that were read."""

    files: int
    problems: tuple[Problem, ...]


def validate(paths: Sequence[Path], *, profile: str = "spec") -> Checked:
    """Every problem of every skill at or below the paths; works without git and configuration.

    Paths are reported as they were given. SkillevoError for one that does not exist.
    """
    tree: dict[str, TreeEntry] = {}
    for path in paths:
        tree |= read_skill_tree(path)
    files = sum(_may_be_skill(name) and entry.data is not None for name, entry in tree.items())
    found = check_tree(tree, profile=profile, library_limit=_library_limit(paths))
    return Checked(files, tuple(found))


def read_skill_tree(path: Path) -> dict[str, TreeEntry]:
    """The files at or below ``path`` for the checker, by their path as given; contents of skill
    files only. Folders of git and of skillevo's runs are passed over."""
    if not path.exists():
        raise SkillevoError(
            f"{path} does not exist",
            why="there is nothing to check",
            fix="skillevo validate skills",
        )
    if path.is_file():
        beside = _walk(path.parent)
        # The rest of its folder is there for links only.
        others = {name: TreeEntry() for name in beside if not _may_be_skill(name)}
        return {**others, path.as_posix(): _entry(path)}
    return _walk(path)


def _walk(top: Path) -> dict[str, TreeEntry]:
    tree: dict[str, TreeEntry] = {}
    for folder, subfolders, names in os.walk(top):
        subfolders[:] = sorted(set(subfolders) - _PASSED_OVER)
        for name in sorted(names):
            path = Path(folder, name)
            tree[path.as_posix()] = _entry(path)
    return tree


def _entry(path: Path) -> TreeEntry:
    symlink = path.is_symlink()
    if symlink or not _may_be_skill(path.as_posix()) or not path.is_file():
        return TreeEntry(symlink=symlink)
    try:
        return TreeEntry(path.read_bytes())
    except OSError as error:
        raise EnvironmentFault(
            f"{path} cannot be read",
            why=error.strerror or str(error),
            fix="change its permissions, or leave it out",
        ) from error


def _may_be_skill(path: str) -> bool:
    return path.rpartition("/")[2].lower() == "skill.md"


def _library_limit(paths: Sequence[Path]) -> int | None:
    """``evolve.library_limit`` where the first path or the current folder has a skillevo.toml that
    sets it; a broken one is not this command's business."""
    for folder in (*paths[:1], Path()):
        try:
            document = tomllib.loads((folder / CONFIG_NAME).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        limit = document.get("evolve", {}).get("library_limit")
        return limit if isinstance(limit, int) else None
    return None
