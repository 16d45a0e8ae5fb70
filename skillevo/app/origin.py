"""Run id, clock and identities: decided once, in one place, and fixable."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from skillevo.core.refs import run_id, valid_run
from skillevo.errors import SkillevoError
from skillevo.store.git import Repository
from skillevo.store.values import SKILLEVO, Identity


@dataclass(frozen=True, slots=True)
class Origin:
    """What a run's commits say of when and by whom. ``started`` is in unix seconds, UTC;
    ``clock`` gives the seconds that caps and progress count."""

    run: str
    started: int
    author: Identity
    committer: Identity
    clock: Callable[[], float] = time.monotonic


DEMO_IDENTITY = Identity("skillevo demo", "demo@skillevo.invalid")
DEMO_STARTED = 1_767_225_600
DEMO_ORIGIN = Origin("20260101-000000-demo", DEMO_STARTED, SKILLEVO, DEMO_IDENTITY)
"""The fixed origin of the simulated demo: equal commit ids on every run and machine."""


def now_s() -> int:
    """Unix seconds: ``SOURCE_DATE_EPOCH`` when it is set, else the clock.

    Raises SkillevoError when the variable holds no whole number of seconds.
    """
    fixed = os.environ.get("SOURCE_DATE_EPOCH")
    if fixed is None:
        return int(time.time())
    if not fixed.isascii() or not fixed.isdigit() or len(fixed) > 11:
        raise SkillevoError(
            f"SOURCE_DATE_EPOCH is {fixed!r}",
            why="it must be a whole number of seconds since 1970",
            fix="unset SOURCE_DATE_EPOCH, or set it to a number",
        )
    return int(fixed)


def origin(repository: Repository, run: str | None) -> Origin:
    """The origin of a new run; EnvironmentFault when git has no identity to commit with."""
    started = now_s()
    if run is None:
        run = run_id(datetime.fromtimestamp(started, UTC), secrets.token_hex(2))
    elif not valid_run(run):
        raise SkillevoError(
            f"the run id {run!r} cannot be used",
            why="it becomes part of branch names: lower case letters, digits and hyphens, "
            "64 at most",
            fix="for example --run-id try-2",
        )
    return Origin(run, started, SKILLEVO, repository.identity())
