"""The skill libraries as they stand at a commit."""

from __future__ import annotations

from collections.abc import Iterable

from skillevo.errors import LibraryError
from skillevo.library.standard import Standard
from skillevo.library.tree import library_from_files
from skillevo.store.git import Repository
from skillevo.types import Library

SKILLS = "skills"
SKILL_FILE = "SKILL.md"


def agents_at(repository: Repository, commit: str) -> tuple[str, ...]:
    """The agents that have a library folder with files at a commit, sorted."""
    paths = repository.read_tree(commit, SKILLS)
    return tuple(sorted({path.split("/")[1] for path in paths if path.count("/") > 1}))


def read_libraries(
    repository: Repository,
    commit: str,
    agents: Iterable[str],
    folder: str = SKILLS,
    *,
    standard: Standard,
) -> dict[str, Library]:
    """The libraries of these agents by name; an absent folder is an empty library.

    LibraryError when a skill is below the standard, or where a folder should be something else is.
    """
    agents = tuple(agents)
    _check_folders(repository, commit, folder, agents)
    files = repository.read_tree(commit, folder)
    texts = repository.read_blobs(blob for path, (_, blob) in files.items() if _is_skill(path))
    libraries = {}
    for agent in agents:
        prefix = f"{folder}/{agent}/"
        own = {
            path.removeprefix(prefix): (mode, blob, texts[blob] if _is_skill(path) else None)
            for path, (mode, blob) in files.items()
            if path.startswith(prefix)
        }
        libraries[agent] = library_from_files(agent, own, standard=standard)
    return libraries


def _check_folders(repository: Repository, commit: str, folder: str, agents: Iterable[str]) -> None:
    """A link, a file or a submodule in a library's place reads as empty and cannot be written."""
    entries = repository.list_tree(commit, folder)
    for path in (folder, *(f"{folder}/{agent}" for agent in agents)):
        if path.encode() in entries:
            raise LibraryError(
                f"{path} is no folder",
                why="skills are kept in folders of this repository, not behind a link",
                fix=f"make {path} a folder and commit it",
            )


def _is_skill(path: str) -> bool:
    return path.rpartition("/")[2] == SKILL_FILE
