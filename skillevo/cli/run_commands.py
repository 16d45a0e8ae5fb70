"""init, evolve, demo: the commands that write."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from skillevo.app.evolve import Evolved, evolve_project
from skillevo.app.origin import DEMO_ORIGIN
from skillevo.app.project import PROFILES, STARTS, TEMPLATES, Created, init_project
from skillevo.cli.options import format_option, project_root, show
from skillevo.cli.progress import watching
from skillevo.report.as_json import SCHEMA_VERSION, run_json
from skillevo.report.as_text import closing_lines, iteration_lines

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
def init(folder: Path, template: str, start: str, profile: str, form: str) -> None:
    """Write a complete project to DIR: settings, roles, data, skill libraries.

    DIR becomes a git repository with one commit unless it is one already. Nothing is overwritten.
    """  # fmt: skip
    made = init_project(folder, template, start=start, profile=profile)
    show(form, _created_json(made), _created_lines(made, folder))


@click.command()
@click.option(
    "--iterations", type=click.IntRange(1), help="Iterations instead of [evolve] iterations."
)
@click.option("--seed", type=click.IntRange(0), help="Run seed instead of [project] seed.")
@click.option("--run-id", "run", help="Name of the run, part of its branches; default: the time.")
@format_option
@click.pass_context
def evolve(
    context: click.Context, iterations: int | None, seed: int | None, run: str | None, form: str
) -> None:
    """Improve the skill libraries of this project by evidence.

    Samples groups of rollouts, credits skills, commits edits on candidate branches, tests each
    agent's candidate on its own and merges what passes into skillevo/RUN/main. Your branches,
    index and files stay as they are.
    """
    overrides: dict[str, dict[str, Any]] = {}
    if iterations is not None:
        overrides["evolve"] = {"iterations": iterations}
    if seed is not None:
        overrides["project"] = {"seed": seed}
    root = project_root(context)
    with watching() as watch:
        evolved = asyncio.run(evolve_project(root, watch, overrides=overrides, run=run))
    show(form, _evolved_json(evolved), [*_evolved_lines(evolved), *_next(root, evolved)])


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
    default=Path("skillevo-demo"),
    show_default=True,
    help="Where the example project is made.",
)
@click.option(
    "--start",
    type=click.Choice(STARTS),
    default="empty",
    show_default=True,
    help="Libraries to start from.",
)
@format_option
def demo(simulated: bool, folder: Path, start: str, form: str) -> None:
    """Make the example project and evolve it: init, evolve, and what to look at next.

    The embedded language model is fetched once (98 MB) and runs on this machine for about four
    minutes, five at most.
    """  # fmt: skip
    profile = "simulated" if simulated else "embedded"
    made = init_project(folder, "qa", start=start, profile=profile, fixed=simulated, own=True)
    if form == "text":
        show(form, {}, _demo_head(made, folder, simulated))
    with watching() as watch:
        evolved = asyncio.run(
            evolve_project(
                folder,
                watch,
                overrides={} if simulated else {"budget": {"minutes": DEMO_MINUTES}},
                fixed=DEMO_ORIGIN if simulated else None,
            )
        )
    show(form, _evolved_json(evolved), [*_evolved_lines(evolved), *_next(folder, evolved)])


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
    return [*lines, "next:", f"  skillevo -C {folder} doctor", f"  skillevo -C {folder} evolve"]


def _evolved_json(evolved: Evolved) -> dict[str, Any]:
    return run_json(evolved.result, evolved.usage, simulated=evolved.simulated)


def _evolved_lines(evolved: Evolved) -> list[str]:
    label = " (simulated)" if evolved.simulated else ""
    lines = [f"run {evolved.result.run}{label} from {evolved.result.base[:9]}"]
    if evolved.uncommitted:
        lines.append(f"{evolved.uncommitted} modified SKILL.md files are not part of this run")
    for iteration in evolved.result.iterations:
        lines += iteration_lines(iteration, evolved.group_size)
    return [*lines, *closing_lines(evolved.result, evolved.usage)]


def _next(folder: Path, evolved: Evolved) -> list[str]:
    branch = evolved.result.branch
    lines = ["next:", f"  skillevo -C {folder} log", f"  skillevo -C {folder} diff"]
    if any(agent.merge for i in evolved.result.iterations for agent in i.agents):
        lines.append(f"  git -C {folder} log --graph --oneline {branch}")
        lines += ["to take the edits:", f"  git -C {folder} merge --ff-only {branch}"]
    return lines
