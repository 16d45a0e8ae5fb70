"""Skill files as git has them: of a commit, or of the index."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from posixpath import dirname, join, normpath

from skillevo.app.skill_source import (
    ConfigText,
    Source,
    anchor_of,
    config_places,
    may_be_skill,
    shown_path,
)
from skillevo.errors import EnvironmentFault, SkillevoError
from skillevo.library.rule import TreeEntry
from skillevo.store.git import Repository
from skillevo.store.values import Entry

_SYMLINK, _SUBMODULE = "120000", "160000"
_EMPTY_BLOBS = frozenset(
    {
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    }
)
"""The id of a file without content in git's two formats."""


def read_revision(base: Path, paths: Sequence[Path], revision: str) -> Source:
    """The files of a commit at or below the paths; the work tree is not looked at.

    EnvironmentFault without a repository, SkillevoError for an unknown revision or a path that is
    not there.
    """
    with Repository(base) as repository:
        commit = repository.resolve(revision)
        return _source(repository, base, paths, repository.read_tree(commit), revision)


def read_index(base: Path, paths: Sequence[Path]) -> Source:
    """The files of the index at or below the paths: what ``git commit`` would commit.

    EnvironmentFault without a repository or an index, and while a merge is unresolved.
    """
    with Repository(base) as repository:
        if repository.bare:
            raise EnvironmentFault(
                f"{repository.root} has no index",
                why="it is a bare repository",
                fix="skillevo validate --rev HEAD",
            )
        return _source(repository, base, paths, _staged(repository), "the index")


def _staged(repository: Repository) -> dict[str, Entry]:
    listed = repository.run(["ls-files", "--stage", "-z"], environment=_index_of_hook(repository))
    entries: dict[str, Entry] = {}
    for line in listed.stdout.split(b"\0")[:-1]:
        facts, _, raw = line.partition(b"\t")
        mode, oid, stage = facts.decode().split(" ")
        path = os.fsdecode(raw)
        if stage != "0":
            raise EnvironmentFault(
                f"{path} is not merged", why="the index holds several versions", fix="git add it"
            )
        if mode != _SUBMODULE:
            entries[path] = (mode, oid)
    return _without_intended(repository, entries)


def _without_intended(repository: Repository, entries: dict[str, Entry]) -> dict[str, Entry]:
    """The entries without those of ``git add --intent-to-add``, which hold no content yet.

    Such an entry has the empty blob, and the files of the work tree count as added to it.
    """
    if not any(oid in _EMPTY_BLOBS for _, oid in entries.values()):
        return entries
    added = repository.run(
        ["diff-files", "--name-only", "--diff-filter=A", "-z"],
        environment=_index_of_hook(repository),
    )
    intended = {os.fsdecode(path) for path in added.stdout.split(b"\0")}
    return {path: entry for path, entry in entries.items() if path not in intended}


def _index_of_hook(repository: Repository) -> dict[str, str]:
    """The index that git named when it started us in a hook: ``git commit -a`` has one of its own.

    Only one inside this repository counts.
    """
    named = os.environ.get("GIT_INDEX_FILE")
    if not named:
        return {}
    index = Path(named).resolve()
    inside = index.is_relative_to(repository.common_dir.resolve())
    return {"GIT_INDEX_FILE": str(index)} if inside else {}


def _source(
    repository: Repository,
    base: Path,
    paths: Sequence[Path],
    entries: Mapping[str, Entry],
    where: str,
) -> Source:
    root = str(repository.root.resolve())

    def locate(shown: str) -> str:
        if shown.startswith("/"):
            return str(Path(shown).resolve())
        return normpath(join(root, repository.prefix, shown))

    folders = _folders(entries)
    wanted: dict[str, str] = {}
    for path in paths:
        shown = shown_path(path)
        wanted |= _below(entries, folders, shown, _inside(root, locate(shown), shown), where)
    top = _inside(root, locate(""), "")
    first = next((_inside(root, locate(p.as_posix()), "") for p in paths), top)
    config = _config_path(entries, [first if first in folders else dirname(first), top])
    blobs = {own for own in wanted.values() if may_be_skill(own)} | {config or ""}
    regular = {
        own: oid for own, (mode, oid) in entries.items() if own in blobs and mode != _SYMLINK
    }
    contents = repository.read_blobs(regular.values())
    return Source(
        {
            shown: TreeEntry(contents.get(regular.get(own, "")), entries[own][0] == _SYMLINK)
            for shown, own in wanted.items()
        },
        _config_text(root, config, contents.get(regular.get(config or "", ""))),
        locate,
        lambda shown: _known(_relative(root, locate(shown)), entries, folders),
        all(_relative(root, locate(path.as_posix())) in entries for path in paths),
        anchor_of(
            dirname(path) if _relative(root, locate(path)) in entries else path
            for path in map(Path.as_posix, paths)
        ),
    )


def _folders(paths: Mapping[str, Entry]) -> frozenset[str]:
    found = {""}
    for path in paths:
        folder = dirname(path)
        while folder not in found:
            found.add(folder)
            folder = dirname(folder)
    return frozenset(found)


def _below(
    entries: Mapping[str, Entry], folders: frozenset[str], shown: str, own: str, where: str
) -> dict[str, str]:
    """Path in the repository by shown path, for what lies at or below ``own``."""
    if own in entries:
        return {shown: own}
    if own not in folders and shown:
        raise SkillevoError(
            f"{shown} is not in {where}",
            why="git has no file at or below that path there",
            fix="check the path; it is taken from the current folder",
        )
    prefix = f"{own}/" if own else ""
    return {
        join(shown, path.removeprefix(prefix)): path for path in entries if path.startswith(prefix)
    }


def _inside(root: str, place: str, shown: str) -> str:
    own = _relative(root, place)
    if own is None:
        raise SkillevoError(
            f"{shown} is outside of the repository {root}",
            why="only what git has can be read from a commit or the index",
            fix="leave out --rev and --staged to check files outside",
        )
    return own


def _relative(root: str, place: str) -> str | None:
    if place == root:
        return ""
    return place.removeprefix(f"{root}/") if place.startswith(f"{root}/") else None


def _known(own: str | None, entries: Mapping[str, Entry], folders: frozenset[str]) -> bool:
    return own is not None and (own in entries or own in folders)


def _config_path(entries: Mapping[str, Entry], folders: Sequence[str]) -> str | None:
    places = (place for folder in folders for place in config_places(folder))
    return next((place for place in places if place in entries), None)


def _config_text(root: str, path: str | None, data: bytes | None) -> ConfigText | None:
    if path is None or data is None:
        return None
    return ConfigText(normpath(join(root, dirname(path))), path, data)
