"""The run directory ``.skillevo/runs/<run>/``: events, trajectories and records of one run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TextIO

from skillevo.core.evidence import text_id, trajectory_row
from skillevo.errors import ConflictError, EnvironmentFault
from skillevo.store.codec import dump_line, dump_pretty, plain
from skillevo.types import Trajectory

SCHEMA_VERSION = 1
FOLDER = ".skillevo"
BEGUN = "run"


class Observer(Protocol):
    """Told of every event as it is logged."""

    def __call__(self, kind: str, data: dict[str, Any]) -> None:
        """``data`` holds plain JSON values; it must not be changed."""
        ...


class RunDirectory:
    """Implements RunLog in files. Close it, or use it as a context manager."""

    def __init__(
        self, path: Path, clock: Callable[[], float], observers: Sequence[Observer] = ()
    ) -> None:
        self.path = path
        self._clock = clock
        self._start = clock()
        self._observers = tuple(observers)
        self._files: dict[str, TextIO] = {}
        self._texts: set[str] = set()

    @classmethod
    def create(
        cls,
        root: Path,
        run: str,
        clock: Callable[[], float],
        observers: Sequence[Observer] = (),
    ) -> RunDirectory:
        """A new run's directory below ``root``; ``.skillevo`` ignores itself in git.

        The record ``run`` marks a run that began; the folder of one that never did is taken over.
        Raises ConflictError when the run began, EnvironmentFault when it cannot be written.
        """
        path = root / FOLDER / "runs" / run
        with _writing(path):
            path.mkdir(parents=True, exist_ok=True)
            ignore = root / FOLDER / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
        if (path / f"{BEGUN}.json").exists():
            raise ConflictError(
                f"the run {run} exists already in {path}",
                why="a run's records are never overwritten",
                fix="choose another --run-id, or leave it out",
            )
        return cls(path, clock, observers)

    @classmethod
    def reopen(
        cls,
        root: Path,
        run: str,
        clock: Callable[[], float],
        observers: Sequence[Observer] = (),
    ) -> RunDirectory:
        """The directory of a run that is played again: what the replay writes anew is emptied."""
        path = root / FOLDER / "runs" / run
        with _writing(path):
            for name in ("events", "trajectories", "texts"):
                (path / f"{name}.jsonl").write_bytes(b"")
        return cls(path, clock, observers)

    def event(self, kind: str, **data: Any) -> None:
        """Append one event with the seconds since the start, and tell the observers."""
        values = plain(data)
        elapsed = round(self._clock() - self._start, 3)
        self._append("events.jsonl", {"event": kind, "elapsed_s": elapsed, **values})
        for observer in self._observers:
            observer(kind, values)

    def record(self, iteration: int, name: str, value: Any) -> None:
        """Write ``iterations/NNN/<name>.json`` atomically; iteration 0 is the run itself."""
        folder = self.path / "iterations" / f"{iteration:03d}" if iteration else self.path
        content = dump_pretty({"schema_version": SCHEMA_VERSION, **plain(value)})
        with _writing(self.path):
            folder.mkdir(parents=True, exist_ok=True)
            draft = folder / f".{name}.tmp"
            draft.write_text(content, encoding="utf-8")
            draft.replace(folder / f"{name}.json")

    def trajectory(self, iteration: int, phase: str, trajectory: Trajectory) -> None:
        """Append one trajectory; the texts of its prompts stand once each in ``texts.jsonl``."""
        for message in (m for step in trajectory.steps for m in step.messages):
            self._text(message.content)
        row = {"iteration": iteration, "phase": phase, **trajectory_row(trajectory)}
        self._append("trajectories.jsonl", row)

    def close(self) -> None:
        """Close the files. Safe to call twice."""
        files, self._files = self._files, {}
        with _writing(self.path):
            for file in files.values():
                file.close()

    def __enter__(self) -> RunDirectory:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _text(self, text: str) -> None:
        """Write a text on its first use."""
        name = text_id(text)
        if name not in self._texts:
            self._texts.add(name)
            self._append("texts.jsonl", {"id": name, "text": text})

    def _append(self, name: str, value: Any) -> None:
        with _writing(self.path):
            if name not in self._files:
                self._files[name] = (self.path / name).open("a", encoding="utf-8")
            self._files[name].write(dump_line(value))
            self._files[name].flush()


def read_record(root: Path, run: str, name: str) -> dict[str, Any] | None:
    """A record of a run, or None when it is absent or damaged."""
    try:
        text = (root / FOLDER / "runs" / run / f"{name}.json").read_text(encoding="utf-8")
        value = json.loads(text)
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EnvironmentFault(
            f"the run directory {path} cannot be written",
            why=error.strerror or str(error),
            fix="free some space or change the permissions, then run again",
        ) from error
