"""Runs, edits and merges read back from git, whoever wrote them and when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from skillevo.core.refs import (
    BRANCHES,
    REJECTED,
    Key,
    RefKind,
    Trailers,
    message_trailers,
    parse_edit_id,
    parse_ref,
)
from skillevo.errors import SkillevoError
from skillevo.store.git import Repository
from skillevo.types import Decision, Operator

# The whole message, since %(trailers) obeys trailer.*.key, with which a configuration renames ours.
_FORMAT = "%H%x1f%P%x1f%s%x1f%B"
_LOG = (
    "-c", "log.showSignature=false",
    "log", "-z", "--no-color", "--no-notes", "--no-patch", "--no-ext-diff", "--no-textconv",
    "--topo-order", "--encoding=UTF-8", "--extended-regexp", "--grep=^Skillevo-Format: ",
    f"--format={_FORMAT}",
)  # fmt: skip

Place = tuple[str, str, int]
"""Run, agent and iteration: the name of a candidate."""


class Fate(StrEnum):
    """What became of an edit's candidate."""

    ACCEPT = "accept"
    REJECT = "reject"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class CandidateRef:
    """A candidate branch that still has its head, or the mark of a rejected one."""

    agent: str
    iteration: int
    head: str


@dataclass(frozen=True, slots=True)
class Run:
    """The refs of one run. ``head`` is the tip of the run branch, None when it is gone."""

    id: str
    head: str | None
    candidates: tuple[CandidateRef, ...]
    rejected: tuple[CandidateRef, ...]

    @property
    def tips(self) -> tuple[str, ...]:
        """The commits from which everything of the run is reachable."""
        heads = {c.head for c in (*self.candidates, *self.rejected)}
        return tuple(sorted(heads | ({self.head} if self.head else set())))


@dataclass(frozen=True, slots=True)
class LoggedEdit:
    """One edit commit. ``support`` counts questions; both it and ``utility`` may be unknown."""

    id: str
    commit: str
    run: str
    operator: Operator
    agent: str
    skill: str
    iteration: int
    decision: Fate
    utility: float | None
    support: int | None
    subject: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoggedMerge:
    """One merge of an accepted candidate; ``score`` and ``gate`` as the trailers have them."""

    commit: str
    run: str
    agent: str
    iteration: int
    score: str
    gate: str
    candidate: str
    base: str
    subject: str


@dataclass(frozen=True, slots=True)
class _Record:
    commit: str
    parents: tuple[str, ...]
    subject: str
    trailers: Trailers

    @property
    def place(self) -> Place:
        """ValueError when the iteration is no number."""
        get = self.trailers.get
        return get(Key.RUN), get(Key.AGENT), int(get(Key.ITERATION))


def read_runs(repository: Repository) -> tuple[Run, ...]:
    """Every run that has a ref, by id: with generated ids, oldest first."""
    heads: dict[str, str] = {}
    kept: dict[str, dict[RefKind, list[CandidateRef]]] = {}
    for ref, oid in repository.refs(BRANCHES, REJECTED).items():
        parsed = parse_ref(ref)
        if parsed is None:
            continue
        found = kept.setdefault(parsed.run, {RefKind.CANDIDATE: [], RefKind.REJECTED: []})
        if parsed.kind is RefKind.RUN:
            heads[parsed.run] = oid
        else:
            found[parsed.kind].append(CandidateRef(parsed.agent, parsed.iteration, oid))
    return tuple(
        Run(
            run,
            heads.get(run),
            _by_iteration(found[RefKind.CANDIDATE]),
            _by_iteration(found[RefKind.REJECTED]),
        )
        for run, found in sorted(kept.items())
    )


def find_run(repository: Repository, run: str) -> Run:
    """The run of that id; SkillevoError when no ref is left of it."""
    runs = {found.id: found for found in read_runs(repository)}
    if run not in runs:
        raise SkillevoError(
            f"no run {run!r} in this repository",
            why=f"known runs: {', '.join(runs) or 'none'}",
            fix="git for-each-ref refs/heads/skillevo",
        )
    return runs[run]


def edits(
    repository: Repository, run: str | None = None, revisions: str | None = None
) -> tuple[LoggedEdit, ...]:
    """The edits of one run, of a revision or range (``A..B``), or of all runs, in edit order.

    Commits that only look like ours, with trailers that do not fit together, are left out.
    """
    runs = read_runs(repository)
    if revisions is not None:
        tips = _resolve_range(repository, revisions)
    else:
        tips = _tips(runs if run is None else (find_run(repository, run),))
    records = _read(repository, tips)
    fates = _fates(records, runs)
    found = [edit for record in records if (edit := _edit(record, fates))]
    if revisions is not None and any(edit.decision is Fate.PENDING for edit in found):
        # The merge that accepted an edit may lie outside the range that was asked for.
        fates |= _fates(_read(repository, _tips(runs)), runs)
        found = [edit for record in records if (edit := _edit(record, fates))]
    chosen = (edit for edit in found if run is None or edit.run == run)
    return tuple(sorted(chosen, key=lambda edit: (parse_edit_id(edit.id), edit.commit)))


def merges(repository: Repository, run: str | None = None) -> tuple[LoggedMerge, ...]:
    """The merges of accepted candidates of one run or of all, by run and iteration."""
    runs = read_runs(repository) if run is None else (find_run(repository, run),)
    # Oldest first, so that the merges of one iteration stay in the order in which they were made.
    records = _read(repository, _tips(runs))[::-1]
    found = [merge for record in records if (merge := _merge(record))]
    chosen = (merge for merge in found if run is None or merge.run == run)
    return tuple(sorted(chosen, key=lambda merge: (merge.run, merge.iteration)))


def _by_iteration(found: list[CandidateRef]) -> tuple[CandidateRef, ...]:
    return tuple(sorted(found, key=lambda candidate: (candidate.iteration, candidate.agent)))


def _tips(runs: Iterable[Run]) -> list[str]:
    return [tip for run in runs for tip in run.tips]


def _resolve_range(repository: Repository, revisions: str) -> list[str]:
    start, dots, end = revisions.partition("..")
    if not dots:
        return [repository.resolve(revisions)]
    return [repository.resolve(end or "HEAD"), f"^{repository.resolve(start or 'HEAD')}"]


def _read(repository: Repository, tips: Sequence[str]) -> list[_Record]:
    """Our commits reachable from ``tips``, newest first, in one process."""
    if not tips:
        return []
    stdin = "".join(f"{tip}\n" for tip in tips).encode()
    log = repository.run([*_LOG, "--stdin"], stdin=stdin)
    records = []
    for text in log.stdout.decode(errors="replace").split("\0"):
        fields = text.split("\x1f", 3)
        if len(fields) == 4:
            commit, parents, subject, message = fields
            trailers = message_trailers(message)
            records.append(_Record(commit, tuple(parents.split()), subject, trailers))
    return records


def _fates(records: Iterable[_Record], runs: Iterable[Run]) -> dict[Place, Fate]:
    fates = {
        (run.id, candidate.agent, candidate.iteration): Fate.REJECT
        for run in runs
        for candidate in run.rejected
    }
    for record in records:
        merge = _merge(record)
        if merge is not None:
            fates[merge.run, merge.agent, merge.iteration] = Fate.ACCEPT
    return fates


def _edit(record: _Record, fates: dict[Place, Fate]) -> LoggedEdit | None:
    get = record.trailers.get
    name = parse_edit_id(get(Key.EDIT))
    if name is None or name[0] != get(Key.RUN):
        return None
    with suppress(ValueError):
        return LoggedEdit(
            id=get(Key.EDIT),
            commit=record.commit,
            run=get(Key.RUN),
            operator=Operator(get(Key.OPERATOR)),
            agent=get(Key.AGENT),
            skill=get(Key.SKILL),
            iteration=int(get(Key.ITERATION)),
            decision=fates.get(record.place, Fate.PENDING),
            utility=float(get(Key.UTILITY)) if get(Key.UTILITY) else None,
            support=int(get(Key.SUPPORT)) if get(Key.SUPPORT) else None,
            subject=record.subject,
            sources=record.trailers.all(Key.FROM),
        )
    return None


def _merge(record: _Record) -> LoggedMerge | None:
    get = record.trailers.get
    if len(record.parents) < 2 or get(Key.DECISION) != Decision.ACCEPT:
        return None
    with suppress(ValueError):
        run, agent, iteration = record.place
        return LoggedMerge(
            commit=record.commit,
            run=run,
            agent=agent,
            iteration=iteration,
            score=get(Key.SCORE),
            gate=get(Key.GATE),
            candidate=get(Key.CANDIDATE),
            base=get(Key.BASE),
            subject=record.subject,
        )
    return None
