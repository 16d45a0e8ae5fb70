"""The git side of a run: candidates, one commit per edit, merges; never the user's own branches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from skillevo.core.evidence import Files, digest
from skillevo.core.refs import (
    candidate_branch,
    edit_id,
    edit_message,
    merge_message,
    run_branch,
    short_ref,
    valid_agent,
    valid_run,
)
from skillevo.errors import ConfigError
from skillevo.library.standard import FORMAT, Standard
from skillevo.store.candidate_tree import CandidateTree
from skillevo.store.committer import Committer, signed_commits
from skillevo.store.git import Repository
from skillevo.store.journal import Boundary, Journal, check_refs, recorded_steps, run_refs
from skillevo.store.libraries import SKILLS, read_libraries
from skillevo.store.objects import ObjectWriter
from skillevo.store.trees import tree_writer
from skillevo.store.values import Identity, RefChange
from skillevo.types import (
    Candidate,
    CommittedEdit,
    Decision,
    Edit,
    Library,
    Outcome,
    Settlement,
    Verdict,
)


class GitStore:
    """Implements ``ports.LibraryStore`` for one run in one repository.

    Commit n of the run is dated ``started`` + n seconds, zone +0000, so that equal inputs give
    equal object ids. ``skills`` is the folder of the libraries from the top of the repository.
    Calls may come from several threads; they take turns. ConfigError for a run id or an agent that
    cannot be part of a ref name.

    With ``resume`` the run is played again: what is on record is not done twice. ConflictError when
    its refs are not where it left them. ``boundary`` is told of each step before and after it moves
    refs.
    """

    def __init__(
        self,
        repository: Repository,
        *,
        run: str,
        started: int,
        author: Identity,
        committer: Identity,
        agents: Sequence[str],
        sign: bool = False,
        standard: Standard = FORMAT,
        skills: str = SKILLS,
        resume: bool = False,
        boundary: Boundary = lambda _: None,
    ) -> None:
        _check_names(run, agents)
        self._repository = repository
        self._run = run
        self._branch = run_branch(run)
        self._agents = tuple(agents)
        self._standard = standard
        self._skills = skills
        self._edits = 0
        self._tip = ""
        self._turn = threading.RLock()
        recorded = recorded_steps(repository, run) if resume else None
        signed: Mapping[bytes, str] = {}
        if recorded:
            check_refs(repository, run, recorded)
            if sign:
                tips = tuple(run_refs(repository, run).values())
                signed = signed_commits(repository, tips, str(recorded[0].moves[0].new))
        self._committer = Committer(
            repository,
            started=started,
            author=author,
            committer=committer,
            sign=sign,
            recorded=signed,
        )
        self._objects = ObjectWriter(repository)
        self._journal = Journal(
            repository,
            run,
            self._committer,
            self._objects,
            recorded=recorded,
            boundary=boundary,
        )

    @property
    def replaying(self) -> bool:
        """True while a resumed run repeats what is on record."""
        return self._journal.replaying

    def team_libraries(self, revision: str) -> Mapping[str, Library]:
        """The libraries of the run's agents at a commit; an absent folder is an empty library."""
        with self._turn:
            commit = self._repository.resolve(revision)
            return read_libraries(
                self._repository, commit, self._agents, self._skills, standard=self._standard
            )

    def begin(self, run: str, base: str, evidence: Files) -> None:
        """Create the run branch at ``base`` and the evidence; ConflictError when one exists.

        When commits are to be signed, one is signed first, so that a broken key is told before
        any model is called.
        """
        if run != self._run:
            raise ValueError(f"this store serves run {self._run}, not {run}")
        with self._turn:
            commit = self._repository.resolve(base)
            self._committer.probe_signing(commit, run)
            self._journal.step("begin", evidence, [RefChange(self._branch, commit, None)])
            self._tip = commit

    def commit(
        self,
        agent: str,
        iteration: int,
        edits: Sequence[Edit],
        base: str,
        evidence: Callable[[str, Edit], str],
    ) -> Sequence[CommittedEdit]:
        """Write each edit as one commit on the agent's candidate branch, from ``base`` on.

        The first edit creates the branch, each next one moves it from where the last one left it,
        together with the evidence. Nothing is created for no edits. LibraryError for an edit that
        does not fit the library.
        """
        with self._turn:
            start = self._repository.resolve(base)
            if not edits:
                return ()
            ref = candidate_branch(self._run, agent, iteration)
            committed: list[CommittedEdit] = []
            tip: str | None = None
            with tree_writer(self._repository, start) as writer:
                folder = f"{self._skills}/{agent}/"
                trees = CandidateTree(self._repository, self._objects, writer, folder, start)
                for edit in edits:
                    tree = trees.apply(edit)
                    name = edit_id(self._run, self._edits + 1)
                    told = evidence(name, edit)
                    message = edit_message(
                        edit,
                        name=name,
                        run=self._run,
                        iteration=iteration,
                        base=start,
                        evidence=digest(told),
                    )
                    commit = self._committer.commit(tree, [tip or start], message)
                    self._journal.step(
                        f"edit {name}",
                        {f"edits/{name}.json": told},
                        [RefChange(ref, commit, tip)],
                        pins=[commit],
                    )
                    self._edits += 1
                    tip = commit
                    committed.append(CommittedEdit(name, edit, commit))
            return tuple(committed)

    def publish(
        self,
        iteration: int,
        judged: Sequence[tuple[Candidate, Verdict]],
        evidence: Callable[[Settlement], Files],
    ) -> Settlement:
        """Decide what becomes of each candidate, record it, then make it so in one transaction.

        Accepted candidates are merged into the run branch one after the other, onto commits of
        others where those left the agent's folder alone; where they did not, the candidate is
        stale. An accepted head goes, being the merge's second parent; any other one stays.
        ConflictError when a ref moves in between; the decision is on record then.
        """
        name = f"decide {iteration}"
        with self._turn:
            known = self._journal.next_recorded(name)
            tip = (known.old(self._branch) if known else None) or self._repository.resolve(
                self._branch
            )
            settlement = self._settle(iteration, tip, judged)
            moves = [RefChange(self._branch, settlement.head, tip)]
            moves += [self._candidate_move(outcome) for outcome in settlement.outcomes]
            self._journal.decided(iteration, settlement.outcomes)
            self._journal.step(name, evidence(settlement), moves, ahead=True)
            if settlement.outcomes:
                self._journal.step(f"publish {iteration}", {}, moves)
            self._tip = settlement.head
            return settlement

    def _candidate_move(self, outcome: Outcome) -> RefChange:
        """An accepted head goes, any other one is verified to stand where it was left."""
        head = outcome.candidate.head
        kept = None if outcome.decision is Decision.ACCEPT else head
        return RefChange(self._candidate_ref(outcome.candidate), kept, head)

    def end(self, evidence: Files) -> None:
        """Record how the run ended."""
        with self._turn:
            self._journal.step("end", evidence)

    def _settle(
        self, iteration: int, tip: str, judged: Sequence[tuple[Candidate, Verdict]]
    ) -> Settlement:
        """The outcomes, with merge commits that no ref names yet."""
        moved = tip if self._tip and tip != self._tip else ""
        head, outcomes = tip, []
        for candidate, verdict in judged:
            outcome = Outcome(candidate, verdict, verdict.decision)
            if verdict.decision is Decision.ACCEPT:
                outcome = self._merge(head, candidate, verdict, moved)
                head = outcome.merge or head
            outcomes.append(outcome)
        return Settlement(iteration, tip, head, tuple(outcomes))

    def _merge(self, head: str, candidate: Candidate, verdict: Verdict, moved: str) -> Outcome:
        folder = f"{self._skills}/{candidate.agent}"
        tree = self._repository.merge_trees(head, candidate.head)
        wanted = self._repository.object_at(candidate.head, folder)
        if tree is None or self._repository.object_at(tree, folder) != wanted:
            branch = short_ref(self._branch)
            reason = f"{folder} changed on {branch} since the candidate's base"
            return Outcome(candidate, verdict, Decision.STALE, base_moved=moved, reason=reason)
        message = merge_message(candidate, verdict, run=self._run, base_moved=moved)
        merge = self._committer.commit(tree, [head, candidate.head], message)
        return Outcome(candidate, verdict, verdict.decision, merge, moved)

    def _candidate_ref(self, candidate: Candidate) -> str:
        return candidate_branch(self._run, candidate.agent, candidate.iteration)


def _check_names(run: str, agents: Sequence[str]) -> None:
    if not valid_run(run):
        raise ConfigError(
            f"invalid run id {run!r}",
            why="it becomes part of branch names: 1 to 64 of a-z, 0-9 and inner hyphens",
            fix="--run-id my-run-1",
        )
    for agent in agents:
        if not valid_agent(agent):
            raise ConfigError(
                f"invalid agent name {agent!r}",
                why="it becomes a folder and part of branch names: a-z, 0-9, single inner hyphens,"
                " at most 64, not 'main'",
                fix="rename the agent in skillevo.toml",
            )
