"""init, evolve, demo: the commands that write."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from skillevo.app.evolve import Evolved, evolve_project, resume_project
from skillevo.app.models import fetch_embedded
from skillevo.app.origin import DEMO_ORIGIN
from skillevo.app.project import PROFILES, STARTS, TEMPLATES, Created, init_project
from skillevo.cli.options import format_option, inside, project_root, show
from skillevo.cli.progress import watching
from skillevo.cli.story import Story, command
from skillevo.config import CONFIG_NAME
from skillevo.errors import SkillevoError
from skillevo.report.as_json import SCHEMA_VERSION, run_json

DEMO_MINUTES = 5


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--template",
    type=click.Choice(TEMPLATES),
    default="qa",
    show_default=True,
    help="qa: a reader and an answerer on 72 short questions about short texts.",
)
@click.option(
    "--start",
    type=click.Choice(STARTS),
    default="empty",
    show_default=True,
    help="Libraries to start from: none, or one good, one bad and one irrelevant skill.",
)
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    default="embedded",
    show_default=True,
    help="Models in skillevo.toml: a tiny one on this machine, none at all, or a server.",
)
@format_option
@click.pass_context
def init(
    context: click.Context, folder: Path, template: str, start: str, profile: str, form: str
) -> None:
    """Write a complete project to DIR: settings, roles, data, skill libraries.

    DIR becomes a git repository with one commit unless it is one already. Nothing is overwritten.
    """  # fmt: skip
    folder = inside(context, folder)
    made = init_project(folder, template, start=start, profile=profile)
    show(form, _created_json(made), _created_lines(made, folder))


@click.command()
@click.option(
    "--iterations", type=click.IntRange(1), help="Iterations instead of [evolve] iterations."
)
@click.option("--seed", type=click.IntRange(0), help="Run seed instead of [project] seed.")
@click.option("--run-id", "run", help="Name of the run, part of its branches; default: the time.")
@click.option("--resume", metavar="RUN", help="Go on with a run that did not end.")
@click.option("--wait", is_flag=True, help="Let another run in this repository end first.")
@format_option
@click.pass_context
def evolve(
    context: click.Context,
    iterations: int | None,
    seed: int | None,
    run: str | None,
    resume: str | None,
    wait: bool,
    form: str,
) -> None:
    """Improve the skill libraries of this project by evidence.

    Samples groups of rollouts, credits skills, commits edits on candidate branches, tests each
    agent's candidate on its own and merges what passes into skillevo/RUN/main. Your branches,
    index and files stay as they are.

    A run that was interrupted goes on with --resume: with the settings it began with, and without
    asking any model twice.
    """
    root = project_root(context)
    if resume is not None and (iterations, seed, run) != (None, None, None):
        raise click.UsageError("--resume takes the options that the run began with")
    overrides: dict[str, dict[str, Any]] = {}
    if iterations is not None:
        overrides["evolve"] = {"iterations": iterations}
    if seed is not None:
        overrides["project"] = {"seed": seed}
    story = Story(silent=form == "json")
    with watching(story) as watch:
        if resume is not None:
            evolved = asyncio.run(resume_project(root, watch, resume, wait=wait))
        else:
            begun = evolve_project(root, watch, overrides=overrides, run=run, wait=wait)
            evolved = asyncio.run(begun)
    if not isinstance(evolved, Evolved):
        show(form, evolved, [f"the run {resume} has ended already: there is nothing to resume"])
        return
    story.end(evolved, root)
    if form == "json":
        show(form, _evolved_json(evolved), ())


@click.command()
@click.option(
    "--simulated",
    is_flag=True,
    help="Rule-based stand-ins instead of a language model: seconds, offline, repeatable.",
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    help="Where the example project is made.  [default: skillevo-demo, or skillevo-demo-simulated]",
)
@click.option(
    "--start",
    type=click.Choice(STARTS),
    default="empty",
    show_default=True,
    help="Libraries to start from.",
)
@format_option
@click.pass_context
def demo(
    context: click.Context, simulated: bool, folder: Path | None, start: str, form: str
) -> None:
    """Make the example project and evolve it: init, evolve, and what to look at next.

    The embedded language model is fetched once (98 MB) and runs on this machine for about four
    minutes, five at most.
    """
    profile = "simulated" if simulated else "embedded"
    folder = inside(context, folder or Path(f"skillevo-demo{'-simulated' if simulated else ''}"))
    story = Story(silent=form == "json")
    check_demo(folder)
    if not simulated:
        # A model that cannot be had must not leave a half-finished demo behind.
        fetch_embedded(lambda text: click.echo(text, err=True))
    made = init_project(folder, "qa", start=start, profile=profile, fixed=simulated, own=True)
    story.tell(_demo_head(made, folder, simulated))
    with watching(story) as watch:
        evolved = asyncio.run(
            evolve_project(
                folder,
                watch,
                overrides={} if simulated else {"budget": {"minutes": DEMO_MINUTES}},
                fixed=DEMO_ORIGIN if simulated else None,
            )
        )
    story.end(evolved, folder)
    if form == "json":
        show(form, _evolved_json(evolved), ())


def check_demo(folder: Path) -> None:
    """Raise SkillevoError when the demo's folder was used before."""
    if (folder / CONFIG_NAME).exists():
        raise SkillevoError(
            f"{folder} holds a project already",
            why="the demo makes a project of its own",
            fix=f"{command(folder, 'evolve')} goes on with it; or demo --dir another-folder",
        )


def _demo_head(made: Created, folder: Path, simulated: bool) -> list[str]:
    kind = "simulated: rules, no language model" if simulated else "embedded language model"
    lines = [f"skillevo demo ({kind}) in {folder}"]
    if made.wrote_identity:
        lines.append("(git knew no identity: a local one was written to this repository)")
    return lines


def _created_json(made: Created) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "root": str(made.root),
        "files": list(made.files),
        "commit": made.commit,
        "wrote_identity": made.wrote_identity,
    }


def _created_lines(made: Created, folder: Path) -> list[str]:
    lines = [f"wrote {len(made.files)} files to {folder}"]
    if made.commit is None:
        lines.append("it is a git repository already: look at the files and commit them")
    else:
        lines.append(f"made it a git repository with one commit {made.commit[:9]}")
    if made.wrote_identity:
        lines.append("git knew no identity: a local one was written; see `git config --local -l`")
    if made.inside is not None:
        lines.append(f"note: it lies inside the repository {made.inside}, which does not track it")
    return [*lines, "next:", "  " + command(folder, "doctor"), "  " + command(folder, "evolve")]


def _evolved_json(evolved: Evolved) -> dict[str, Any]:
    return run_json(evolved.result, evolved.usage, simulated=evolved.simulated)
