"""Runs, edits and merges read back from git, whoever wrote them and when."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum

from skillevo.core.refs import (
    BRANCHES,
    EVIDENCE,
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
    INDECISIVE = "indecisive"
    STALE = "stale"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class CandidateRef:
    """A candidate branch that still has its head: open, or stale."""

    agent: str
    iteration: int
    head: str


@dataclass(frozen=True, slots=True)
class Decided:
    """What the evidence says of a candidate, and its tip."""

    fate: Fate
    head: str


@dataclass(frozen=True, slots=True)
class Run:
    """The refs of one run. ``head`` is the tip of the run branch, ``evidence`` that of its
    evidence, None when gone; ``decisions`` are by agent and iteration, ``ended`` is false while the
    run can be resumed."""

    id: str
    head: str | None
    candidates: tuple[CandidateRef, ...]
    evidence: str | None = None
    decisions: Mapping[tuple[str, int], Decided] = field(default_factory=dict)
    ended: bool = False

    @property
    def tips(self) -> tuple[str, ...]:
        """The commits from which everything of the run is reachable."""
        heads = {c.head for c in self.candidates} | {self.head, self.evidence}
        return tuple(sorted(head for head in heads if head))

    def count(self, fate: Fate) -> int:
        """How many candidates have that fate."""
        return sum(decided.fate is fate for decided in self.decisions.values())


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
class Record:
    """One commit of a run with its trailers."""

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
    evidence: dict[str, str] = {}
    candidates: dict[str, list[CandidateRef]] = {}
    for ref, oid in repository.refs(BRANCHES, EVIDENCE).items():
        parsed = parse_ref(ref)
        if parsed is None:
            continue
        found = candidates.setdefault(parsed.run, [])
        match parsed.kind:
            case RefKind.RUN:
                heads[parsed.run] = oid
            case RefKind.EVIDENCE:
                evidence[parsed.run] = oid
            case RefKind.CANDIDATE:
                found.append(CandidateRef(parsed.agent, parsed.iteration, oid))
    states = repository.read_objects([f"{tip}:state.json" for tip in evidence.values()])
    read = {run: _state(data) for run, (_, data) in zip(evidence, states, strict=True)}
    return tuple(
        Run(
            run,
            heads.get(run),
            _by_iteration(found),
            evidence.get(run),
            *read.get(run, ({}, False)),
        )
        for run, found in sorted(candidates.items())
    )


def _state(data: bytes) -> tuple[dict[tuple[str, int], Decided], bool]:
    """Decisions, and whether the run ended; nothing from a damaged file."""
    with suppress(ValueError, KeyError, TypeError, RecursionError):
        state = json.loads(data)
        decisions = {
            (str(row["agent"]), int(row["iteration"])): Decided(
                Fate(row["decision"]), str(row["head"])
            )
            for row in state["decisions"]
        }
        return decisions, state["ended"] is True
    return {}, False


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
    records = read_records(repository, tips)
    fates = _fates(records, runs)
    found = [edit for record in records if (edit := _edit(record, fates))]
    if revisions is not None and any(edit.decision is Fate.PENDING for edit in found):
        # The merge that accepted an edit may lie outside the range that was asked for.
        fates |= _fates(read_records(repository, _tips(runs)), runs)
        found = [edit for record in records if (edit := _edit(record, fates))]
    chosen = (edit for edit in found if run is None or edit.run == run)
    return tuple(sorted(chosen, key=lambda edit: (parse_edit_id(edit.id), edit.commit)))


def merges(repository: Repository, run: str | None = None) -> tuple[LoggedMerge, ...]:
    """The merges of accepted candidates of one run or of all, by run and iteration."""
    runs = read_runs(repository) if run is None else (find_run(repository, run),)
    # Oldest first, so that the merges of one iteration stay in the order in which they were made.
    records = read_records(repository, _tips(runs))[::-1]
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


def read_records(repository: Repository, tips: Sequence[str]) -> list[Record]:
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
            records.append(Record(commit, tuple(parents.split()), subject, trailers))
    return records


def _fates(records: Iterable[Record], runs: Iterable[Run]) -> dict[Place, Fate]:
    """Of each candidate: what the evidence says, and that it was accepted where a merge says so."""
    fates = {(run.id, *place): one.fate for run in runs for place, one in run.decisions.items()}
    for record in records:
        merge = _merge(record)
        if merge is not None:
            fates[merge.run, merge.agent, merge.iteration] = Fate.ACCEPT
    return fates


def _edit(record: Record, fates: dict[Place, Fate]) -> LoggedEdit | None:
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


def _merge(record: Record) -> LoggedMerge | None:
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
