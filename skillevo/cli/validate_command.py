"""validate: check skill files, wherever they are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from skillevo.app.skill_files import read_work_tree
from skillevo.app.skill_source import Source
from skillevo.app.validate import Checked, with_options
from skillevo.app.validate import validate as check
from skillevo.app.validate_settings import Settings, read_settings
from skillevo.errors import EnvironmentFault
from skillevo.library.characters import log_line, visible

FORMATS = ("text", "json", "github", "sarif", "markdown")


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--rev", metavar="REV", help="Check the files of this commit, not the work tree.")
@click.option("--staged", is_flag=True, help="Check what is staged in git's index.")
@click.option(
    "--profile",
    type=click.Choice(["spec", "claude-code", "codex"]),
    help="Whose rules count beyond the format itself.  [default: [validate] profile, or spec]",
)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    help="From which severity on the exit code is 1.  [default: [validate] fail_on, or error]",
)
@click.option("--fix", is_flag=True, help="Repair what is safe to: encoding marks, fences, quotes.")
@click.option("--diff", is_flag=True, help="Show what --fix changes; alone, change nothing.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="For people, programs, annotations, code scanning or a job summary.",
)
@click.option(
    "--summary",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also append the findings to FILE as Markdown.",
)
@click.pass_context
def validate(
    context: click.Context,
    paths: tuple[Path, ...],
    rev: str | None,
    staged: bool,
    profile: str | None,
    fail_on: str | None,
    fix: bool,
    diff: bool,
    form: str,
    summary: Path | None,
) -> None:
    """Check every SKILL.md at or below PATHS (default: this folder) against the format.

    Needs neither git nor a project. Exit code 0 when nothing is wrong, 1 when something is or when
    --diff shows a repair.
    """  # fmt: skip
    if rev is not None and staged:
        raise click.UsageError("--rev and --staged exclude each other")
    if (fix or diff) and (rev is not None or staged):
        raise click.UsageError("--fix and --diff work on files, not on --rev or --staged")
    base = Path(context.find_root().params.get("folder") or "")
    source = _read(base, paths or (Path(),), rev, staged)
    settings = with_options(read_settings(source.config), profile, fail_on)
    shown: list[str] = []
    if fix or diff:
        source, shown = _repaired(source, settings, write=fix, show=diff)
    checked = check(source, settings)
    _tell_notices(checked, source)
    for line in shown:
        # Other formats are read by programs: what stands beside them goes elsewhere.
        click.echo(log_line(visible(line, 2000)), err=form != "text")
    _print(form, checked)
    if summary is not None:
        _append(summary, checked)
    if checked.fails(settings.fail_on) or (shown and not fix):
        raise click.exceptions.Exit(1)


def _read(base: Path, paths: Sequence[Path], rev: str | None, staged: bool) -> Source:
    if rev is None and not staged:
        return read_work_tree(base, paths)
    # git is needed for these two only.
    from skillevo.app import skill_blobs

    if rev is not None:
        return skill_blobs.read_revision(base, paths, rev)
    return skill_blobs.read_index(base, paths)


def _repaired(
    source: Source, settings: Settings, *, write: bool, show: bool
) -> tuple[Source, list[str]]:
    from skillevo.app.validate_fixes import repairs, write_repairs

    planned = repairs(source, settings)
    lines = [line for repair in planned for line in repair.diff()] if show else []
    return (write_repairs(source, planned) if write else source), lines


def _tell_notices(checked: Checked, source: Source) -> None:
    if checked.files == 0 and not checked.problems:
        click.echo("no SKILL.md found: nothing to check", err=True)
    name = source.config.name if source.config else ""
    for ignore in checked.unused:
        text = f"warning: {name}: nothing to ignore: {ignore.rule} in {ignore.path}"
        click.echo(log_line(visible(text, 600)), err=True)


def _print(form: str, checked: Checked) -> None:
    files, problems = checked.files, checked.problems
    match form:
        case "json":
            from skillevo.report.problems.as_json import problems_json

            _print_json(problems_json(files, problems))
        case "sarif":
            from skillevo.report.problems.sarif import sarif_json

            _print_json(sarif_json(problems))
        case "markdown":
            click.echo(_markdown(checked), nl=False)
        case "github":
            from skillevo.report.problems.github import github_lines

            click.echo("\n".join(github_lines(files, problems)))
        case _:
            from skillevo.report.problems.as_text import problem_lines

            click.echo("\n".join(problem_lines(files, problems)))


def _print_json(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    # It stands in strings only; as an escape no CI runner takes it for a command.
    click.echo(text.replace("##[", r"#\u0023["))


def _markdown(checked: Checked) -> str:
    from skillevo.report.problems.markdown import markdown_text

    return markdown_text(checked.files, checked.problems)


def _append(path: Path, checked: Checked) -> None:
    try:
        with path.open("a", encoding="utf-8", errors="replace") as file:
            file.write(_markdown(checked))
    except OSError as error:
        raise EnvironmentFault(
            f"{path} cannot be written",
            why=error.strerror or str(error),
            fix="choose another file for --summary",
        ) from error
