"""The skill libraries as they stand at a commit."""

from __future__ import annotations

from collections.abc import Iterable

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
    repository: Repository, commit: str, agents: Iterable[str], folder: str = SKILLS
) -> dict[str, Library]:
    """The libraries of these agents by name; an absent folder is an empty library.

    LibraryError when a skill breaks an error rule.
    """
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
        libraries[agent] = library_from_files(agent, own)
    return libraries


def _is_skill(path: str) -> bool:
    return path.rpartition("/")[2] == SKILL_FILE
