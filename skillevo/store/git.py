"""The one place that runs git: safe processes, and a repository read and written by plumbing.

No call touches the user's working tree, index, HEAD, stash, configuration or branches, except
``Repository.init``, which makes a new repository.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from skillevo.errors import EnvironmentFault, SkillevoError
from skillevo.store.faults import cannot_start, failed_command, missing_git, unwritable
from skillevo.store.plumbing import Plumbing, index_info
from skillevo.store.values import SKILLEVO, Identity, Initialized, RefChange, Result, Stamp

if TYPE_CHECKING:
    from git.cmd import Git

OLDEST_GIT = (2, 38)
TIMEOUT_S = 120.0
FORBIDDEN = frozenset({
    "add", "am", "apply", "checkout", "checkout-index", "cherry-pick", "clean", "clone", "commit",
    "filter-branch", "gc", "interpret-trailers", "merge", "mv", "pull", "rebase", "reset",
    "restore", "rm", "stash", "switch",
})  # fmt: skip
"""Commands that may touch what is the user's, or that run what a configuration says."""

_IDENT = re.compile(r"(.*) <(.*)> \d+ [+-]\d+")
_VERSION = re.compile(r"git version (\d+)\.(\d+)")
_FIXED = {
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LANGUAGE": "C",
    "LC_ALL": "C",
}
# What ties git to another repository or slips configuration in, for instance inside a hook. Where
# the user keeps the configuration (GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM) stays the user's choice.
_SCRUBBED = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_ATTR_SOURCE", "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_DATE", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS", "GIT_DIFF_OPTS", "GIT_DIR", "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS", "GIT_GRAFT_FILE", "GIT_ICASE_PATHSPECS", "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE", "GIT_INDEX_VERSION", "GIT_NAMESPACE", "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REFLOG_ACTION", "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
)  # fmt: skip
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
PRIVATE = "skillevo"
"""The folder inside the git directory that is ours."""

_REV_PARSE = ("rev-parse", "--path-format=absolute")
_FACTS = (
    "--is-bare-repository", "--is-inside-work-tree", "--show-object-format", "--git-common-dir",
)  # fmt: skip
_NOT_A_REPOSITORY = "not a git repository"
_NO_HOOKS = ("-c", f"core.hooksPath={os.devnull}")


@cache
def _git() -> type[Git]:
    # GitPython refuses to be imported without a git program; that is told by us, as an error.
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    from git.cmd import Git

    return Git


def run_git(
    folder: Path,
    arguments: Sequence[str],
    *,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    hooks: bool = False,
    accept: Collection[int] | None = (0,),
) -> Result:
    """Run one git command in ``folder``, which must exist, and wait for it.

    ``arguments`` starts with the command or with ``-c`` settings. A status outside ``accept``
    (None takes any) raises the SkillevoError that fits git's words. A forbidden command is a bug:
    ValueError.
    """
    name = next((a for a in arguments if not a.startswith("-") and "=" not in a), "")
    if name in FORBIDDEN:
        raise ValueError(f"git {name} may touch what is the user's")
    if shutil.which("git") is None:
        raise missing_git()
    given = environment or {}
    inherited = [name for name in _SCRUBBED if name in os.environ and name not in given]
    unset = [part for name in inherited for part in ("-u", name)]
    command = ["env", *unset] if unset else []
    command += ["git", *_SAFE, *(() if hooks else _NO_HOOKS), *arguments]
    try:
        with tempfile.TemporaryFile() as source:
            source.write(stdin)
            source.seek(0)
            status, stdout, stderr = _git()(folder).execute(
                command,
                istream=source,
                env={**_FIXED, **given},
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                kill_after_timeout=TIMEOUT_S,
            )
    except OSError as error:
        raise cannot_start(error) from error
    result = Result(status, bytes(stdout), stderr)
    if accept is not None and status not in accept:
        raise failed_command(name, status, stderr)
    return result


class Repository(Plumbing):
    """One repository, found from any directory inside its work tree or from a bare one.

    A context manager: leaving it removes what is temporary. Raises EnvironmentFault when there is
    no repository, git is missing or too old, or git does not trust the repository's owner.

    ``root`` is the top of the work tree (of the repository itself when bare), ``prefix`` where in
    it the repository was opened (``""`` or ``sub/folder/``), ``common_dir`` the git directory that
    all work trees share.
    """

    def __init__(self, path: Path) -> None:
        start = _existing(path)
        _check_version(start)
        found = run_git(start, [*_REV_PARSE, *_FACTS], accept=None)
        if found.status != 0:
            raise _no_repository(path, found)
        bare, inside, self.object_format, common = found.line.split("\n", 3)
        self.bare = bare == "true"
        if not self.bare and inside != "true":
            raise _no_repository(path, found)
        self.common_dir = Path(common)
        self.root = self.common_dir
        self.prefix = ""
        if not self.bare:
            self.root = Path(run_git(start, [*_REV_PARSE, "--show-toplevel"]).line)
            self.prefix = run_git(start, [*_REV_PARSE, "--show-prefix"]).line

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the private folder in the git directory unless something else lives in it."""
        with suppress(OSError):
            (self.common_dir / PRIVATE).rmdir()

    def run(
        self,
        arguments: Sequence[str],
        *,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        hooks: bool = False,
        accept: Collection[int] | None = (0,),
    ) -> Result:
        """``run_git`` in this repository."""
        return run_git(
            self.root,
            arguments,
            stdin=stdin,
            environment=environment,
            hooks=hooks,
            accept=accept,
        )

    def head(self) -> tuple[str, str | None]:
        """The commit of HEAD and its branch, None when detached.

        EnvironmentFault when there is no commit yet.
        """
        commit = self.find_object("HEAD^{commit}")
        if commit is None:
            raise EnvironmentFault(
                f"{self.root} has no commit yet",
                why="a run starts from a commit",
                fix='git add -A && git commit -m "Start"',
            )
        ref = self.run(["symbolic-ref", "--quiet", "HEAD"], accept=(0, 1)).line
        return commit, ref.removeprefix("refs/heads/") or None

    def identity(self) -> Identity:
        """The user's committer identity; EnvironmentFault when none is configured."""
        found = self._configured_identity()
        if found is None:
            raise EnvironmentFault(
                "git does not know who you are",
                why="user.name or user.email is not set, and commits need both",
                fix='git config user.name "Your Name" && git config user.email you@example.com',
            )
        return found

    def _configured_identity(self) -> Identity | None:
        # Without useConfigOnly git would make an address up from the host's name.
        asked = ["-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT"]
        match = _IDENT.fullmatch(self.run(asked, accept=None).line)
        return Identity(match[1], match[2]) if match else None

    @property
    def signs(self) -> bool:
        """True when the user's configuration asks for signed commits."""
        asked = ["config", "--type=bool", "--get", "commit.gpgsign"]
        return self.run(asked, accept=(0, 1)).line == "true"

    def modified_skills(self, folder: str = "skills") -> int:
        """How many SKILL.md files under ``folder`` differ between HEAD and the work tree."""
        return sum(name.endswith("/SKILL.md") for name in self.modified(folder))

    def modified(self, *paths: str) -> tuple[str, ...]:
        """The files at or below ``paths`` that differ between HEAD and the work tree, sorted."""
        if self.bare or not paths:
            return ()
        status = self.run(
            ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames",
             "--ignore-submodules=all", "--", *paths]
        )  # fmt: skip
        return tuple(sorted(os.fsdecode(line[3:]) for line in status.stdout.split(b"\0") if line))

    @contextmanager
    def private_folder(self) -> Iterator[Path]:
        """A temporary folder inside the git directory, out of the work tree's sight."""
        home = self.common_dir / PRIVATE
        try:
            home.mkdir(exist_ok=True)
            folder = tempfile.TemporaryDirectory(dir=home, prefix="index-")
        except OSError as error:
            raise unwritable(home, error) from error
        with folder as name:
            yield Path(name)

    @classmethod
    def init(
        cls,
        path: Path,
        files: Mapping[str, bytes],
        *,
        message: str,
        time_s: int,
        identity: Identity | None = None,
        deterministic: bool = False,
    ) -> Initialized:
        """Make ``path`` a repository whose one commit holds ``files``, byte for byte.

        The caller has written the same files to ``path``, so that git sees a clean work tree. No
        hook runs. ``identity`` defaults to the configured one; where none is configured a local
        one is written. ``deterministic`` fixes the hash function and the branch name. Nothing is
        done when ``path`` is the top of a repository already; below one it becomes a repository of
        its own.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(path, error) from error
        _check_version(path)
        found = run_git(path, ["rev-parse", "--git-dir"], accept=None)
        if found.status == 0:
            with cls(path) as existing:
                if existing.bare or existing.root.resolve() == path.resolve():
                    return Initialized(existing.root, None, False)
        elif _NOT_A_REPOSITORY not in found.stderr:
            raise failed_command("rev-parse", found.status, found.stderr)
        branch = run_git(path, ["config", "--get", "init.defaultBranch"], accept=None).line
        options = ["--initial-branch=" + ("main" if deterministic else branch or "main")]
        if deterministic:
            options.append("--object-format=sha1")
        run_git(path, ["init", "--quiet", *options])
        with cls(path) as repository:
            return repository._first_commit(files, message, time_s, identity)

    def _first_commit(
        self, files: Mapping[str, bytes], message: str, time_s: int, identity: Identity | None
    ) -> Initialized:
        configured = self._configured_identity()
        who = identity or configured or SKILLEVO
        if configured is None:
            self.run(["config", "--local", "user.name", who.name])
            self.run(["config", "--local", "user.email", who.email])
        entries = {path.encode(): ("100644", self.write_blob(files[path])) for path in files}
        self.run(["update-index", "-z", "--index-info"], stdin=index_info(entries, self.oid_length))
        stamp = Stamp(who, who, time_s)
        commit = self.commit_tree(self.run(["write-tree"]).line, [], message, stamp)
        branch = self.run(["symbolic-ref", "HEAD"]).line
        self.move_refs(
            [RefChange(branch, commit, None)], stamp, reason="skillevo: init", hooks=False
        )
        self.run(["update-index", "-q", "--refresh"], accept=None)
        return Initialized(self.root, commit, configured is None)


def _existing(path: Path) -> Path:
    folder = path.parent if path.is_file() else path
    if not folder.is_dir():
        raise EnvironmentFault(f"no such directory: {folder}", fix=f"mkdir -p {folder}")
    return folder


def _check_version(folder: Path) -> None:
    line = run_git(folder, ["version"]).line
    match = _VERSION.match(line)
    if match is None or (int(match[1]), int(match[2])) < OLDEST_GIT:
        raise EnvironmentFault(
            f"git is too old: {line}",
            why="candidates are merged with git merge-tree --write-tree",
            fix="install git 2.38 or later",
        )


def _no_repository(path: Path, found: Result) -> SkillevoError:
    if found.status != 0 and _NOT_A_REPOSITORY not in found.stderr:
        return failed_command("rev-parse", found.status, found.stderr)
    return EnvironmentFault(
        f"{path} is not in the work tree of a git repository",
        why="skills and every edit of them live in git",
        fix="git init (in your project), or skillevo init DIR (a new one)",
    )
