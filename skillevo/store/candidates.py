"""The git side of a run: candidates, one commit per edit, merges; never the user's own branches."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from skillevo.core.refs import (
    candidate_branch,
    edit_id,
    edit_message,
    merge_message,
    rejected_ref,
    run_branch,
    short_ref,
    valid_agent,
    valid_name,
    valid_run,
)
from skillevo.errors import ConfigError, ConflictError, LibraryError
from skillevo.store.git import Repository
from skillevo.store.libraries import SKILL_FILE, SKILLS, read_libraries
from skillevo.store.trees import TreeWriter, tree_writer
from skillevo.store.values import Entry, Identity, RefChange, Stamp
from skillevo.types import Candidate, CommittedEdit, Edit, Library, Verdict

_REGULAR = ("100644", "100755")


class GitStore:
    """Implements ``ports.LibraryStore`` for one run in one repository.

    Commit n of the run is dated ``started`` + n seconds, zone +0000, so that equal inputs give
    equal object ids. ``skills`` is the folder of the libraries from the top of the repository.
    Calls may come from several threads; they take turns. ConfigError for a run id or an agent that
    cannot be part of a ref name.
    """

    def __init__(
        self,
        repository: Repository,
        *,
        run: str,
        started: int,
        author: Identity,
        committer: Identity,
        agents: Sequence[str],
        sign: bool = False,
        skills: str = SKILLS,
    ) -> None:
        _check_names(run, agents)
        self._repository = repository
        self._run = run
        self._branch = run_branch(run)
        self._started = started
        self._author = author
        self._committer = committer
        self._agents = tuple(agents)
        self._sign = sign
        self._skills = skills
        self._commits = 0
        self._edits = 0
        self._tip = ""
        self._turn = threading.RLock()

    def team_libraries(self, revision: str) -> Mapping[str, Library]:
        """The libraries of the run's agents at a commit; an absent folder is an empty library."""
        with self._turn:
            commit = self._repository.resolve(revision)
            return read_libraries(self._repository, commit, self._agents, self._skills)

    def begin(self, run: str, base: str) -> None:
        """Create the run branch at ``base``; ConflictError when it exists.

        When commits are to be signed, one is signed first, so that a broken key is told before
        any model is called.
        """
        if run != self._run:
            raise ValueError(f"this store serves run {self._run}, not {run}")
        with self._turn:
            commit = self._repository.resolve(base)
            if self._sign:
                probe = f"Probe the signing key for run {run}\n"
                self._repository.commit_tree(
                    f"{commit}^{{tree}}", [commit], probe, self._stamp(), sign=True
                )
            self._move([RefChange(self._branch, commit, None)], f"begin {run}")
            self._tip = commit

    def commit(
        self, agent: str, iteration: int, edits: Sequence[Edit], base: str
    ) -> Sequence[CommittedEdit]:
        """Write each edit as one commit on the agent's candidate branch, from ``base`` on.

        The first edit creates the branch, each next one moves it from where the last one left it.
        Nothing is created for no edits. LibraryError for an edit that does not fit the library.
        """
        with self._turn:
            start = self._repository.resolve(base)
            if not edits:
                return ()
            ref = candidate_branch(self._run, agent, iteration)
            folder = f"{self._skills}/{agent}/"
            files = self._repository.list_tree(start, folder)
            committed: list[CommittedEdit] = []
            tip: str | None = None
            with tree_writer(self._repository, start) as writer:
                for edit in edits:
                    tree = self._write(writer, folder, files, edit, tip or start)
                    name = edit_id(self._run, self._edits + 1)
                    message = edit_message(
                        edit, name=name, run=self._run, iteration=iteration, base=start
                    )
                    commit = self._commit(tree, [tip or start], message)
                    self._move([RefChange(ref, commit, tip)], f"edit {name}")
                    self._edits += 1
                    tip = commit
                    committed.append(CommittedEdit(name, edit, commit))
            return tuple(committed)

    def accept(self, candidate: Candidate, verdict: Verdict) -> str:
        """Merge the candidate into the run branch; the merge commit's id.

        One transaction moves the run branch and deletes the candidate's head, which stays
        reachable as second parent. ConflictError when the agent's folder changed on the run branch
        since the candidate's base, or a ref moved meanwhile.
        """
        with self._turn:
            tip = self._repository.resolve(self._branch)
            tree = self._merged_tree(tip, candidate)
            moved = tip if self._tip and tip != self._tip else ""
            message = merge_message(candidate, verdict, run=self._run, base_moved=moved)
            merge = self._commit(tree, [tip, candidate.head], message)
            self._move(
                [
                    RefChange(self._branch, merge, tip),
                    RefChange(self._candidate_ref(candidate), None, candidate.head),
                ],
                f"accept {candidate.agent} of iteration {candidate.iteration}",
            )
            self._tip = merge
            return merge

    def reject(self, candidate: Candidate, verdict: Verdict) -> None:
        """Keep the candidate's head for inspection; the run branch stays where it is.

        A second ref outside the branches records the decision and outlives the head.
        """
        head = candidate.head
        mark = rejected_ref(self._run, candidate.agent, candidate.iteration)
        with self._turn:
            self._move(
                [
                    RefChange(self._candidate_ref(candidate), head, head),
                    RefChange(mark, head, None),
                ],
                f"{verdict.decision} {candidate.agent} of iteration {candidate.iteration}",
            )

    def _write(
        self, writer: TreeWriter, folder: str, files: dict[bytes, Entry], edit: Edit, before: str
    ) -> str:
        """Apply ``edit`` to ``files`` (all paths under ``folder``); the id of the new tree."""
        changes = self._changes(folder, files, edit)
        tree = writer.write(changes)
        for path in self._repository.changed_paths(before, tree):
            if not path.startswith(folder.encode()):
                raise LibraryError(
                    f"edit of {folder}{edit.skill} would touch {path.decode(errors='replace')}",
                    why="a candidate may touch only its own agent's folder",
                    fix="make the two paths distinct in the commit the run starts from",
                )
        for path, entry in changes.items():
            if entry is None:
                del files[path]
            else:
                files[path] = entry
        return tree

    def _changes(
        self, folder: str, files: Mapping[bytes, Entry], edit: Edit
    ) -> dict[bytes, Entry | None]:
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
            blob = self._repository.write_blob(_encoded(folder, edit.skill, edit.text))
            changes[path] = (mode if mode in _REGULAR else _REGULAR[0], blob)
        return changes

    def _merged_tree(self, tip: str, candidate: Candidate) -> str:
        folder = f"{self._skills}/{candidate.agent}"
        tree = self._repository.merge_trees(tip, candidate.head)
        wanted = self._repository.object_at(candidate.head, folder)
        if tree is None or self._repository.object_at(tree, folder) != wanted:
            raise ConflictError(
                f"candidate {short_ref(candidate.branch)} is stale",
                why=f"{folder} changed on {short_ref(self._branch)} since the candidate's base",
                fix="start a new run from the present state",
            )
        return tree

    def _candidate_ref(self, candidate: Candidate) -> str:
        return candidate_branch(self._run, candidate.agent, candidate.iteration)

    def _stamp(self) -> Stamp:
        return Stamp(self._author, self._committer, self._started + self._commits)

    def _commit(self, tree: str, parents: Sequence[str], message: str) -> str:
        self._commits += 1
        return self._repository.commit_tree(tree, parents, message, self._stamp(), sign=self._sign)

    def _move(self, changes: Sequence[RefChange], reason: str) -> None:
        self._repository.move_refs(changes, self._stamp(), reason=f"skillevo: {reason}")


def _encoded(folder: str, name: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise LibraryError(
            f"the new text of {folder}{name} cannot be written as UTF-8",
            why=f"it has half a character at position {error.start}",
            fix="drop the edit",
        ) from error


def _check_names(run: str, agents: Sequence[str]) -> None:
    if not valid_run(run):
        raise ConfigError(
            f"invalid run id {run!r}",
            why="it becomes part of branch names: 1 to 64 of a-z, 0-9 and inner hyphens",
            fix="--run-id my-run-1",
        )
    for agent in agents:
        if not valid_agent(agent):
            raise ConfigError(
                f"invalid agent name {agent!r}",
                why="it becomes a folder and part of branch names: a-z, 0-9, single inner hyphens,"
                " at most 64, not 'main'",
                fix="rename the agent in skillevo.toml",
            )


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
