"""Trees written through an index of our own, never through the user's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from skillevo.store.git import Repository
from skillevo.store.plumbing import index_info
from skillevo.store.values import Entry


class TreeWriter:
    """A tree under construction: what was written last is the base of what comes next."""

    def __init__(self, repository: Repository, index: Path, tree: str) -> None:
        self._repository = repository
        self._environment = {"GIT_INDEX_FILE": str(index)}
        self._run("read-tree", tree)

    def write(self, changes: Mapping[bytes, Entry | None]) -> str:
        """Set or (None) remove paths; the id of the whole tree."""
        lines = index_info(changes, self._repository.oid_length)
        self._run("update-index", "-z", "--index-info", stdin=lines)
        # In a partial clone blobs that nobody asked for are not here, and need not be.
        return self._run("write-tree", "--missing-ok")

    def _run(self, *arguments: str, stdin: bytes = b"") -> str:
        return self._repository.run(arguments, stdin=stdin, environment=self._environment).line


@contextmanager
def tree_writer(repository: Repository, tree: str) -> Iterator[TreeWriter]:
    """A writer that starts from a commit or tree; its index goes when the context ends."""
    with repository.private_folder() as folder:
        yield TreeWriter(repository, folder / "index", tree)
