"""``skillevo verify``: is the history of a run what its evidence says, and the other way round?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from skillevo.app.verify_citations import (
    check_citations,
    check_references,
    check_rollouts,
    read_trajectories,
)
from skillevo.app.verify_commits import Commits, check_edits, check_merges, read_commits
from skillevo.app.verify_files import check_files
from skillevo.app.verify_report import Finding, Verified
from skillevo.core.refs import evidence_ref
from skillevo.errors import ConflictError, DataError
from skillevo.store.evidence import Evidence, evidence_files, parse_evidence
from skillevo.store.git import Repository
from skillevo.store.history import Run, find_run, read_runs
from skillevo.store.journal import RecordedStep, recorded_steps


def verify(root: Path, run: str | None = None) -> tuple[Verified, ...]:
    """Every run of the repository at ``root``, or one, checked; SkillevoError for an unknown run.

    Changes nothing.
    """
    with Repository(root) as repository:
        found = read_runs(repository) if run is None else (find_run(repository, run),)
        return tuple(_verify(root, repository, one) for one in found)


def _verify(root: Path, repository: Repository, run: Run) -> Verified:
    if run.evidence is None:
        missing = Finding(
            "evidence", evidence_ref(run.id), "is missing: nothing of this run can be checked"
        )
        return Verified(run.id, 0, 0, 0, (missing,), ())
    files = evidence_files(repository, run.id, run.evidence)
    findings = list(check_files(files))
    try:
        steps = recorded_steps(repository, run.id)
        evidence = parse_evidence(run.id, run.evidence, files)
    except (ConflictError, DataError) as error:
        damaged = Finding("evidence", evidence_ref(run.id), f"{error.what}: {error.why}")
        return Verified(run.id, 0, 0, 0, (*findings, damaged), ("everything else",))
    heads = [tip for tip in (run.head, *(c.head for c in run.candidates)) if tip]
    commits = read_commits(repository, evidence, steps, heads)
    findings += _check_chain(run, evidence, steps)
    findings += check_edits(repository, evidence, commits)
    findings += check_merges(repository, evidence, commits)
    findings += check_references(evidence)
    rows = read_trajectories(root, run.id)
    not_checked = list(_unchecked(run, evidence, commits))
    if rows is None:
        not_checked.append("citations and rollouts: the run directory is gone")
    else:
        findings += check_citations(evidence, rows)
        findings += check_rollouts(evidence, rows)
    return Verified(
        run=run.id,
        edits=len(evidence.edits),
        merges=sum(bool(d.merge) for one in evidence.iterations for d in one.decisions),
        citations=sum(len(edit.citations) for edit in evidence.edits.values()),
        findings=tuple(findings),
        not_checked=tuple(not_checked),
    )


def _check_chain(run: Run, evidence: Evidence, steps: Sequence[RecordedStep]) -> Iterator[Finding]:
    """The chain begins with ``begin``, each edit has its step, and all agree on the decisions."""
    place = evidence_ref(run.id)
    if evidence.record.run != run.id:
        yield Finding("evidence", "run.json", f"is of run {evidence.record.run}")
    if not steps or steps[0].name != "begin":
        yield Finding("evidence", place, "does not start at the beginning of the run")
    if run.ended != evidence.ended or (steps and steps[-1].ended != evidence.ended):
        yield Finding("evidence", place, "its state and its result disagree on whether it ended")
    decided = {
        (one.agent, one.iteration): (one.decision.value, one.candidate)
        for iteration in evidence.iterations
        for one in iteration.decisions
    }
    said = {key: (one.fate.value, one.head) for key, one in run.decisions.items()}
    for agent, iteration in sorted({*decided, *said}):
        if decided.get((agent, iteration)) != said.get((agent, iteration)):
            message = "state.json and decision.json disagree on the decision"
            yield Finding("evidence", f"iteration {iteration}, {agent}", message)


def _unchecked(run: Run, evidence: Evidence, commits: Commits) -> Iterator[str]:
    if run.head is None:
        yield "merges: the run branch is gone"
    if not evidence.ended:
        yield "what comes after its last step: the run did not end"
    foreign = [commit for commit in commits.line if commit not in commits.by_id]
    if foreign:
        yield f"{len(foreign)} commits by others on the run branch"
