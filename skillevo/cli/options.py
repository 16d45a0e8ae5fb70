"""Options and output that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from skillevo.config import find_root
from skillevo.library.characters import visible

F = TypeVar("F", bound=Callable[..., Any])


def format_option(command: F) -> F:
    """``--format text|json``."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="Text for people, or one JSON object with a schema_version.",
    )(command)


def project_root(context: click.Context) -> Path:
    """The project that ``-C`` or the current folder lies in; ConfigError when there is none."""
    return find_root(Path(context.find_root().params.get("folder") or "."))


def inside(context: click.Context, folder: Path) -> Path:
    """A folder that a command names, seen from the one that ``-C`` names."""
    start = context.find_root().params.get("folder")
    return Path(start) / folder if start else folder


def show(form: str, value: dict[str, Any], lines: Iterable[str]) -> None:
    """Print a result on stdout, as JSON or as lines."""
    if form == "json":
        click.echo(json.dumps(value, ensure_ascii=False, indent=2))
    else:
        for line in lines:
            click.echo(visible(line, 2000) if not line.isprintable() else line)
