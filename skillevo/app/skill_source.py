"""What is to be checked, wherever it comes from: the work tree, a commit or the index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from posixpath import basename, commonpath, dirname, normpath

from skillevo.library.rule import TreeEntry

CONFIG_NAME = "skillevo.toml"


@dataclass(frozen=True, slots=True)
class ConfigText:
    """A skillevo.toml: its absolute folder, its name for messages, its bytes."""

    folder: str
    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Source:
    """A tree of files, by path as it is shown.

    ``locate`` gives the absolute place of a shown path, ``exists`` tells whether anything is at
    one, in or out of the tree. ``single_files`` is true when no folder was asked for. ``anchor`` is
    the absolute folder that absolute paths are checked from, with a slash at its end.
    """

    tree: Mapping[str, TreeEntry]
    config: ConfigText | None
    locate: Callable[[str], str]
    exists: Callable[[str], bool]
    single_files: bool
    anchor: str = "/"

    def skill_files(self) -> Iterator[tuple[str, bytes]]:
        """The skill files that could be read, in path order."""
        for path, entry in sorted(self.tree.items()):
            if entry.data is not None and may_be_skill(path):
                yield path, entry.data


def shown_path(path: Path) -> str:
    """A path as findings show it: ``a/../b`` is ``b``, the current folder is nothing."""
    shown = normpath(path.as_posix())
    return "" if shown == "." else shown


def may_be_skill(path: str) -> bool:
    """True for a SKILL.md however it is spelled: a wrong spelling is a finding."""
    return basename(path).lower() == "skill.md"


def config_places(folder: str) -> Iterator[str]:
    """Where a skillevo.toml for ``folder`` may be, nearest first; ``""`` is the topmost folder."""
    while True:
        yield f"{folder.rstrip('/')}/{CONFIG_NAME}" if folder else CONFIG_NAME
        parent = dirname(folder)
        if parent == folder:
            return
        folder = parent


def anchor_of(folders: Iterable[str]) -> str:
    """The folder around all of the absolute ones among ``folders``, with a slash at its end."""
    around = [dirname(folder) for folder in folders if folder.startswith("/")]
    return f"{commonpath(around).rstrip('/')}/" if around else "/"
