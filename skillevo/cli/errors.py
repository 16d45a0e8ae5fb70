"""The one place that turns exceptions into words and an exit code."""

from __future__ import annotations

import errno
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

import click

from skillevo.errors import EXIT_BUG, EXIT_ENVIRONMENT, EXIT_INTERRUPTED, SkillevoError
from skillevo.library.characters import log_line, visible


def run_command(command: Callable[[], object]) -> int:
    """Run and return the exit code; every error is told once, on stderr, in one shape."""
    try:
        result = command()
    except BaseException as error:
        return _report(error)
    # Without its standalone mode click gives back the code of an Exit instead of raising it.
    return result if isinstance(result, int) else 0


def _report(error: BaseException) -> int:
    leaf = _most_telling(error)
    match leaf:
        case SystemExit():
            return leaf.code if isinstance(leaf.code, int) else int(leaf.code is not None)
        case click.exceptions.Exit():
            return leaf.exit_code
        case click.ClickException():
            _tell(leaf.format_message(), *_usage(leaf))
            return leaf.exit_code
        case KeyboardInterrupt() | click.Abort():
            _tell("interrupted", "nothing was merged after the last finished iteration", "")
            return EXIT_INTERRUPTED
        case SkillevoError():
            _tell(leaf.what, leaf.why, leaf.fix)
            return leaf.exit_code
        case BrokenPipeError():
            return broken_pipe()
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            _drop_output()
            _tell("there is no space left to write to", str(leaf), "free some and try again")
            return EXIT_ENVIRONMENT
    return _bug(error)


def broken_pipe() -> int:
    """The exit code when whoever read our output has gone; nothing more is written to it."""
    _drop_output()
    return 128 + signal.SIGPIPE


def _drop_output() -> None:
    # What is still in the buffer would be a second complaint at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: click.ClickException) -> tuple[str, str]:
    """Why and fix of a command line that cannot be understood."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context else "skillevo"
    return "the command line cannot be understood", f"{command} --help"


def _most_telling(error: BaseException) -> BaseException:
    """The leaf of an exception group that explains the rest: an interrupt, then what a user can
    act on, then a bug."""
    leaves = _leaves(error)
    for kind in (KeyboardInterrupt, SkillevoError):
        for leaf in leaves:
            if isinstance(leaf, kind):
                return leaf
    return leaves[0]


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in _leaves(inner)]
    return [error]


def _bug(error: BaseException) -> int:
    handle, name = tempfile.mkstemp(prefix="skillevo-", suffix=".log")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write("".join(traceback.format_exception(error)))
    leaf = _leaves(error)[0]
    why = f"{type(leaf).__name__}: {leaf}"
    _tell("this is a bug in skillevo", why, f"please report it with {Path(name)}")
    return EXIT_BUG


def _tell(what: str, why: str, fix: str) -> None:
    """What, why and fix, a line each; text from files and servers loses its control characters."""
    click.echo(log_line(f"error: {visible(what, 600)}"), err=True)
    if why:
        click.echo(log_line(f"  why: {visible(why, 600)}"), err=True)
    if fix:
        click.echo(log_line(f"  fix: {visible(fix, 600)}"), err=True)
