"""The tree of a candidate: one agent's folder with an edit applied, and nothing else changed."""

from __future__ import annotations

from collections.abc import Mapping

from skillevo.core.refs import valid_name
from skillevo.errors import LibraryError
from skillevo.store.git import Repository
from skillevo.store.libraries import SKILL_FILE
from skillevo.store.objects import ObjectWriter
from skillevo.store.trees import TreeWriter
from skillevo.store.values import Entry
from skillevo.types import Edit

_REGULAR = ("100644", "100755")


class CandidateTree:
    """Applies edits one after the other, from the commit ``start`` on.

    ``folder`` is the agent's library from the top of the repository, with a slash at its end. New
    texts wait in ``objects``: no ref may name the tree before they are flushed.
    """

    def __init__(
        self,
        repository: Repository,
        objects: ObjectWriter,
        writer: TreeWriter,
        folder: str,
        start: str,
    ) -> None:
        self._repository = repository
        self._objects = objects
        self._writer = writer
        self._folder = folder
        self._before = start
        self._files = repository.list_tree(start, folder)

    def apply(self, edit: Edit) -> str:
        """The id of the tree after the edit; LibraryError when the edit does not fit."""
        changes = self._changes(edit)
        tree = self._writer.write(changes)
        for path in self._repository.changed_paths(self._before, tree):
            if not path.startswith(self._folder.encode()):
                raise LibraryError(
                    f"edit of {self._folder}{edit.skill} would touch "
                    f"{path.decode(errors='replace')}",
                    why="a candidate may touch only its own agent's folder",
                    fix="make the two paths distinct in the commit the run starts from",
                )
        for path, entry in changes.items():
            if entry is None:
                del self._files[path]
            else:
                self._files[path] = entry
        self._before = tree
        return tree

    def _changes(self, edit: Edit) -> dict[bytes, Entry | None]:
        folder, files = self._folder, self._files
        for name in (edit.skill, *edit.removes):
            _check_skill(folder, name, files)
        changes: dict[bytes, Entry | None] = {}
        for name in edit.removes:
            gone = [path for path in files if path.startswith(f"{folder}{name}/".encode())]
            if not gone:
                raise LibraryError(
                    f"there is no skill {folder}{name} to remove",
                    why=f"the edit starts from a library without it ({edit.operator})",
                    fix="run skillevo validate on the commit the run starts from",
                )
            changes |= dict.fromkeys(gone)
        if edit.text is not None:
            path = f"{folder}{edit.skill}/{SKILL_FILE}".encode()
            mode = files[path][0] if path in files else ""
            blob = self._objects.blob(_encoded(folder, edit.skill, edit.text))
            changes[path] = (mode if mode in _REGULAR else _REGULAR[0], blob)
        return changes


def _encoded(folder: str, name: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise LibraryError(
            f"the new text of {folder}{name} cannot be written as UTF-8",
            why=f"it has half a character at position {error.start}",
            fix="drop the edit",
        ) from error


def _check_skill(folder: str, name: str, files: Mapping[bytes, Entry]) -> None:
    """A skill's folder comes from a valid name that no other folder resembles."""
    if not valid_name(name):
        raise LibraryError(
            f"invalid skill name {name!r} in {folder}",
            why="it becomes a folder: a-z, 0-9, single inner hyphens, at most 64",
            fix="rename the skill",
        )
    for path in files:
        other = path.removeprefix(folder.encode()).partition(b"/")[0]
        if other.lower() == name.encode() and other != name.encode():
            raise LibraryError(
                f"skill {folder}{name} collides with {folder}{other.decode(errors='replace')}",
                why="the names differ by case only, which not every file system can hold",
                fix="rename one of them",
            )
