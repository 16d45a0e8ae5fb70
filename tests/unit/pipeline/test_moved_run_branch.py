"""Somebody commits to the run branch while the run is at work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fakes.running import MEASURE, Play
from integration.gitbox import RUN, GitBox, isolate, skill

from skillevo.store.evidence import read_evidence
from skillevo.types import AgentResult, ChatRequest, Decision, RunResult

MAIN = f"refs/heads/skillevo/{RUN}/main"


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitBox:
    isolate(tmp_path, monkeypatch)
    box = GitBox(tmp_path / "project")
    box.write("README.md", "mine\n")
    box.save("Start")
    return box


def meddling(box: GitBox, path: str, content: str) -> tuple[Any, list[str]]:
    """A hook that commits ``path`` to the run branch during the gate, once; and the commit."""
    made: list[str] = []

    def hook(stage: str, request: ChatRequest) -> None:
        if stage == "validation" and "GOOD" in request.messages[0].content and not made:
            made.append(foreign(box, path, content))

    return hook, made


def foreign(box: GitBox, path: str, content: str) -> str:
    blob = box.git("hash-object", "-w", "--stdin", stdin=content.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_INDEX_FILE", str(box.root / ".git" / "foreign-index"))
        box.git("read-tree", MAIN)
        box.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
        tree = box.git("write-tree")
    commit = box.git("commit-tree", tree, "-p", MAIN, "-m", "Foreign")
    box.git("update-ref", MAIN, commit)
    return commit


def outcome(result: RunResult, iteration: int, agent: str) -> AgentResult:
    return next(a for a in result.iterations[iteration - 1].agents if a.agent == agent)


def test_disjoint_commit_is_merged_onto_and_said(box: GitBox) -> None:
    hook, made = meddling(box, "docs/note.md", "note\n")
    play = Play(box, bodies={"reader": ["GOOD"], "answerer": ["GOOD"]}, hook=hook, iterations=2)
    result = play.run()
    agents = [outcome(result, 1, name) for name in ("answerer", "reader")]
    assert [a.decision for a in agents] == [Decision.ACCEPT] * 2
    assert box.git("rev-parse", f"{agents[0].merge}^1") == made[0]
    assert box.git("rev-parse", f"{agents[1].merge}^1") == agents[0].merge
    for agent in agents:
        message = box.git("log", "-1", "--format=%B", agent.merge)
        assert f"Skillevo-Base-Moved: {made[0]}\n" in message
    assert "docs/note.md" in box.paths(result.head)
    evidence = read_evidence(box.repository(), RUN)
    assert evidence is not None
    assert {one.base_moved for one in evidence.iterations[0].decisions} == {made[0]}


def test_overlapping_commit_makes_the_candidate_stale_and_keeps_it(box: GitBox) -> None:
    text = skill("theirs", "BAD")
    hook, _ = meddling(box, "skills/reader/theirs/SKILL.md", text)
    bodies = {"reader": ["GOOD", "GOOD"], "answerer": ["GOOD"]}
    play = Play(box, bodies=bodies, hook=hook, iterations=2)
    result = play.run()
    stale = outcome(result, 1, "reader")
    assert (stale.decision, stale.merge) == (Decision.STALE, "")
    assert stale.verdict is not None
    assert stale.verdict.reason.startswith("skills/reader changed on skillevo/")
    assert outcome(result, 1, "answerer").decision is Decision.ACCEPT
    refs = box.refs()
    assert refs[f"refs/heads/skillevo/{RUN}/reader/i001"] == stale.edits[-1].commit
    told = [data["verdict"] for kind, data in play.events if kind == "verdict"]
    assert {v["agent"]: v["decision"] for v in told[:2]} == {
        "reader": "stale",
        "answerer": "accept",
    }
    # The next iteration knows what the others wrote and adds to it.
    again = outcome(result, 2, "reader")
    assert again.decision is Decision.ACCEPT
    assert "skills/reader/theirs/SKILL.md" in box.paths(result.head)
    assert "skills/reader/made/SKILL.md" in box.paths(result.head)
    assert box.show(result.head, "skills/reader/theirs/SKILL.md").decode() == text
    evidence = read_evidence(box.repository(), RUN)
    assert evidence is not None
    decision = evidence.decision_of(stale.edits[0].id)
    assert decision is not None
    assert (decision.decision, decision.verdict) == (Decision.STALE, Decision.ACCEPT)
    assert "skills/reader changed on skillevo/" in decision.reason


def test_commit_of_others_is_the_next_base_when_nothing_was_accepted(box: GitBox) -> None:
    made: list[str] = []

    def hook(stage: str, request: ChatRequest) -> None:
        if stage == "validation" and "BAD" in request.messages[0].content and not made:
            made.append(foreign(box, "docs/note.md", "note\n"))

    play = Play(box, bodies={"reader": ["BAD", "GOOD"]}, hook=hook, iterations=2)
    result = play.run()
    assert outcome(result, 1, "reader").decision is Decision.REJECT
    second = outcome(result, 2, "reader")
    assert second.decision is Decision.ACCEPT
    assert box.git("rev-parse", f"{second.edits[0].commit}^") == made[0]
    assert "Base-Moved" not in box.git("log", "-1", "--format=%B", second.merge)
    # The base is measured anew: nobody knows the score of a team that others had a part in.
    assert play.calls.count("validation") == 4 * MEASURE


def test_users_own_branch_may_move_and_the_run_does_not_care(box: GitBox) -> None:
    base = box.git("rev-parse", "HEAD")

    def hook(stage: str, request: ChatRequest) -> None:
        if stage == "critic" and box.git("rev-parse", "HEAD") == base:
            box.write("mine.txt", "mine\n")
            box.save("Mine")

    result = Play(box, hook=hook).run()
    assert result.base == base
    assert "mine.txt" not in box.paths(result.head)
    assert box.git("rev-parse", "trunk^") == base
