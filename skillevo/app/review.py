"""Reading what runs left: status, log, diff."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillevo.app.skill_files import find_config
from skillevo.app.validate_settings import read_settings
from skillevo.errors import SkillevoError
from skillevo.library.diff import SkillChange, compare_libraries
from skillevo.store import history
from skillevo.store.git import Repository
from skillevo.store.libraries import agents_at, read_libraries
from skillevo.store.runs import read_record
from skillevo.types import Pair


@dataclass(frozen=True, slots=True)
class RunStatus:
    """One run in this repository. ``record`` is its printed result, None when it did not end or the
    record is damaged; ``ended`` is what git says."""

    run: str
    head: str | None
    accepted: int
    rejected: int
    record: Mapping[str, Any] | None
    ended: bool


def runs(root: Path) -> list[RunStatus]:
    """The runs that have refs in the repository at ``root``, oldest first."""
    with Repository(root) as repository:
        merged = history.merges(repository)
        return [
            RunStatus(
                run=found.id,
                head=found.head,
                accepted=sum(merge.run == found.id for merge in merged),
                rejected=found.count(history.Fate.REJECT),
                record=_result(root, found.id),
                ended=found.ended,
            )
            for found in history.read_runs(repository)
        ]


def _result(root: Path, run: str) -> Mapping[str, Any] | None:
    record = read_record(root, run, "result") or {}
    iterations, final, missing = (
        record.get(key) for key in ("iterations", "final_score", "not_done")
    )
    sound = (
        isinstance(iterations, list)
        and all(isinstance(i, dict) and _number(i.get("base_score")) for i in iterations)
        and (final is None or _number(final))
        and isinstance(missing, list)
    )
    return record if sound else None


def _number(value: object) -> bool:
    return isinstance(value, int | float)


def logged_edits(
    root: Path, *, run: str | None, revisions: str | None
) -> Sequence[history.LoggedEdit]:
    """The edits of a run, of a range, or of all runs, in edit order."""
    with Repository(root) as repository:
        return history.edits(repository, run, revisions)


def simulated_runs(root: Path, runs: Iterable[str]) -> tuple[str, ...]:
    """Those of the runs whose records say that no language model was behind them, by id."""
    return tuple(
        run for run in sorted(set(runs)) if (read_record(root, run, "run") or {}).get("simulated")
    )


@dataclass(frozen=True, slots=True)
class Compared:
    """What changed between two revisions, and the simulated runs that had a part in it."""

    changes: tuple[SkillChange, ...]
    simulated: tuple[str, ...]


def diff(root: Path, revisions: str | None) -> Compared:
    """What changed in the libraries between two revisions (``A..B``; ``A`` alone means to HEAD).

    Without revisions: from the base of the newest run to its branch. A consolidation is told from
    the trailers of the edits in between.
    """
    standard = read_settings(find_config([str(root)])).standard
    with Repository(root) as repository:
        old, new = _ends(repository, root, revisions)
        names = sorted({*agents_at(repository, old), *agents_at(repository, new)})
        edits = history.edits(repository, None, f"{old}..{new}")
        changes = compare_libraries(
            read_libraries(repository, old, names, standard=standard),
            read_libraries(repository, new, names, standard=standard),
            _merges(edits),
        )
    return Compared(changes, simulated_runs(root, (edit.run for edit in edits)))


def _merges(edits: Iterable[history.LoggedEdit]) -> dict[Pair, tuple[str, ...]]:
    return {
        (edit.agent, edit.skill): tuple(source.rpartition("/")[2] for source in edit.sources)
        for edit in edits
        if edit.sources
    }


def _ends(repository: Repository, root: Path, revisions: str | None) -> tuple[str, str]:
    if revisions:
        old, dots, new = revisions.partition("..")
        return repository.resolve(old or "HEAD"), repository.resolve(
            new if dots and new else "HEAD"
        )
    found = [run for run in history.read_runs(repository) if run.head]
    if not found:
        raise SkillevoError(
            "there is no run to compare",
            why="no branch skillevo/<run>/main exists in this repository",
            fix="skillevo evolve",
        )
    newest = found[-1]
    merged = history.merges(repository, newest.id)
    record = read_record(root, newest.id, "run") or {}
    base = record.get("base") or (merged[0].base if merged else newest.head)
    return repository.resolve(str(base)), repository.resolve(str(newest.head))
