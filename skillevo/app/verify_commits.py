"""Do the commits of a run agree with its evidence: edits, candidates, merges?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillevo.app.verify_report import Finding
from skillevo.core.evidence import digest
from skillevo.core.refs import Key, run_branch, short_ref
from skillevo.store.evidence import AgentDecision, Evidence
from skillevo.store.git import Repository
from skillevo.store.history import Record, read_records
from skillevo.store.journal import RecordedStep
from skillevo.store.libraries import SKILL_FILE, SKILLS
from skillevo.types import Decision


@dataclass(frozen=True, slots=True)
class Commits:
    """The commits of one run. ``edits`` are all that carry an edit's id, ``pinned`` the commit that
    the evidence has for each id, ``line`` the run branch from its tip down to the base."""

    edits: tuple[Record, ...]
    pinned: Mapping[str, str]
    line: tuple[str, ...]
    by_id: Mapping[str, Record]


def read_commits(
    repository: Repository, evidence: Evidence, steps: Sequence[RecordedStep], heads: Sequence[str]
) -> Commits:
    """Everything that is reachable from the evidence and from the branches' ``heads``."""
    records = read_records(repository, [evidence.tip, *heads])
    by_id = {record.commit: record for record in records}
    run = evidence.run
    edits = [r for r in records if r.trailers.get(Key.EDIT) and r.trailers.get(Key.RUN) == run]
    names = {step.name.removeprefix("edit "): step.pins for step in steps if step.pins}
    pinned = {name: pins[0] for name, pins in names.items()}
    main = repository.find_object(f"{run_branch(run)}^{{commit}}")
    line: list[str] = []
    if main is not None:
        asked = ["rev-list", "--first-parent", main, f"^{evidence.record.base}"]
        line = repository.run(asked, accept=None).line.split()
    return Commits(tuple(edits), pinned, tuple(line), by_id)


# --- edits --------------------------------------------------------------------------------------


def check_edits(repository: Repository, evidence: Evidence, commits: Commits) -> Iterator[Finding]:
    """Every edit has its commit and its evidence, which name each other, and keeps to a folder."""
    by_edit = {r.trailers.get(Key.EDIT): r for r in commits.edits if _is_pinned(r, commits)}
    for name in sorted({*evidence.edits, *commits.pinned} - set(by_edit)):
        yield Finding("edit", name, "its commit is missing or does not carry its id")
    for record in commits.edits:
        name = record.trailers.get(Key.EDIT)
        if not _is_pinned(record, commits):
            pinned = commits.pinned.get(name)
            known = f"the evidence has {pinned[:12]}" if pinned else "the evidence has none"
            yield Finding("edit", record.commit, f"is not the commit of edit {name}: {known}")
            continue
        yield from _check_edit(evidence, record)
    yield from _check_paths(repository, [r for r in commits.edits if _is_pinned(r, commits)])
    yield from _check_texts(repository, evidence, by_edit)


def _is_pinned(record: Record, commits: Commits) -> bool:
    return commits.pinned.get(record.trailers.get(Key.EDIT)) == record.commit


def _check_edit(evidence: Evidence, record: Record) -> Iterator[Finding]:
    get = record.trailers.get
    found = evidence.edits.get(get(Key.EDIT))
    if found is None:
        yield Finding("edit", record.commit, f"there is no evidence of edit {get(Key.EDIT)}")
        return
    if get(Key.EVIDENCE) != found.file_digest:
        yield Finding(
            "edit",
            f"edits/{found.id}.json",
            f"is not what its commit {record.commit[:12]} names: {get(Key.EVIDENCE) or 'nothing'}",
        )
    said = (get(Key.OPERATOR), get(Key.AGENT), get(Key.SKILL), get(Key.ITERATION))
    told = (found.operator.value, found.agent, found.skill, str(found.iteration))
    if said != told:
        yield Finding("edit", record.commit, f"says {said}, its evidence {told}")


def _check_paths(repository: Repository, records: Sequence[Record]) -> Iterator[Finding]:
    for record, paths in changed(repository, [(r, r.parents[:1]) for r in records]):
        agent = record.trailers.get(Key.AGENT)
        yield from _outside("edit", record.commit, agent, paths)


def _outside(check: str, commit: str, agent: str, paths: Sequence[bytes]) -> Iterator[Finding]:
    for path in paths:
        if not path.startswith(f"{SKILLS}/{agent}/".encode()):
            shown = path.decode(errors="replace")
            yield Finding(check, commit, f"changes {shown}, outside of {SKILLS}/{agent}/")


def _check_texts(
    repository: Repository, evidence: Evidence, by_edit: Mapping[str, Record]
) -> Iterator[Finding]:
    """The SKILL.md that an edit's commit holds is the one that its evidence names."""
    wanted = [e for e in evidence.edits.values() if e.id in by_edit]
    names = [f"{by_edit[e.id].commit}:{SKILLS}/{e.agent}/{e.skill}/{SKILL_FILE}" for e in wanted]
    for edit, (kind, content) in zip(wanted, repository.read_objects(names), strict=True):
        found = digest(content) if kind == "blob" else ""
        if found != edit.after:
            message = f"its {SKILL_FILE} is not the one that edit {edit.id} wrote"
            yield Finding("edit", by_edit[edit.id].commit, message)


# --- merges -------------------------------------------------------------------------------------


def check_merges(repository: Repository, evidence: Evidence, commits: Commits) -> Iterator[Finding]:
    """Every merge has its decision, every accepted candidate its merge, with the same skills."""
    decided = [one for iteration in evidence.iterations for one in iteration.decisions]
    by_merge = {one.merge: one for one in decided if one.merge}
    merges = []
    for commit in commits.line:
        record = commits.by_id.get(commit)
        if record is None or not record.trailers.get(Key.DECISION):
            continue
        one = by_merge.get(commit)
        if one is None:
            yield Finding("merge", commit, "no decision of the evidence accepts it")
            continue
        merges.append((record, one))
        yield from _check_merge(record, one, commits)
    branch = short_ref(run_branch(evidence.run))
    for one in decided:
        if one.decision is Decision.ACCEPT and one.merge not in commits.line and evidence.ended:
            place = f"iteration {one.iteration}, {one.agent}"
            yield Finding("merge", place, f"accepted, but {one.merge[:12]} is not on {branch}")
    yield from _check_merged(repository, merges)


def _check_merge(record: Record, one: AgentDecision, commits: Commits) -> Iterator[Finding]:
    if one.decision is not Decision.ACCEPT:
        yield Finding("merge", record.commit, f"the decision was {one.decision}")
    if record.parents[1:] != (one.candidate,):
        yield Finding("merge", record.commit, f"does not merge candidate {one.candidate[:12]}")
    last = commits.pinned.get(one.edits[-1]) if one.edits else None
    if last != one.candidate:
        yield Finding("merge", record.commit, f"candidate {one.candidate[:12]} has other edits")
    if record.trailers.get(Key.AGENT) != one.agent:
        yield Finding("merge", record.commit, f"says it is of another agent than {one.agent}")


def _check_merged(
    repository: Repository, merges: Sequence[tuple[Record, AgentDecision]]
) -> Iterator[Finding]:
    names = [
        f"{commit}:{SKILLS}/{one.agent}"
        for record, one in merges
        for commit in (record.commit, one.candidate)
    ]
    trees = object_ids(repository, names)
    for (record, one), merged, candidate in zip(merges, trees[::2], trees[1::2], strict=True):
        if merged != candidate:
            message = f"{SKILLS}/{one.agent} is not that of candidate {one.candidate[:12]}"
            yield Finding("merge", record.commit, message)
    agents = {record.commit: one.agent for record, one in merges}
    for record, paths in changed(repository, [(r, r.parents[:1]) for r, _ in merges]):
        yield from _outside("merge", record.commit, agents[record.commit], paths)


# --- git ----------------------------------------------------------------------------------------


def changed(
    repository: Repository, pairs: Sequence[tuple[Record, Sequence[str]]]
) -> list[tuple[Record, list[bytes]]]:
    """Per commit the paths that differ from the given parent, by one process."""
    lines = "".join(f"{' '.join([record.commit, *parents])}\n" for record, parents in pairs)
    asked = ["diff-tree", "--stdin", "--root", "-r", "-z", "--name-only", "--no-renames",
             "--no-ext-diff", "--no-textconv"]  # fmt: skip
    output = repository.run(asked, stdin=lines.encode()).stdout if pairs else b""
    ids = {record.commit.encode() for record, _ in pairs}
    paths: dict[bytes, list[bytes]] = {}
    current = b""
    for part in output.split(b"\0"):
        if part in ids:
            current = part
        elif part:
            paths.setdefault(current, []).append(part)
    return [(record, paths.get(record.commit.encode(), [])) for record, _ in pairs]


def object_ids(repository: Repository, names: Sequence[str]) -> list[str]:
    """The ids that names mean, by one process; empty for a name without an object."""
    if not names:
        return []
    asked = ["cat-file", "--batch-check=%(objectname)"]
    output = repository.run(asked, stdin="".join(f"{name}\n" for name in names).encode())
    lines = output.stdout.decode(errors="replace").splitlines()
    return ["" if line.endswith(" missing") else line for line in lines]
