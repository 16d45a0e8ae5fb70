"""What the README shows is what the product prints."""

from __future__ import annotations

import re
from pathlib import Path

from skillevo.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_verdicts_are_those_of_the_simulated_demo() -> None:
    shown = re.search(r"```\n(iteration 1: .*?)```", README, re.DOTALL)
    golden = (Path(__file__).parent / "golden" / "demo_simulated.txt").read_text(encoding="utf-8")
    assert shown is not None
    assert shown[1] in golden


def test_the_graph_shows_the_commits_of_the_simulated_demo() -> None:
    graph = README[README.index("*   ") : README.index("<- your branch")]
    golden = (Path(__file__).parent / "golden" / "demo_simulated.txt").read_text(encoding="utf-8")
    for commit in re.findall(r"\* +([0-9a-f]{7}) ", graph):
        assert commit in golden


def test_every_command_that_it_names_exists_and_every_link_leads_somewhere() -> None:
    for name in re.findall(
        r"skillevo (?:-C \S+ )?([a-z]+)\b", "".join(re.findall(r"`[^`]+`", README))
    ):
        assert name in COMMANDS, name
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_it_has_exactly_two_commands_and_ci_runs_the_second() -> None:
    commands = README[README.index("## Two commands") : README.index("## What a run")]
    blocks = re.findall(r"```sh\n(.*?)```", commands, re.DOTALL)
    assert [len(block.splitlines()) for block in blocks] == [1, 1]
    assert "skillevo demo" in blocks[0]
    assert "pytest" in blocks[1]
    assert "<!-- test-command -->" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
