"""A run is told as it happens, and every command that is shown can be pasted."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from fakes.workshop import Workshop, skillevo

from skillevo.cli.story import Story, command, place, program
from skillevo.report.as_text import UNREAD, iteration_lines
from skillevo.types import CriticCounts, IterationResult

BEGUN = {"run": "r", "simulated": False, "base": "b" * 40, "uncommitted": 0, "drafts": [],
         "group_size": 3}  # fmt: skip


def iteration(critic: CriticCounts) -> IterationResult:
    return IterationResult(1, 0.5, 2, 0.25, 1, (), critic, (), ())


def test_an_iteration_is_told_when_it_ends(capsys: pytest.CaptureFixture[str]) -> None:
    story = Story(silent=False)
    story("run", BEGUN)
    assert capsys.readouterr().out == "run r from bbbbbbbbb\n"
    story.finished(iteration(CriticCounts(accepted=2)))
    assert capsys.readouterr().out.startswith("iteration 1: 2 questions x 3 rollouts")


def test_a_silent_story_leaves_stdout_to_json(capsys: pytest.CaptureFixture[str]) -> None:
    story = Story(silent=True)
    story("run", BEGUN)
    story.finished(iteration(CriticCounts(accepted=2)))
    assert capsys.readouterr().out == ""


def test_a_critic_of_which_nothing_could_be_used_is_warned_about() -> None:
    told = " ".join(" ".join(iteration_lines(iteration(CriticCounts(unusable=2)), 3)).split())
    assert UNREAD in told
    fine = CriticCounts(unusable=1, repaired=1)
    assert not any("warning" in line for line in iteration_lines(iteration(fine), 3))


def test_a_shown_command_names_the_program_as_it_can_be_called_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "bin" / "skillevo"
    script.parent.mkdir()
    script.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script), "demo"])
    monkeypatch.setenv("PATH", os.defpath)
    assert program() == "bin/skillevo"
    assert command(tmp_path / "my demo", "log") == "bin/skillevo -C 'my demo' log"
    monkeypatch.setenv("PATH", str(script.parent))
    assert program() == "skillevo"


def test_a_place_is_said_as_short_as_it_can_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert place(tmp_path / "d") == "d"
    assert place(tmp_path.parent) == str(tmp_path.parent)


def test_demo_and_init_take_their_folder_from_where_c_points(workshop: Workshop) -> None:
    inner = workshop.folder / "inner"
    inner.mkdir()
    told = skillevo("-C", inner, "init", "p", "--profile", "simulated", cwd=workshop.folder)
    assert told.code == 0
    assert (inner / "p" / "skillevo.toml").is_file()
