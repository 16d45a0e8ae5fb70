"""status, log, diff, doctor: the commands that only read."""

from __future__ import annotations

import asyncio
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from skillevo.app import review
from skillevo.app.doctor import Row, examine
from skillevo.cli.options import format_option, project_root, show
from skillevo.config import find_root
from skillevo.errors import ConfigError
from skillevo.report.as_json import SCHEMA_VERSION, diff_json
from skillevo.report.as_text import WIDTH, cut, diff_lines, simulated_lines
from skillevo.store.history import LoggedEdit


@click.command()
@format_option
@click.pass_context
def status(context: click.Context, form: str) -> None:
    """Show the runs of this repository, how they ended, and where their branches are."""
    found = review.runs(project_root(context))
    value = {"schema_version": SCHEMA_VERSION, "runs": [_status_json(run) for run in found]}
    show(form, value, status_lines(found))


@click.command()
@click.argument("revisions", metavar="[A..B]", required=False)
@click.option("--run", help="Only edits of this run.")
@click.option("--agent", help="Only edits of this agent.")
@click.option(
    "--operator",
    type=click.Choice(["refine", "consolidate", "prune", "induce"]),
    help="Only edits of this operator.",
)
@click.option("--rejected", is_flag=True, help="Only edits that the gate rejected.")
@format_option
@click.pass_context
def log(
    context: click.Context,
    revisions: str | None,
    run: str | None,
    agent: str | None,
    operator: str | None,
    rejected: bool,
    form: str,
) -> None:
    """List edits, a line each: commit, decision, agent, skill and what was done.

    Rejected edits are listed, too: their commits stay in the repository.
    """  # fmt: skip
    root = project_root(context)
    edits = [
        edit
        for edit in review.logged_edits(root, run=run, revisions=revisions)
        if agent in (None, edit.agent)
        and operator in (None, edit.operator.value)
        and (not rejected or edit.decision.value == "reject")
    ]
    simulated = review.simulated_runs(root, (edit.run for edit in edits))
    shown = [{**_edit_json(edit), "simulated": edit.run in simulated} for edit in edits]
    value = {"schema_version": SCHEMA_VERSION, "edits": shown}
    lines = [_edit_line(edit) for edit in edits] or ["no edit"]
    show(form, value, [*lines, *simulated_lines(simulated)])


@click.command()
@click.argument("revisions", metavar="[A..B]", required=False)
@format_option
@click.pass_context
def diff(context: click.Context, revisions: str | None, form: str) -> None:
    """Compare skill libraries by structure: skills, fields, sections, sizes, red flags.

    Without A..B: what the newest run changed, from its base to its branch.
    """
    compared = review.diff(project_root(context), revisions)
    value = {**diff_json(compared.changes), "simulated": bool(compared.simulated)}
    show(form, value, [*diff_lines(compared.changes), *simulated_lines(compared.simulated)])


@click.command()
@format_option
@click.pass_context
def doctor(context: click.Context, form: str) -> None:
    """Check everything a run needs: git, settings, data, libraries, models.

    Each line says ok or FAIL, and how to mend it. Changes nothing; exit code 0 only when a run
    could start now.
    """
    folder = Path(context.find_root().params.get("folder") or ".").resolve()
    # Outside a project there is something to check, too.
    with suppress(ConfigError):
        folder = find_root(folder)
    rows = asyncio.run(examine(folder))
    value = {"schema_version": SCHEMA_VERSION, "checks": [_row_json(row) for row in rows]}
    show(form, value, [line for row in rows for line in _row_lines(row)])
    worst = next((row.exit_code for row in rows if row.exit_code), 0)
    if worst:
        raise click.exceptions.Exit(worst)


def status_lines(found: list[review.RunStatus]) -> list[str]:
    """A line or two per run, or that there is none."""
    if not found:
        return ["no run yet: skillevo evolve"]
    lines = []
    for run in found:
        kind = " (simulated)" if (run.record or {}).get("simulated") else ""
        lines.append(
            f"{run.run}{kind}: {run.accepted} candidates accepted, {run.rejected} rejected"
        )
        lines += [f"  {_scores(run)}", f"  branch skillevo/{run.run}/main"]
        lines += [f"  not done: {item}" for item in (run.record or {}).get("not_done", ())]
    return lines


def _scores(run: review.RunStatus) -> str:
    if run.record is None:
        if run.ended:
            return "ended; its result is not in this folder"
        return f"did not end; to go on: skillevo evolve --resume {run.run}"
    iterations = run.record.get("iterations") or []
    if not iterations:
        return "no iteration was finished"
    start, end = iterations[0]["base_score"], run.record.get("final_score")
    after = "not measured" if end is None else f"{end:.3f}"
    return f"validation {start:.3f} -> {after} in {len(iterations)} iterations"


def _status_json(run: review.RunStatus) -> dict[str, Any]:
    return {
        "run": run.run,
        "branch": f"skillevo/{run.run}/main" if run.head else None,
        "head": run.head,
        "accepted": run.accepted,
        "rejected": run.rejected,
        "ended": run.ended,
        "result": dict(run.record) if run.record else None,
    }


def _edit_json(edit: LoggedEdit) -> dict[str, Any]:
    return {
        "id": edit.id,
        "commit": edit.commit,
        "run": edit.run,
        "operator": edit.operator.value,
        "agent": edit.agent,
        "skill": edit.skill,
        "iteration": edit.iteration,
        "decision": edit.decision.value,
        "utility": edit.utility,
        "support": edit.support,
        "subject": edit.subject,
    }


def _edit_line(edit: LoggedEdit) -> str:
    return cut(f"{edit.commit[:9]} i{edit.iteration} {edit.decision.value:<7} {edit.subject}")


def _row_json(row: Row) -> dict[str, Any]:
    return {"name": row.name, "ok": row.exit_code == 0, "detail": row.detail, "fix": row.fix}


def _row_lines(row: Row) -> list[str]:
    if row.exit_code == 0:
        return _wrapped(f"ok    {row.name}: {row.detail}")
    fix = _wrapped(f"      -> {row.fix}") if row.fix else []
    return [*_wrapped(f"FAIL  {row.name}: {row.detail}"), *fix]


def _wrapped(text: str) -> list[str]:
    """Lines of at most ``WIDTH`` columns, so far as no path or address is broken."""
    return textwrap.wrap(
        text, WIDTH, subsequent_indent=" " * 6, break_long_words=False, break_on_hyphens=False
    )
