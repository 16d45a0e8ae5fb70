"""Skill files of the work tree, or of any folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
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

_PASSED_OVER = frozenset({".git", ".skillevo"})
_USUAL_BYTES = 64 * 1024
_MOST_BYTES = 16 * 1024 * 1024
"""Enough to see that a file is far too large without loading whatever lies there."""


def read_work_tree(base: Path, paths: Sequence[Path]) -> Source:
    """The files at or below the paths, which are relative to ``base`` and shown as given.

    Contents are read of skill files only. Folders of git and of skillevo's runs are passed over,
    links to folders are not followed. SkillevoError for a path that does not exist unless it is the
    skill file of a folder that does: that is a finding. EnvironmentFault for what cannot be read.
    """
    top = str(base.absolute())

    def locate(shown: str) -> str:
        return normpath(join(top, shown))

    tree: dict[str, TreeEntry] = {}
    folders = []
    for path in paths:
        shown = shown_path(path)
        place = Path(locate(shown))
        if not _exists(place) and not (may_be_skill(shown) and _exists(place.parent)):
            raise SkillevoError(
                f"{base / path} does not exist",
                why="there is nothing to check",
                fix="skillevo validate .",
            )
        if path.is_absolute():
            shown = locate(shown)
        if place.is_dir():
            folders.append(locate(shown))
            tree |= _walk(str(place), shown)
        else:
            folders.append(dirname(locate(shown)))
            tree[shown] = _entry(str(place), shown, place.is_symlink(), place.is_file())
    return Source(
        tree,
        find_config([*folders[:1], top]),
        locate,
        lambda shown: _exists(Path(locate(shown))),
        not any(Path(locate(shown_path(path))).is_dir() for path in paths),
        anchor_of(
            folder for folder, path in zip(folders, paths, strict=True) if path.is_absolute()
        ),
    )


def _walk(place: str, shown: str) -> dict[str, TreeEntry]:
    """The files below a folder; plain strings, since a Path each costs more than the checks."""
    tree: dict[str, TreeEntry] = {}
    waiting = [(place, f"{shown.rstrip('/')}/" if shown else "")]
    while waiting:
        folder, prefix = waiting.pop()
        for entry in _listed(folder):
            symlink = entry.is_symlink()
            if symlink or not entry.is_dir():
                path = prefix + entry.name
                tree[path] = _entry(entry.path, path, symlink, not symlink and entry.is_file())
            elif entry.name not in _PASSED_OVER:
                waiting.append((entry.path, f"{prefix}{entry.name}/"))
    return tree


def _exists(path: Path) -> bool:
    """False, too, for a name that no file can have, such as one of thousands of characters."""
    try:
        return path.exists()
    except OSError:
        return False


def _listed(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError as error:
        raise _unreadable(folder, error) from error


def _entry(place: str, shown: str, symlink: bool, regular: bool) -> TreeEntry:
    if not regular or symlink or not may_be_skill(shown):
        return TreeEntry(symlink=symlink)
    try:
        with Path(place).open("rb", buffering=0) as file:
            data = file.read(_USUAL_BYTES)
            # Room for the most bytes, taken for each of many small files, costs more than reading.
            if len(data) == _USUAL_BYTES:
                data += file.read(_MOST_BYTES - _USUAL_BYTES)
            return TreeEntry(data)
    except OSError as error:
        raise _unreadable(place, error) from error


def find_config(folders: Sequence[str]) -> ConfigText | None:
    """The nearest skillevo.toml at or above the first of the absolute folders that has one."""
    for folder in folders:
        for place in config_places(folder):
            path = Path(place)
            if path.is_file():
                try:
                    data = path.read_bytes()
                except OSError as error:
                    raise _unreadable(place, error) from error
                return ConfigText(str(path.parent), place, data)
    return None


def _unreadable(place: str, error: OSError) -> EnvironmentFault:
    return EnvironmentFault(
        f"{place} cannot be read",
        why=error.strerror or str(error),
        fix="change its permissions, or leave it out",
    )
