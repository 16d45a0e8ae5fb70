"""The entry point ``skillevo``."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import click

from skillevo import __version__
from skillevo.cli.errors import broken_pipe, run_command

COMMANDS = {
    "demo": ("run_commands", "Make the example project and evolve it."),
    "init": ("run_commands", "Write a complete project: settings, roles, data, libraries."),
    "doctor": ("read_commands", "Check everything a run needs, and say how to mend it."),
    "evolve": ("run_commands", "Improve the skill libraries of this project by evidence."),
    "status": ("read_commands", "Show the runs, how they ended, where their branches are."),
    "log": ("read_commands", "List edits with their decision, agent and skill."),
    "diff": ("read_commands", "Compare skill libraries by structure."),
    "verify": ("verify_command", "Check that commits and evidence of runs agree."),
    "validate": ("validate_command", "Check SKILL.md files against the format."),
}
"""Module and a line of help for each command: only the one that is called is imported."""

GROUPS = {
    "Start": ("demo", "init", "doctor"),
    "Improve": ("evolve",),
    "Review": ("status", "log", "diff", "verify", "validate"),
}


class Commands(click.Group):
    """Imports a command when it is called, suggests one for a mistyped one, lists them by use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now; None when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        found = getattr(import_module(f"skillevo.cli.{COMMANDS[cmd_name][0]}"), cmd_name)
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command; UsageError with a suggestion when there is none."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            import difflib

            close = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"there is no command {name!r}.{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a broken pipe gets its own exit code, where click's is 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise click.exceptions.Exit(broken_pipe()) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands group by group."""
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, COMMANDS[name][1]) for name in names])


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 90},
)
@click.version_option(__version__, "-V", "--version", prog_name="skillevo")
@click.option(
    "-C",
    "folder",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Work on the project in DIR instead of the current folder.",
)
@click.pass_context
def cli(context: click.Context, folder: Path | None) -> None:
    """Evolve the skill libraries of a team of LLM agents by evidence.

    Skills live in skills/<agent>/<skill>/SKILL.md of a git repository. Every edit is one commit;
    only candidates that pass the gate are merged.
    """
    if context.invoked_subcommand is None:
        from skillevo.cli.home import home_lines

        for line in home_lines(folder or Path()):
            click.echo(line)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line, or these arguments, and exit with its code."""
    # Short commands make much that lives to their end: looking for garbage in it is in vain.
    gc.set_threshold(10_000)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets a stand-in, not a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    _end_in_order()
    sys.exit(run_command(lambda: cli.main(arguments, standalone_mode=False)))


def _end_in_order() -> None:
    """Let the signals that ask a process to go, as a runner that cancels a job sends them, do what
    Ctrl-C does: what a run has begun is then closed and stopped. Nothing changes for an ignored
    signal, nor where Ctrl-C itself is ignored, as in a script's background job."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))
