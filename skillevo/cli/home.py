"""``skillevo`` alone: the way in, and what is going on in this repository."""

from __future__ import annotations

from pathlib import Path

from skillevo import __version__
from skillevo.app import review
from skillevo.cli.read_commands import status_lines
from skillevo.config import find_root
from skillevo.errors import SkillevoError

_WAY = """
  1. skillevo demo --simulated  see the mechanics in seconds, without a model
  2. skillevo init DIR          a project of your own, for your model server
  3. skillevo -C DIR evolve     improve its skills; look with status, log, diff

start    demo, init, doctor        improve  evolve
review   status, log, diff         check    verify, validate
help     skillevo COMMAND --help
""".strip("\n")


def home_lines(folder: Path) -> list[str]:
    """The home screen; a repository that cannot be read is told, not raised."""
    lines = [f"skillevo {__version__}: skills improved by evidence, a commit per edit", ""]
    lines += [*_WAY.splitlines(), ""]
    try:
        root = find_root(folder)
    except SkillevoError:
        return [*lines, "here: no project (skillevo.toml)"]
    try:
        found = review.runs(root)
    except SkillevoError as error:
        return [*lines, f"here: {root}, {error.what}", f"      {error.fix}"]
    return [*lines, f"here: {root}, {len(found)} runs", *status_lines(found[-1:])]
