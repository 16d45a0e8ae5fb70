"""The steps of a run in git: evidence and refs move together, and a crash leaves no doubt.

Each step is a commit on the run's evidence ref whose tree holds all evidence so far. After a crash
the run is played again from its start: a step that is on record must come out as the same commit
and moves nothing; the first one that is not may have been cut in half and is completed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillevo.core.evidence import Files, dump, encoded
from skillevo.core.refs import BRANCHES, EVIDENCE, RefKind, evidence_ref, parse_ref, short_ref
from skillevo.errors import ConflictError
from skillevo.store.committer import Committer
from skillevo.store.git import Repository
from skillevo.store.objects import ObjectWriter
from skillevo.store.values import RefChange
from skillevo.types import Outcome

STATE = "state.json"
Boundary = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """A step of the chain: its commit, the commits it pins, and what its state says.

    ``ahead`` marks moves that were written ahead and not made by this step.
    """

    commit: str
    pins: tuple[str, ...]
    name: str
    moves: tuple[RefChange, ...]
    ended: bool

    @property
    def ahead(self) -> bool:
        """True when the moves belong to the next step."""
        return self.name.startswith("decide ")

    def old(self, ref: str) -> str | None:
        """Where a ref stood before the moves of this step."""
        return next((move.old for move in self.moves if move.ref == ref), None)


class Journal:
    """Writes the steps of one run; each one flushes ``objects`` first. ``recorded`` are those of a
    crashed run that is played again.

    ``boundary`` is told before and after each step moves refs: a place where tests pull the plug.
    """

    def __init__(
        self,
        repository: Repository,
        run: str,
        committer: Committer,
        objects: ObjectWriter,
        *,
        recorded: Sequence[RecordedStep] | None = None,
        boundary: Boundary = lambda _: None,
    ) -> None:
        self._repository = repository
        self._run = run
        self._ref = evidence_ref(run)
        self._committer = committer
        self._objects = objects
        self._recorded = tuple(recorded or ())
        self._unsure = recorded is not None
        self._boundary = boundary
        self._files: dict[str, str] = {}
        self._decisions: list[dict[str, Any]] = []
        self._steps = 0
        self._tip: str | None = None

    @property
    def replaying(self) -> bool:
        """True while the next step is on record already."""
        return self._steps < len(self._recorded)

    def next_recorded(self, name: str) -> RecordedStep | None:
        """The next step on record when it has this name."""
        step = self._recorded[self._steps] if self.replaying else None
        return step if step is not None and step.name == name else None

    def decided(self, iteration: int, outcomes: Sequence[Outcome]) -> None:
        """Let the state list these decisions from the next step on."""
        self._decisions += [
            {
                "iteration": iteration,
                "agent": outcome.candidate.agent,
                "decision": outcome.decision,
                "head": outcome.candidate.head,
            }
            for outcome in outcomes
        ]

    def step(
        self,
        name: str,
        files: Files,
        moves: Sequence[RefChange] = (),
        *,
        pins: Sequence[str] = (),
        ahead: bool = False,
    ) -> None:
        """Add files to the evidence and make the moves with it, in one transaction.

        With ``ahead`` the moves are only written down. ConflictError, with nothing moved, when a
        ref is not where it should be or a replay comes out differently.
        """
        self._steps += 1
        commit = self._commit(name, files, moves, pins)
        self._boundary(f"{name}: written")
        if self._steps <= len(self._recorded):
            recorded = self._recorded[self._steps - 1]
            if recorded.commit != commit:
                raise self._diverged(name, recorded, commit)
        else:
            changes = [*([] if ahead else moves), RefChange(self._ref, commit, self._tip)]
            if self._unsure:
                changes, self._unsure = self._remaining(changes), False
            stamp = self._committer.stamp
            self._repository.move_refs(changes, stamp, reason=f"skillevo: {name}")
        self._tip = commit
        self._boundary(f"{name}: moved")

    def _commit(
        self, name: str, files: Files, moves: Sequence[RefChange], pins: Sequence[str]
    ) -> str:
        state = {
            "step": self._steps,
            "name": name,
            "moves": [{"ref": m.ref, "old": m.old, "new": m.new} for m in moves],
            "decisions": self._decisions,
            "ended": name == "end",
        }
        for path, text in {**files, STATE: dump("state", state)}.items():
            self._files[path] = self._objects.blob(encoded(text))
        tree = self._objects.tree(self._files)
        self._objects.flush()
        parents = [*([self._tip] if self._tip else []), *pins]
        return self._committer.commit(tree, parents, f"evidence({self._run}): {name}\n")

    def _remaining(self, changes: Sequence[RefChange]) -> list[RefChange]:
        """What is left of a step that a crash may have cut in half."""
        actual = run_refs(self._repository, self._run)
        strange = [
            _row(change.ref, {change.old, change.new}, actual.get(change.ref))
            for change in changes
            if actual.get(change.ref) not in (change.old, change.new)
        ]
        if strange:
            raise moved_by_others(self._run, strange)
        left = []
        for change in changes:
            if actual.get(change.ref) != change.new:
                left.append(change)
            elif change.new is not None:
                left.append(RefChange(change.ref, change.new, change.new))
        return left

    def _diverged(self, name: str, recorded: RecordedStep, commit: str) -> ConflictError:
        changed = self._repository.changed_paths(recorded.commit, commit)
        paths = [path.decode(errors="replace") for path in changed]
        shown = ", ".join(path for path in paths[:5] if path != STATE)
        return ConflictError(
            f"run {self._run} cannot be resumed: its step '{name}' comes out differently now",
            why=f"not as on record: {shown or 'its commits'}; what it read or the program changed",
            fix="start a new run; what this one recorded stays as it is",
        )


# --- reading the chain --------------------------------------------------------------------------


def run_refs(repository: Repository, run: str) -> dict[str, str]:
    """The refs of a run: its branch, its candidates and its evidence."""
    found = repository.refs(f"{BRANCHES}/{run}", f"{EVIDENCE}/{run}")
    return {ref: oid for ref, oid in found.items() if parse_ref(ref) is not None}


def recorded_steps(repository: Repository, run: str) -> tuple[RecordedStep, ...]:
    """The steps of a run in order, none when it has no evidence; ConflictError when damaged."""
    tip = repository.find_object(f"{evidence_ref(run)}^{{commit}}")
    if tip is None:
        return ()
    listed = repository.run(["rev-list", "--first-parent", "--parents", "--reverse", tip])
    lines = [line.split() for line in listed.line.splitlines()]
    states = repository.read_objects([f"{line[0]}:{STATE}" for line in lines])
    steps = []
    for number, (line, (_, content)) in enumerate(zip(lines, states, strict=True)):
        try:
            steps.append(_step(line, number, json.loads(content)))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ConflictError(
                f"the evidence of run {run} is damaged at step {number + 1}",
                why=f"{STATE} of {line[0]} cannot be read: {error}",
                fix=f"skillevo verify {run}",
            ) from error
    return tuple(steps)


def _step(line: Sequence[str], number: int, state: Mapping[str, Any]) -> RecordedStep:
    moves = tuple(RefChange(m["ref"], m["new"], m["old"]) for m in state["moves"])
    # The first parent is the step before, except at the first step.
    pins = tuple(line[2:] if number else line[1:])
    return RecordedStep(line[0], pins, str(state["name"]), moves, bool(state["ended"]))


def expected_refs(steps: Sequence[RecordedStep]) -> dict[str, str]:
    """Where the run's own branches stand after these steps."""
    refs: dict[str, str] = {}
    for move in (move for step in steps if not step.ahead for move in step.moves):
        if move.new is None:
            refs.pop(move.ref, None)
        else:
            refs[move.ref] = move.new
    return refs


def check_refs(repository: Repository, run: str, steps: Sequence[RecordedStep]) -> None:
    """ConflictError with a table unless every ref is where the run left it, or may have left it.

    The step under way at the crash may have moved its refs in part: those that were written ahead,
    or one candidate by one edit.
    """
    expected, actual = expected_refs(steps), run_refs(repository, run)
    ahead = {m.ref: m.new for m in steps[-1].moves} if steps and steps[-1].ahead else {}
    strange = []
    for ref in sorted({*expected, *actual} - {evidence_ref(run)}):
        found, wanted = actual.get(ref), expected.get(ref)
        if found in (wanted, ahead.get(ref, wanted)) or not steps:
            continue
        parsed = parse_ref(ref)
        if parsed is not None and parsed.kind is RefKind.CANDIDATE and found is not None:
            before = wanted or expected.get(f"{BRANCHES}/{run}/main")
            if repository.find_object(f"{found}^1") == before and not ahead:
                continue
        strange.append(_row(ref, {wanted}, found))
    if strange:
        raise moved_by_others(run, strange)


def moved_by_others(run: str, rows: Sequence[str]) -> ConflictError:
    """Refs of the run that are where the run did not put them, a row each."""
    return ConflictError(
        f"run {run} cannot be resumed: somebody moved its refs",
        why="; ".join(rows),
        fix="put them back with git update-ref, or start a new run; nothing was changed",
    )


def _row(ref: str, wanted: set[str | None], found: str | None) -> str:
    places = " or ".join(sorted(oid[:12] if oid else "absent" for oid in wanted))
    return f"{short_ref(ref)} should be {places}, is {found[:12] if found else 'absent'}"
