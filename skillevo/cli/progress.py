"""Progress of a run on stderr: live bars on a terminal, silence without one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from skillevo.app.evolve import Watch
from skillevo.cli.story import Story
from skillevo.types import Usage


@contextmanager
def watching(story: Story) -> Iterator[Watch]:
    """A Watch that tells the story and shows stage, count, ETA, calls and tokens meanwhile.

    On a terminal a live line on stderr; elsewhere only notices such as a download.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        say = partial(click.echo, err=True)
        yield Watch(say=say, observers=(story,), finished=story.finished)
        return
    with _bars(console) as bars:
        live = Live(bars)
        yield Watch(
            say=bars.console.print,
            observers=(story, live),
            meter=live.use_meter,
            finished=story.finished,
        )


class Live:
    """An observer of run events that keeps one bar for the stage under way."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._task: TaskID | None = None
        self._iteration = ""
        self._usage: Callable[[], Usage] | None = None

    def use_meter(self, usage: Callable[[], Usage]) -> None:
        """Read calls and tokens from here."""
        self._usage = usage

    def __call__(self, kind: str, data: dict[str, Any]) -> None:
        """Follow one event."""
        if kind == "iteration":
            self._iteration = f"{data['index']}/{data['of']} "
        elif kind == "stage":
            self._drop()
            name = self._iteration + str(data["name"])
            self._task = self._bars.add_task(name, total=data["total"], usage="")
        elif kind == "rollout" and self._task is not None:
            self._bars.update(self._task, advance=1, usage=self._cost())
        elif kind == "assessed" and self._task is not None:
            self._bars.update(self._task, usage=self._cost())
        elif kind == "end":
            self._drop()

    def _cost(self) -> str:
        if self._usage is None:
            return ""
        usage = self._usage()
        speed = usage.completion_tokens_per_s
        tokens = "" if speed is None else f" {speed:.0f} tok/s"
        return f"{usage.issued} calls{tokens}"

    def _drop(self) -> None:
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._task = None


def _bars(console: Console) -> Progress:
    # The count, the ETA and the stage come first: a narrow terminal cuts the end.
    return Progress(
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}", table_column=Column(no_wrap=True)),
        BarColumn(bar_width=10),
        TextColumn("{task.fields[usage]}", table_column=Column(no_wrap=True)),
        console=console,
        transient=True,
        # Lines for a file must not be drawn into the terminal.
        redirect_stdout=sys.stdout.isatty(),
    )
