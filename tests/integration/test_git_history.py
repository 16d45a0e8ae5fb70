"""Runs, edits and merges as they are read back from git."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitbox import RUN, GitBox, candidate, edit, isolate, skill, store, team_box, verdict

from skillevo.errors import SkillevoError
from skillevo.store.history import CandidateRef, Decided, Fate, edits, find_run, merges, read_runs
from skillevo.types import Decision, Operator

CONSOLIDATE = edit(
    Operator.CONSOLIDATE,
    "form",
    skill("form"),
    removes=("units", "wording"),
    summary="join units and wording",
    sources=("answerer/units", "answerer/wording"),
)
INDUCE = edit(
    Operator.INDUCE, "fresh", skill("fresh"), agent="reader", summary="add a skill", utility=None
)


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitBox:
    isolate(tmp_path, monkeypatch)
    return team_box(tmp_path / "user")


def make_run(box: GitBox, run: str = RUN) -> dict[str, str]:
    """One accepted, one rejected and one pending candidate; their heads and the merge."""
    git_store = store(box.repository(), run)
    base = box.git("rev-parse", "HEAD")
    git_store.begin(run, base)
    accepted = tuple(git_store.commit("answerer", 1, [edit(), CONSOLIDATE], base))
    rejected = tuple(git_store.commit("reader", 1, [INDUCE], base))
    merge = git_store.accept(candidate(base, accepted, run=run), verdict())
    git_store.reject(
        candidate(base, rejected, agent="reader", run=run), verdict(Decision.REJECT, "reader")
    )
    (pending,) = git_store.commit("reader", 2, [INDUCE], merge)
    return {
        "base": base,
        "first": accepted[0].commit,
        "accepted": accepted[1].commit,
        "rejected": rejected[0].commit,
        "pending": pending.commit,
        "merge": merge,
    }


def test_repository_without_runs_has_no_history(box: GitBox) -> None:
    repository = box.repository()
    assert read_runs(repository) == ()
    assert edits(repository) == ()
    assert merges(repository) == ()


def test_run_is_read_from_its_refs(box: GitBox) -> None:
    ids = make_run(box)
    box.git("branch", "skillevo/UPPER/main")
    (run,) = read_runs(box.repository())
    assert run.id == RUN
    assert run.head == ids["merge"]
    assert run.candidates == (
        CandidateRef("reader", 1, ids["rejected"]),
        CandidateRef("reader", 2, ids["pending"]),
    )
    assert run.decisions == {
        ("answerer", 1): Decided(Fate.ACCEPT, ids["accepted"]),
        ("reader", 1): Decided(Fate.REJECT, ids["rejected"]),
    }
    assert run.count(Fate.REJECT) == 1
    assert not run.ended
    assert run.evidence == box.refs()[f"refs/skillevo/runs/{RUN}"]
    assert set(run.tips) == {ids["merge"], ids["rejected"], ids["pending"], run.evidence}


def test_unknown_run_is_a_usage_error_that_names_the_known(box: GitBox) -> None:
    make_run(box)
    with pytest.raises(SkillevoError, match="no run 'absent'") as caught:
        find_run(box.repository(), "absent")
    assert RUN in caught.value.why


def test_edits_are_read_in_order_with_their_fate(box: GitBox) -> None:
    ids = make_run(box)
    found = edits(box.repository(), RUN)
    assert [one.id for one in found] == [f"{RUN}-000{n}" for n in (1, 2, 3, 4)]
    assert [one.commit for one in found] == [
        ids[name] for name in ("first", "accepted", "rejected", "pending")
    ]
    assert [one.decision for one in found] == [
        Fate.ACCEPT, Fate.ACCEPT, Fate.REJECT, Fate.PENDING,
    ]  # fmt: skip
    second = found[1]
    assert second.operator is Operator.CONSOLIDATE
    assert (second.agent, second.skill, second.iteration) == ("answerer", "form", 1)
    assert (second.utility, second.support) == (-0.25, 3)
    assert second.subject == "consolidate(answerer/form): join units and wording"
    assert second.sources == ("answerer/units", "answerer/wording")
    assert found[2].utility is None


def test_rejected_edit_survives_the_loss_of_its_head_and_a_prune(box: GitBox) -> None:
    ids = make_run(box)
    box.git("update-ref", "-d", f"refs/heads/skillevo/{RUN}/reader/i001")
    box.git("reflog", "expire", "--expire=now", "--all")
    box.git("gc", "-q", "--prune=now")
    found = edits(box.repository(), RUN)[2]
    assert (found.commit, found.decision) == (ids["rejected"], Fate.REJECT)


@pytest.mark.parametrize("state", ["", "[]", '{"decisions": [{}], "ended": true}', "{"])
def test_damaged_state_leaves_decisions_open(box: GitBox, state: str) -> None:
    ids = make_run(box)
    blob = box.git("hash-object", "-w", "--stdin", stdin=state.encode())
    tree = box.git("mktree", stdin=f"100644 blob {blob}\tstate.json\n".encode())
    ref = f"refs/skillevo/runs/{RUN}"
    box.git("update-ref", ref, box.git("commit-tree", tree, "-p", ref, "-m", "x"))
    found = {one.commit: one.decision for one in edits(box.repository(), RUN)}
    assert found[ids["rejected"]] is Fate.PENDING
    assert found[ids["accepted"]] is Fate.ACCEPT


def test_edits_of_all_runs_are_told_apart(box: GitBox) -> None:
    make_run(box, "a")
    make_run(box, "b")
    repository = box.repository()
    assert [one.run for one in edits(repository)] == ["a"] * 4 + ["b"] * 4
    assert {one.run for one in edits(repository, "b")} == {"b"}
    assert [run.id for run in read_runs(repository)] == ["a", "b"]


def test_edits_of_a_range(box: GitBox) -> None:
    ids = make_run(box)
    repository = box.repository()
    in_range = edits(repository, revisions=f"{ids['first']}..skillevo/{RUN}/main")
    assert [one.commit for one in in_range] == [ids["accepted"]]
    assert edits(repository, revisions=f"{ids['merge']}..") == ()
    everything = edits(repository, revisions=f"skillevo/{RUN}/main")
    assert [one.commit for one in everything] == [ids["first"], ids["accepted"]]
    with pytest.raises(SkillevoError, match="unknown revision 'absent'"):
        edits(repository, revisions="absent..HEAD")


def test_fate_is_known_when_the_merge_lies_outside_the_range(box: GitBox) -> None:
    ids = make_run(box)
    (one,) = edits(box.repository(), revisions=f"{ids['first']}..{ids['accepted']}")
    assert one.decision is Fate.ACCEPT


def test_merges_carry_score_and_gate(box: GitBox) -> None:
    ids = make_run(box)
    (merge,) = merges(box.repository(), RUN)
    assert merge.commit == ids["merge"]
    assert (merge.agent, merge.iteration) == ("answerer", 1)
    assert merge.score == "0.512 -> 0.578 (n=64, H=1)"
    assert merge.gate == "tolerance 0.02; delta=+0.066; se=0.021"
    assert merge.candidate == ids["accepted"]
    assert merge.base == ids["base"]
    assert merge.subject == "merge(answerer): accept 2 edits from iteration 1"


def test_merges_of_one_iteration_stay_in_the_order_of_merging(box: GitBox) -> None:
    git_store = store(box.repository())
    base = box.git("rev-parse", "HEAD")
    git_store.begin(RUN, base)
    for agent, one in (("reader", INDUCE), ("answerer", edit())):
        done = tuple(git_store.commit(agent, 1, [one], base))
        git_store.accept(candidate(base, done, agent=agent), verdict(agent=agent))
    assert [merge.agent for merge in merges(box.repository())] == ["reader", "answerer"]


@pytest.mark.parametrize(
    "message",
    [
        "x\n\nSkillevo-Edit: forged-0001\nSkillevo-Format: 1\n",
        f"x\n\nSkillevo-Edit: {RUN}-0009\nSkillevo-Run: {RUN}\nSkillevo-Operator: delete\n"
        "Skillevo-Iteration: 1\nSkillevo-Format: 1\n",
        f"x\n\nSkillevo-Edit: {RUN}-0009\nSkillevo-Run: {RUN}\nSkillevo-Operator: refine\n"
        "Skillevo-Iteration: first\nSkillevo-Format: 1\n",
        # A merge needs two parents.
        f"x\n\nSkillevo-Decision: accept\nSkillevo-Run: {RUN}\nSkillevo-Agent: reader\n"
        "Skillevo-Iteration: 2\nSkillevo-Format: 1\n",
        f"x\n\nSkillevo-Decision: accept\nSkillevo-Run: {RUN}\nSkillevo-Agent: reader\n"
        "Skillevo-Iteration: two\nSkillevo-Format: 1\n",
        "a\x1fb\x1fc\x1fd\n\nSkillevo-Format: \x1f1\n",
    ],
)
def test_commit_that_only_looks_like_ours_is_left_out(box: GitBox, message: str) -> None:
    ids = make_run(box)
    parents = ["-p", ids["merge"], *(["-p", ids["base"]] if "Iteration: two" in message else [])]
    repository = box.repository()
    before = (edits(repository), merges(repository))
    forged = box.git("commit-tree", "HEAD^{tree}", *parents, "-F", "-", stdin=message.encode())
    box.git("update-ref", f"refs/heads/skillevo/{RUN}/main", forged)
    assert (edits(repository), merges(repository)) == before


def test_hostile_configuration_neither_runs_nor_hides_anything(box: GitBox, tmp_path: Path) -> None:
    make_run(box)
    repository = box.repository()
    before = (edits(repository), merges(repository))
    ran = tmp_path / "ran"
    for key, value in {
        "trailer.separators": "=",
        "trailer.Skillevo-Edit.cmd": f"touch {ran}; echo",
        "trailer.Skillevo-Edit.command": f"touch {ran}",
        "trailer.Skillevo-Edit.key": "Other",
        "diff.external": f"touch {ran}",
        "diff.md.command": f"touch {ran}",
        "log.showSignature": "true",
        "gpg.program": f"{ran}",
        "log.mailmap": "true",
        "color.ui": "always",
        "core.pager": f"touch {ran}",
        "i18n.logOutputEncoding": "UTF-16",
        "grep.patternType": "fixed",
        "format.pretty": "oneline",
    }.items():
        box.git("config", key, value)
    box.write(".gitattributes", "*.md diff=md\n")
    assert (edits(repository), merges(repository)) == before
    assert not ran.exists()
