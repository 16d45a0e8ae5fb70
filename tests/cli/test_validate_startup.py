"""A command imports what it needs and no more: a check of one file must not wait for the rest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skillevo.cli.main import COMMANDS, GROUPS, cli

HEAVY = {"asyncio", "git", "jsonschema", "openai", "rich", "skillevo.config", "skillevo.pipeline"}
LOADED = """
import sys
from skillevo.cli.errors import run_command
from skillevo.cli.main import cli
code = run_command(lambda: cli.main(sys.argv[1:], standalone_mode=False))
print(code, *sorted(set(sys.modules) & {names!r}), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments", [["validate"], ["validate", "--format", "github"], ["--help"], ["--version"]]
)
def test_light_command_imports_nothing_heavy(tmp_path: Path, arguments: list[str]) -> None:
    skill = tmp_path / "sort" / "SKILL.md"
    skill.parent.mkdir()
    skill.write_text("---\nname: sort\ndescription: Sorts. Use when asked.\n---\n\nDo it.\n")
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(names=HEAVY), *arguments],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr.splitlines() == ["0"]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_is_listed_and_can_be_loaded(name: str) -> None:
    command = cli.get_command(
        cli.make_context("skillevo", ["--help"], resilient_parsing=True), name
    )
    assert command is not None
    assert command.name == name
    assert sum(name in names for names in GROUPS.values()) == 1
