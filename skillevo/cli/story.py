"""A run told on stdout as it happens: who it is, each iteration as it ends, what it came to."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from skillevo.app.evolve import Evolved
from skillevo.report.as_text import closing_lines, cut, iteration_lines
from skillevo.types import IterationResult


class Story:
    """Prints lines as they become known; ``silent`` keeps stdout for JSON."""

    def __init__(self, *, silent: bool) -> None:
        self._silent = silent
        self._group_size = 1

    def __call__(self, kind: str, data: dict[str, Any]) -> None:
        """Follow one event: the run's beginning is told, the rest comes through ``finished``."""
        if kind != "run":
            return
        self._group_size = data["group_size"]
        label = " (simulated)" if data["simulated"] else ""
        lines = [f"run {data['run']}{label} from {data['base'][:9]}"]
        if data["uncommitted"]:
            lines.append(f"{data['uncommitted']} modified SKILL.md are not part of this run")
        if data["drafts"]:
            lines.append(cut(f"used as they are, not as committed: {', '.join(data['drafts'])}"))
        self.tell(lines)

    def finished(self, iteration: IterationResult) -> None:
        """Tell an iteration as it ends."""
        self.tell(iteration_lines(iteration, self._group_size))

    def end(self, evolved: Evolved, folder: Path) -> None:
        """Tell what the run came to, and the commands worth trying next."""
        lines = closing_lines(evolved.result, evolved.usage, simulated=evolved.simulated)
        self.tell([*lines, *_next(folder, evolved)])

    def tell(self, lines: Iterable[str]) -> None:
        """Print lines now."""
        if not self._silent:
            for line in lines:
                click.echo(line)


def command(folder: Path, *words: str) -> str:
    """A command line that can be pasted: this program, working on ``folder``."""
    return shlex.join([program(), "-C", place(folder), *words])


def program() -> str:
    """How this program is called here: its name when that is found, else its path."""
    called = sys.argv[0]
    known = shutil.which("skillevo")
    if known is None and Path(called).name == "skillevo":
        return os.path.relpath(called)
    return "skillevo"


def place(folder: Path) -> str:
    """A folder as short as it can be said from here."""
    relative = os.path.relpath(folder)
    return str(folder) if relative.startswith("..") else relative


def _next(folder: Path, evolved: Evolved) -> list[str]:
    branch = evolved.result.branch
    here = place(folder)
    git = ["git", "-C", here]
    lines = ["next:", "  " + command(folder, "log"), "  " + command(folder, "diff")]
    lines.append("  " + shlex.join([*git, "log", "--graph", "--oneline", "--branches"]))
    if any(agent.merge for i in evolved.result.iterations for agent in i.agents):
        lines += ["to take the edits:", "  " + shlex.join([*git, "merge", branch])]
    return lines
