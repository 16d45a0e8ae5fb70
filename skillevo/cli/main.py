"""The entry point ``skillevo``."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import NoReturn

import click

from skillevo import __version__
from skillevo.cli import read_commands, run_commands
from skillevo.cli.errors import run_command
from skillevo.cli.home import home_lines

GROUPS = {
    "Start": ("demo", "init", "doctor"),
    "Improve": ("evolve",),
    "Review": ("status", "log", "diff", "validate"),
}


class Commands(click.Group):
    """Suggests a command for a mistyped one, and lists commands by what they are for."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command; UsageError with a suggestion when there is none."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            close = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"there is no command {name!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands group by group."""
        for title, names in GROUPS.items():
            with formatter.section(title):
                rows = [(name, self.commands[name].get_short_help_str(60)) for name in names]
                formatter.write_dl(rows)


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
        for line in home_lines(folder or Path()):
            click.echo(line)


for command in (
    run_commands.init,
    run_commands.evolve,
    run_commands.demo,
    read_commands.status,
    read_commands.log,
    read_commands.diff,
    read_commands.validate,
    read_commands.doctor,
):
    cli.add_command(command)


def main() -> NoReturn:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets a stand-in, not a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    sys.exit(run_command(lambda: cli.main(standalone_mode=False)))
