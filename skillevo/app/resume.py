"""What a run that did not end left behind, and whether it can go on from there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillevo.app.origin import Origin
from skillevo.config import Config
from skillevo.errors import ConfigError, ConflictError, SkillevoError
from skillevo.store.codec import plain
from skillevo.store.git import Repository
from skillevo.store.history import read_runs
from skillevo.store.runs import BEGUN, read_record
from skillevo.store.values import Identity

_MISSING = "(none)"


@dataclass(frozen=True, slots=True)
class Begun:
    """A run as it began: its origin, the commit it starts from, its options and settings."""

    origin: Origin
    base: str
    overrides: Mapping[str, Mapping[str, Any]]
    settings: Mapping[str, Any]


def beginning(start: Origin, overrides: Mapping[str, Any], config: Config) -> dict[str, Any]:
    """What ``read_begun`` reads, as part of the run's record."""
    return {
        "started": start.started,
        "author": start.author,
        "committer": start.committer,
        "overrides": overrides,
        "settings": config.settings,
    }


def read_begun(root: Path, run: str) -> Begun:
    """How the run began; SkillevoError when its run directory does not say."""
    record = read_record(root, run, BEGUN)
    if record is None:
        raise SkillevoError(
            f"the run {run} cannot be resumed",
            why="its run directory, with the answers of the models, is not here or damaged",
            fix="skillevo status lists the runs; start a new one with skillevo evolve",
        )
    try:
        origin = Origin(
            run,
            int(record["started"]),
            Identity(**record["author"]),
            Identity(**record["committer"]),
        )
        return Begun(origin, record["base"], record["overrides"], record["settings"])
    except (KeyError, TypeError, ValueError) as error:
        raise SkillevoError(
            f"the run {run} cannot be resumed",
            why=f"{BEGUN}.json of its run directory lacks {error}",
            fix="start a new run with skillevo evolve",
        ) from error


def ended_record(root: Path, repository: Repository, run: str) -> dict[str, Any] | None:
    """The result of a run that ended, None for one that can be resumed.

    SkillevoError when there is no trace of the run.
    """
    found = next((one for one in read_runs(repository) if one.id == run), None)
    if found is None and read_record(root, run, BEGUN) is None:
        known = [one.id for one in read_runs(repository) if not one.ended]
        raise SkillevoError(
            f"there is no run {run!r} to resume",
            why=f"runs that did not end: {', '.join(known) or 'none'}",
            fix="skillevo status",
        )
    if found is None or not found.ended:
        return None
    return read_record(root, run, "result")


def check_settings(run: str, begun: Begun, config: Config) -> None:
    """ConfigError that names every setting which is not as it was when the run began."""
    changes = differences(begun.settings, plain(config.settings))
    if changes:
        raise ConfigError(
            f"the settings changed since the run {run} began",
            why="; ".join(changes[:6]) + (f"; {len(changes) - 6} more" if changes[6:] else ""),
            fix="put them back to resume it, or start a new run with skillevo evolve",
        )


def check_record(run: str, recorded: bytes, now: str) -> None:
    """ConflictError when what a run is made of differs from what its evidence says."""
    try:
        changes = differences(json.loads(recorded), json.loads(now))
    except ValueError as error:
        changes = [f"run.json of the evidence cannot be read: {error}"]
    if changes:
        raise ConflictError(
            f"the run {run} cannot be resumed: what it is made of changed",
            why="; ".join(changes[:6]),
            fix="put it back as it was, or start a new run with skillevo evolve",
        )


def differences(old: Any, new: Any, place: str = "") -> list[str]:
    """``key: old -> new`` for every leaf in which two JSON values differ."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        keys = sorted({*old, *new})
        return [
            line
            for key in keys
            for line in differences(
                old.get(key, _MISSING), new.get(key, _MISSING), f"{place}.{key}".lstrip(".")
            )
        ]
    return [] if old == new else [f"{place}: {_short(old)} -> {_short(new)}"]


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."
