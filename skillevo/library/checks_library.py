"""Layer 5 of the checker: how skills lie in folders, and how those of a library fit together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from posixpath import basename, dirname, join, normpath

from skillevo.library.rule import TreeEntry
from skillevo.library.similar import similar_pairs

SKILL_FILE = "SKILL.md"


@dataclass(frozen=True, slots=True)
class Placed:
    """A rule broken by a file's place or by its neighbors."""

    rule: str
    path: str
    message: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Layout:
    """A tree of files as the library rules see it; every path is relative to one root.

    ``skill_set`` are the folders with a SKILL.md, ``misnamed`` those with a file of that name in
    other case, ``below`` the skill folders under each folder. ``libraries`` maps a library's root
    and agent to the names of its folders.
    """

    files: Mapping[str, TreeEntry]
    folders: frozenset[str]
    skill_set: frozenset[str]
    misnamed: frozenset[str]
    below: Mapping[str, list[str]]
    libraries: Mapping[tuple[str, str], tuple[str, ...]]

    @classmethod
    def of(cls, files: Mapping[str, TreeEntry]) -> Layout:
        """The layout of the files; a deeper ``skills`` folder counts only when it holds skills."""
        skill_set = frozenset(dirname(path) for path in files if basename(path) == SKILL_FILE)
        misnamed = frozenset(
            dirname(path)
            for path in files
            if basename(path) != SKILL_FILE and basename(path).casefold() == "skill.md"
        )
        below = _by_ancestor(skill_set)
        libraries = {
            (root, agent): tuple(sorted(names))
            for (root, agent), names in sorted(_library_folders(files).items())
            if join(root, agent) not in skill_set and (root == "skills" or root in below)
        }
        return cls(files, _folders_of(files), skill_set, misnamed, below, libraries)

    def outer_skill(self, folder: str) -> str | None:
        """The nearest skill folder that contains ``folder``, or None."""
        above = (*_ancestors(folder), "") if folder else ()
        return next((outer for outer in above if outer in self.skill_set), None)


def check_layout(layout: Layout, library_limit: int | None) -> Iterator[Placed]:
    """Faults of places: collisions, nesting, folders without a skill, libraries over the limit."""
    yield from _collisions(layout)
    for folder in sorted(layout.skill_set):
        outer = layout.outer_skill(folder)
        if outer is not None:
            message = f"the skill lies inside the skill {basename(outer) or '.'!r}"
            yield Placed("nested-skill", _skill_file(folder), message)
    for (root, agent), names in layout.libraries.items():
        base = join(root, agent)
        yield from _folders(layout, base, names)
        count = sum(join(base, name) in layout.skill_set for name in names)
        if library_limit is not None and count > library_limit:
            message = f"{agent!r} has {count} skills; the limit is {library_limit}"
            yield Placed("library-size", base, message)
    yield from _same_names(layout)


def check_descriptions(layout: Layout, descriptions: Mapping[str, str]) -> Iterator[Placed]:
    """Nearly equal descriptions inside one library; ``descriptions`` are by skill folder."""
    for (root, agent), names in layout.libraries.items():
        folders = {name: join(root, agent, name) for name in names}
        own = {
            name: descriptions[folder] for name, folder in folders.items() if folder in descriptions
        }
        for later, earlier in similar_pairs(own):
            message = f"the description is nearly that of {earlier!r}"
            yield Placed("similar-descriptions", _skill_file(folders[later]), message)


def check_links(layout: Layout, path: str, links: tuple[tuple[int, str], ...]) -> Iterator[Placed]:
    """Links of the skill file at ``path`` to what is neither a file nor a folder of the tree."""
    for offset, target in links:
        place = normpath(join(dirname(path), target))
        if place.startswith("..") or place in layout.files or place in layout.folders:
            continue
        yield Placed("missing-link", path, f"there is no file {target!r}", offset)


def _ancestors(path: str) -> Iterator[str]:
    """The folders above ``path``, nearest first, without the root itself."""
    folder = dirname(path)
    while folder not in ("", "/"):
        yield folder
        folder = dirname(folder)


def _by_ancestor(skills: Iterable[str]) -> dict[str, list[str]]:
    below: defaultdict[str, list[str]] = defaultdict(list)
    for skill in sorted(skills):
        for folder in _ancestors(skill):
            below[folder].append(skill)
    return dict(below)


def _library_folders(paths: Iterable[str]) -> Mapping[tuple[str, str], set[str]]:
    """The names of the folders below each (…/skills, agent)."""
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for path in paths:
        parts = path.split("/")
        if "skills" in parts[:-3]:
            depth = parts.index("skills")
            root = "/".join(parts[: depth + 1])
            found[root, parts[depth + 1]].add(parts[depth + 2])
    return found


def _folders_of(paths: Iterable[str]) -> frozenset[str]:
    """Every folder that holds one of the paths, ``.`` for the root."""
    found = {"."}
    for path in paths:
        for folder in _ancestors(path):
            if folder in found:
                break
            found.add(folder)
    return frozenset(found)


def _folders(layout: Layout, base: str, names: tuple[str, ...]) -> Iterator[Placed]:
    for name in names:
        folder = join(base, name)
        if folder in layout.skill_set or folder in layout.misnamed or name.startswith("."):
            continue
        deeper = layout.below.get(folder, ())
        for skill in deeper:
            yield Placed("skill-depth", _skill_file(skill), "the skill lies too deep")
        if not deeper:
            message = f"the folder {name!r} has no SKILL.md"
            yield Placed("missing-skill-file", _skill_file(folder), message)


def _same_names(layout: Layout) -> Iterator[Placed]:
    first: dict[tuple[str, str], str] = {}
    for (root, agent), names in layout.libraries.items():
        for name in names:
            folder = join(root, agent, name)
            if folder not in layout.skill_set:
                continue
            other = first.setdefault((root, name), agent)
            if other != agent:
                message = f"{other!r} has a skill {name!r} too"
                yield Placed("duplicate-skill-name", _skill_file(folder), message)


def _collisions(layout: Layout) -> Iterator[Placed]:
    """Paths that are one path on a disk that ignores case, each level reported once."""
    spelled: dict[str, str] = {}
    for path in sorted(layout.files):
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            prefix = "/".join(parts[:depth])
            other = spelled.setdefault(prefix.casefold(), prefix)
            if other != prefix:
                yield Placed("case-collision", path, f"{other!r} differs by case only")
                break


def _skill_file(folder: str) -> str:
    return join(folder, SKILL_FILE)
