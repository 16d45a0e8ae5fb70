"""Help explains every option, and output without a terminal is plain."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from fakes.workshop import Workshop, skillevo, spawn

from skillevo import __version__
from skillevo.cli.errors import run_command
from skillevo.cli.main import COMMANDS, GROUPS, cli
from skillevo.errors import EXIT_BUG, EXIT_INTERRUPTED, BudgetReached, ServerError

ESCAPE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_explains_the_command_and_each_option(name: str) -> None:
    command = cli.get_command(click.Context(cli), name) if name else cli
    assert command is not None
    outcome = skillevo(*([name] if name else []), "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert command.help
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name
            assert all(name in outcome.out for name in option.opts)
            assert " ".join(option.help.split()) in " ".join(outcome.out.split())
    assert max(map(len, outcome.lines)) <= 90


def test_every_command_is_in_one_group_of_the_help() -> None:
    listed = [name for names in GROUPS.values() for name in names]
    assert sorted(listed) == sorted(COMMANDS)


def test_version_is_the_packages() -> None:
    assert skillevo("--version").out == f"skillevo, version {__version__}\n"


@pytest.mark.parametrize("variables", [{}, {"NO_COLOR": "1"}, {"TERM": "xterm-256color"}])
def test_output_without_a_terminal_holds_no_escape_codes(
    workshop: Workshop, variables: dict[str, str]
) -> None:
    told = spawn("evolve", "--iterations", "1", cwd=workshop.root, **variables)
    assert told.code == 0
    assert told.err == ""
    assert not ESCAPE.search(told.out)
    assert told.out.isascii() or set(re.sub(r"[ -~\n]", "", told.out)) <= {"±"}


def test_broken_pipe_is_no_error(workshop: Workshop, tmp_path: Path) -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

        def fileno(self) -> int:
            return self.target.fileno()

    with (tmp_path / "target").open("w") as target:
        stream = Closed()
        stream.target = target  # type: ignore[attr-defined]
        with contextlib.redirect_stdout(stream):
            code = run_command(lambda: cli.main(["--help"], standalone_mode=False))
    assert code == 141


# --- the one handler ------------------------------------------------------------------------------


def told(error: BaseException, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    def fail() -> None:
        raise error

    code = run_command(fail)
    return code, capsys.readouterr().err


def test_bug_is_told_without_a_traceback_and_logged(capsys: pytest.CaptureFixture[str]) -> None:
    code, err = told(ZeroDivisionError("by zero"), capsys)
    assert code == EXIT_BUG
    assert err.startswith("error: this is a bug in skillevo\n  why: ZeroDivisionError: by zero\n")
    path = Path(err.rpartition("with ")[2].strip())
    assert "Traceback" in path.read_text()
    path.unlink()


def test_interrupt_is_told_with_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    code, err = told(KeyboardInterrupt(), capsys)
    assert code == EXIT_INTERRUPTED
    assert err.startswith("error: interrupted")


def test_output_that_has_no_space_left_is_the_environments(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def fail() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    kept = os.dup(1)
    try:
        assert run_command(fail) == 3
    finally:
        os.dup2(kept, 1)
        os.close(kept)
    assert capfd.readouterr().err.startswith("error: there is no space left to write to\n  why: ")


def test_reader_that_goes_away_is_no_finding(workshop: Workshop) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "skillevo", "status"], cwd=workshop.root,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_of_several_errors_the_one_a_user_can_act_on_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    group = ExceptionGroup(
        "x", [ValueError("a"), ExceptionGroup("y", [ServerError("gone", why="w", fix="f")])]
    )
    assert told(group, capsys) == (3, "error: gone\n  why: w\n  fix: f\n")


def test_control_characters_of_servers_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, err = told(ServerError("red \x1b[31m\u202e", why="a\nb"), capsys)
    assert not ESCAPE.search(err)
    assert "\u202e" not in err
    assert len(err.splitlines()) == 2


def test_cap_that_nobody_caught_is_a_bug(capsys: pytest.CaptureFixture[str]) -> None:
    code, err = told(BudgetReached("calls"), capsys)
    assert code == EXIT_BUG
    Path(err.rpartition("with ")[2].strip()).unlink()
