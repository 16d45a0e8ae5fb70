"""The command line called in this process, on projects free of the developer's settings."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

GLOBAL_IDENTITY = "[user]\n\tname = A. User\n\temail = user@example.com\n"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command left: its exit code and everything it printed."""

    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        """Standard output by lines."""
        return self.out.splitlines()


def skillevo(*arguments: str | Path, cwd: Path | None = None) -> Outcome:
    """``skillevo ARGUMENTS`` in this process, through the one handler of errors."""
    # Imported when first used: tests of single rooms need not wait for the whole program.
    from skillevo.cli.errors import run_command
    from skillevo.cli.main import cli

    out, err, path = io.StringIO(), io.StringIO(), list(sys.path)
    words = [str(argument) for argument in arguments]
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        if cwd is not None:
            stack.enter_context(contextlib.chdir(cwd))
        # A run adds its project to the import path.
        stack.callback(lambda: sys.path.__setitem__(slice(None), path))
        code = run_command(lambda: cli.main(words, prog_name="skillevo", standalone_mode=False))
    return Outcome(code, out.getvalue(), err.getvalue())


def spawn(*arguments: str | Path, cwd: Path, **environment: str) -> Outcome:
    """``skillevo ARGUMENTS`` as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "skillevo", *map(str, arguments)],
        cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout, done.stderr)


def hear_interrupts() -> None:
    """For ``preexec_fn``: hear Ctrl-C also where the tests are a background job that ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def assert_told(outcome: Outcome, code: int, *words: str) -> None:
    """The command failed with ``code`` and one error of the one shape that holds ``words``."""
    lines = outcome.err.splitlines()
    assert outcome.code == code, outcome.err
    assert [line for line in lines if line.startswith("error: ")] == lines[:1], outcome.err
    assert [line[:7] for line in lines[1:]] == ["  why: ", "  fix: "], outcome.err
    assert "Traceback" not in outcome.out + outcome.err
    # A run that began has said so; nothing else is a result.
    assert all(line.startswith("run ") for line in outcome.out.splitlines()), outcome.out
    for word in words:
        assert word in outcome.err


def isolate(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """A home below ``folder`` with an identity and nothing else, and no repository above."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        patch.delenv(name)
    for name in ("XDG_CONFIG_HOME", "EMAIL", "SOURCE_DATE_EPOCH", "SKILLEVO_CACHE"):
        patch.delenv(name, raising=False)
    home = folder / "home"
    home.mkdir(parents=True)
    (home / "gitconfig").write_text(GLOBAL_IDENTITY)
    patch.setenv("HOME", str(home))
    patch.setenv("GIT_CONFIG_GLOBAL", str(home / "gitconfig"))
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    patch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))


def git(root: Path, *arguments: str) -> str:
    """What a git command prints, as the user would call it."""
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=True)
    return done.stdout.decode(errors="surrogateescape").removesuffix("\n")


def contents(root: Path) -> dict[str, str]:
    """The digest of every file below ``root``, git's included; links count as their targets."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


class Workshop:
    """A folder of one test with a project in it. ``configure`` sets the global git settings."""

    def __init__(self, folder: Path, pristine: Path) -> None:
        self.folder = folder
        self.root = folder / "project"
        shutil.copytree(pristine, self.root, symlinks=True)

    def configure(self, text: str) -> None:
        """Replace the global git configuration."""
        (self.folder / "home" / "gitconfig").write_text(text)

    def run(self, *arguments: str | Path) -> Outcome:
        """``skillevo -C PROJECT ARGUMENTS``."""
        return skillevo("-C", self.root, *arguments)

    def git(self, *arguments: str) -> str:
        """A git command in the project."""
        return git(self.root, *arguments)

    def save(self) -> str:
        """Commit everything; the commit."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "Save")
        return self.git("rev-parse", "HEAD")

    def write(self, path: str, text: str | bytes) -> None:
        """Write a file of the project."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())

    def settings(self, old: str, new: str) -> int:
        """Replace ``old``, which must stand in skillevo.toml; the line (from 1) where it stood."""
        path = self.root / "skillevo.toml"
        text = path.read_text()
        before, found, after = text.partition(old)
        assert found, old
        path.write_text(before + new + after)
        return before.count("\n") + 1

    def models(self, table: str, roles: tuple[str, ...] = ("actor", "critic", "optimizer")) -> None:
        """Put ``table`` (TOML lines) in place of each role's simulated model."""
        for role in roles:
            old = f'[models.{role}]\nbase_url = "simulated"'
            self.settings(old, f"[models.{role}]\n{table}")

    @property
    def runs(self) -> Path:
        """Where run directories are made."""
        return self.root / ".skillevo" / "runs"


@contextlib.contextmanager
def patched(folder: Path) -> Iterator[pytest.MonkeyPatch]:
    """An isolated environment for as long as the context is open."""
    with pytest.MonkeyPatch.context() as patch:
        isolate(folder, patch)
        yield patch


def make_pristine(folder: Path) -> Path:
    """The simulated project that ``init`` makes, committed at a fixed date."""
    from skillevo.app.project import init_project

    with patched(folder):
        made = init_project(folder / "project", "qa", profile="simulated", fixed=True)
    return made.root
