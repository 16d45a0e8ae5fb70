"""verify: are the commits of a run what its evidence says?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import click

from skillevo.app.verify import verify as verify_runs
from skillevo.app.verify_report import Verified
from skillevo.cli.options import format_option, project_root, show
from skillevo.errors import EXIT_FINDINGS
from skillevo.library.characters import visible
from skillevo.report.as_json import SCHEMA_VERSION


@click.command()
@click.argument("run", metavar="[RUN]", required=False)
@format_option
@click.pass_context
def verify(context: click.Context, run: str | None, form: str) -> None:
    """Check that commits, evidence and records of runs agree: one RUN, or all.

    Every edit commit has its evidence with the right digest and touches its agent's folder only;
    every merge has its decision and holds what the candidate holds; every citation leads to a
    recorded step. Exit code 1 when something is wrong.
    """
    found = verify_runs(project_root(context), run)
    wrong = any(one.findings for one in found)
    value = {
        "schema_version": SCHEMA_VERSION,
        "ok": not wrong,
        "runs": [_json(one) for one in found],
    }
    show(form, value, _lines(found))
    if wrong:
        context.exit(EXIT_FINDINGS)


def _json(one: Verified) -> dict[str, Any]:
    return {
        "run": one.run,
        "ok": not one.findings,
        "edits": one.edits,
        "merges": one.merges,
        "citations": one.citations,
        "problems": [
            {"check": found.check, "place": found.place, "message": found.message}
            for found in one.findings
        ],
        "not_checked": list(one.not_checked),
    }


def _lines(found: Sequence[Verified]) -> Iterable[str]:
    for one in found:
        state = f"{len(one.findings)} problems" if one.findings else "ok"
        counts = f"{one.edits} edits, {one.merges} merges, {one.citations} citations"
        yield f"{one.run}: {state} ({counts})"
        for finding in one.findings:
            yield visible(f"  FAIL {finding.check} {finding.place}: {finding.message}", 500)
        for text in one.not_checked:
            yield f"  not checked: {text}"
    if not found:
        yield "there is no run to check"
