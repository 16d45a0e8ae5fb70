"""The loop end to end: scripted models, a real repository, a real run directory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.running import MEASURE, VALIDATION, Play
from integration.gitbox import RUN, GitBox, isolate

from skillevo.errors import BudgetReached, CallFailed, ConflictError, ServerError
from skillevo.llm.simulated import SimulatedFaults
from skillevo.types import AgentResult, ChatRequest, Decision, RunResult

Made = Callable[..., Play]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """A run over a fresh repository without skills."""
    isolate(tmp_path, monkeypatch)
    box = GitBox(tmp_path / "project")
    box.write("README.md", "mine\n")
    box.save("Start")

    def make(**options: Any) -> Play:
        return Play(box, **options)

    return make


def outcome(result: RunResult, iteration: int = 1, agent: str = "reader") -> AgentResult:
    return next(a for a in result.iterations[iteration - 1].agents if a.agent == agent)


def path(agent: str) -> str:
    return f"skills/{agent}/made/SKILL.md"


# --- decisions ------------------------------------------------------------------------------------


def test_a_candidate_that_helps_is_merged_and_its_score_is_the_next_base(play: Made) -> None:
    made = play()
    before = made.box.snapshot()
    result = made.run()
    agent = outcome(result)
    assert agent.decision is Decision.ACCEPT
    assert agent.verdict is not None
    assert (agent.verdict.base, agent.verdict.score, agent.verdict.n) == (0.5, 1.0, 6)
    assert (agent.verdict.better, agent.verdict.worse) == (3, 0)
    assert result.head == agent.merge == made.box.refs()[f"refs/heads/skillevo/{RUN}/main"]
    assert made.box.paths(result.head) == ["README.md", path("reader")]
    assert (result.final_score, result.not_done) == (1.0, ())
    assert outcome(result, agent="answerer").decision is Decision.UNCHANGED
    first = result.iterations[0]
    assert (first.base_score, first.groups, first.contrast, first.mean_reward) == (0.5, 3, 3, 0.5)
    assert made.calls.count("validation") == 2 * MEASURE
    after = {k: v for k, v in made.box.snapshot().items() if not k.startswith(".skillevo")}
    assert after == before


def test_a_candidate_that_hurts_is_kept_aside_and_its_state_is_written(play: Made) -> None:
    made = play(bodies={"reader": ["BAD"]})
    result = made.run()
    agent = outcome(result)
    assert agent.decision is Decision.REJECT
    assert (agent.merge, result.head, result.final_score) == ("", result.base, 0.5)
    refs = made.box.refs()
    assert refs[f"refs/heads/skillevo/{RUN}/main"] == result.base
    evidence = refs[f"refs/skillevo/runs/{RUN}"]
    assert agent.edits[-1].commit in made.box.git("rev-list", evidence).splitlines()
    assert made.record("iterations/001/state")["state"]["refused"] == [agent.edits[0].edit.digest]


def test_a_rejected_edit_is_not_tried_again_and_nothing_is_measured_twice(play: Made) -> None:
    made = play(bodies={"reader": ["BAD", "BAD"]}, iterations=2)
    result = made.run()
    assert outcome(result, 2).decision is Decision.UNCHANGED
    assert [r.reason for r in result.iterations[1].refusals if r.agent == "reader"] == [
        "the gate rejected the same edit earlier in this run"
    ]
    assert made.calls.count("validation") == 2 * MEASURE


def test_without_edits_the_base_is_measured_once_for_all_iterations(play: Made) -> None:
    made = play(bodies={}, iterations=3)
    result = made.run()
    assert [a.decision for i in result.iterations for a in i.agents] == [Decision.UNCHANGED] * 6
    assert (result.head, result.final_score) == (result.base, 0.5)
    assert made.calls.count("validation") == MEASURE
    assert [r.agent for r in result.iterations[0].refusals] == ["answerer", "reader"]


def test_agents_are_tested_alone_and_accepted_together(play: Made) -> None:
    made = play(bodies={"reader": ["GOOD"], "answerer": ["GOOD"]})
    result = made.run()
    assert [a.decision for a in result.iterations[0].agents] == [Decision.ACCEPT] * 2
    assert {a.verdict.base for a in result.iterations[0].agents if a.verdict} == {0.5}
    assert made.box.paths(result.head) == ["README.md", path("answerer"), path("reader")]
    # Base, two candidates, and the team of both, which nobody has measured yet.
    assert made.calls.count("validation") == 4 * MEASURE
    assert result.final_score == 1.0


def test_one_agent_can_be_accepted_while_the_other_is_rejected(play: Made) -> None:
    made = play(bodies={"reader": ["GOOD"], "answerer": ["BAD"]})
    result = made.run()
    decisions = {a.agent: a.decision for a in result.iterations[0].agents}
    assert decisions == {"answerer": Decision.REJECT, "reader": Decision.ACCEPT}
    assert made.box.paths(result.head) == ["README.md", path("reader")]
    assert result.final_score == 1.0
    assert made.calls.count("validation") == 3 * MEASURE


def test_the_accepted_score_can_be_measured_anew_instead_of_reused(play: Made) -> None:
    made = play(reuse_base=False)
    assert made.run().final_score == 1.0
    assert made.calls.count("validation") == 3 * MEASURE


def test_the_next_iteration_starts_from_the_merged_team(play: Made) -> None:
    made = play(bodies={"reader": ["GOOD", "BAD"]}, iterations=2)
    result = made.run()
    assert result.iterations[1].base_score == 1.0
    second = outcome(result, 2)
    assert second.edits[0].edit.skill == "made-2"
    # GOOD stands first in the prompt: the second skill changes nothing and a tie is accepted.
    assert second.decision is Decision.ACCEPT
    assert made.box.git("log", "--format=%s", "--first-parent", result.head).splitlines()[:2] == [
        "merge(reader): accept 1 edit from iteration 2",
        "merge(reader): accept 1 edit from iteration 1",
    ]


# --- faults ---------------------------------------------------------------------------------------


def failing(*numbers: int, cue: str = "") -> Any:
    """A hook that fails the validation of those questions where the prompt holds the cue."""

    def hook(stage: str, request: ChatRequest) -> None:
        system, user = (message.content for message in request.messages[:2])
        number = user.partition("?")[0][-1]
        if stage == "validation" and cue in system and int(number) in numbers:
            raise CallFailed("busy")

    return hook


def test_faults_of_the_validation_leave_a_candidate_undecided(play: Made) -> None:
    made = play(bodies={"reader": ["GOOD", "GOOD"]}, iterations=2, hook=failing(0, 1, cue="GOOD"))
    result = made.run()
    agent = outcome(result)
    assert agent.decision is Decision.INDECISIVE
    assert agent.verdict is not None
    assert agent.verdict.reason == "4 of 6 questions could be scored; 1 more would decide"
    assert result.head == result.base
    assert made.record("iterations/001/state")["state"]["refused"] == []
    # What was not decided may be proposed again.
    assert outcome(result, 2).edits[0].edit.digest == agent.edits[0].edit.digest


def test_a_few_faults_leave_it_decidable(play: Made) -> None:
    result = play(hook=failing(0, cue="GOOD")).run()
    agent = outcome(result)
    assert agent.verdict is not None
    assert (agent.decision, agent.verdict.n) == (Decision.ACCEPT, 5)
    # Question 0 was wrong before: of the other five three were right.
    assert (agent.verdict.base, agent.verdict.score) == (0.6, 1.0)


def test_a_base_with_faults_is_measured_again_and_the_run_recovers(play: Made) -> None:
    made = play(bodies={"reader": ["GOOD", "GOOD"]}, iterations=2)
    fails = failing(0, 1, 2)
    made.hook = lambda stage, request: fails(stage, request) if not made.drafts else None
    result = made.run()
    assert outcome(result, 1).decision is Decision.INDECISIVE
    assert outcome(result, 2).decision is Decision.ACCEPT
    assert result.iterations[1].base_score == 0.5


def test_a_validation_without_any_score_ends_the_run(play: Made) -> None:
    with pytest.raises(ServerError, match="no validation question could be scored") as told:
        play(hook=failing(*range(6))).run()
    assert told.value.why == "v0: busy"


def test_each_iteration_is_told_as_it_ends(play: Made) -> None:
    made = play(bodies={"reader": ["GOOD", "GOOD"]}, iterations=2)
    result = made.run()
    assert tuple(made.finished) == result.iterations


def test_a_candidate_without_any_score_is_undecided(play: Made) -> None:
    agent = outcome(play(hook=failing(*range(6), cue="GOOD")).run())
    assert agent.verdict is not None
    assert (agent.decision, agent.verdict.n) == (Decision.INDECISIVE, 0)
    assert agent.verdict.reason == "0 of 6 questions could be scored; 5 more would decide"


def test_training_without_any_group_ends_the_run(play: Made) -> None:
    def hook(stage: str, request: ChatRequest) -> None:
        if stage == "training":
            raise CallFailed("busy")

    with pytest.raises(ExceptionGroup) as caught:
        play(hook=hook).run()
    assert caught.group_contains(ServerError, match="no group of iteration 1 could be used")


def test_random_faults_never_count_as_rewards_of_zero(play: Made) -> None:
    made = play(bodies={}, group_size=4, faults=SimulatedFaults(failed=0.15))
    result = made.run()
    rows = made.rows("trajectories")
    faulty = [row for row in rows if row["stop_reason"] != "finished"]
    assert faulty
    assert all(row["reward"] is None and row["error"] for row in faulty)
    assert result.iterations[0].groups + len(result.iterations[0].excluded) == 3
    told = [data["question"] for kind, data in made.events if kind == "group_excluded"]
    assert told == [question for question, _ in result.iterations[0].excluded]


def test_equal_groups_can_be_left_out_and_nothing_is_learned(play: Made) -> None:
    made = play(differing_only=True, group_size=1)
    result = made.run()
    assert (result.iterations[0].groups, result.iterations[0].mean_reward) == (0, 0.0)
    assert len(result.iterations[0].excluded) == 3
    assert "critic" not in made.calls


def test_a_run_that_exists_is_a_conflict(play: Made) -> None:
    play(bodies={}).run()
    with pytest.raises(ConflictError, match="cannot move refs/heads/skillevo/"):
        play(bodies={}).run()


# --- budget ---------------------------------------------------------------------------------------

BOTH = {"reader": ["GOOD", "GOOD"], "answerer": ["GOOD", "GOOD"]}


def spent(stage: str, allowed: int) -> Any:
    """A hook that lets ``allowed`` calls of a stage through."""
    seen = [0]

    def hook(now: str, request: ChatRequest) -> None:
        seen[0] += now == stage
        if now == stage and seen[0] > allowed:
            raise BudgetReached("calls")

    return hook


@pytest.mark.parametrize(
    ("stage", "allowed", "finished", "doing"),
    [
        ("validation", 0, 0, "validation of the base"),
        ("training", 0, 0, "rollouts and credit"),
        ("critic", 0, 0, "rollouts and credit"),
        ("optimizer", 0, 0, "rollouts and credit"),
        ("validation", MEASURE, 0, "gate"),
        # Two accepted candidates: iteration 2 has a base to measure.
        ("validation", 3 * MEASURE, 1, "validation of the base"),
        ("training", 3 * 2 * 2, 1, "rollouts and credit"),
        ("critic", 3, 1, "rollouts and credit"),
        ("validation", 4 * MEASURE + 1, 1, "gate"),
    ],
)
def test_a_cap_ends_the_run_in_order_and_keeps_finished_iterations(
    play: Made, stage: str, allowed: int, finished: int, doing: str
) -> None:
    made = play(bodies=BOTH, iterations=4, hook=spent(stage, allowed))
    result = made.run()
    assert len(result.iterations) == finished
    started = finished + 1
    rest = f"iteration {started + 1} to 4 not started"
    assert result.not_done == (f"iteration {started} stopped during {doing} (calls used up)", rest)
    assert made.box.refs()[f"refs/heads/skillevo/{RUN}/main"] == result.head
    assert (result.head == result.base) is (finished == 0)


def test_the_last_and_the_one_before_are_told_without_a_range(play: Made) -> None:
    result = play(iterations=2, hook=spent("critic", 0)).run()
    assert result.not_done[1] == "iteration 2 not started"
    assert result.final_score is None


def test_a_cap_in_the_last_iteration_leaves_nothing_to_start(play: Made) -> None:
    result = play(hook=spent("critic", 0)).run()
    assert result.not_done == ("iteration 1 stopped during rollouts and credit (calls used up)",)


def test_a_cap_during_the_final_validation_leaves_the_score_open(play: Made) -> None:
    result = play(bodies=BOTH, hook=spent("validation", 3 * MEASURE + 1)).run()
    assert [a.decision for a in result.iterations[0].agents] == [Decision.ACCEPT] * 2
    assert result.final_score is None
    assert result.not_done == ("the final team's validation score (calls used up)",)


def test_a_known_score_is_told_even_when_a_cap_was_met(play: Made) -> None:
    result = play(iterations=2, hook=spent("critic", 3)).run()
    assert (len(result.iterations), result.final_score) == (1, 1.0)


# --- records --------------------------------------------------------------------------------------


def test_a_run_leaves_records_events_and_trajectories(play: Made) -> None:
    made = play()
    result = made.run()
    assert sorted(p.name for p in (made.folder / "iterations/001").iterdir()) == [
        "aggregate.json", "credit.json", "result.json", "state.json",
    ]  # fmt: skip
    kinds = [kind for kind, _ in made.events]
    assert kinds[:2] == ["iteration", "stage"]
    assert [data["name"] for kind, data in made.events if kind == "stage"] == [
        "validation of the base", "rollouts and credit", "gate",
    ]  # fmt: skip
    assert [data["total"] for kind, data in made.events if kind == "stage"] == [6, 6, 6]
    assert (kinds.count("edit"), kinds.count("verdict"), kinds.count("rollout")) == (1, 1, 18)
    phases = [row["phase"] for row in made.rows("trajectories")]
    assert {phase: phases.count(phase) for phase in set(phases)} == {
        "validation:base": len(VALIDATION), "training": 6, "validation:reader": len(VALIDATION),
    }  # fmt: skip
    credit = made.record("iterations/001/credit")
    assert [a["outcome"] for a in credit["assessments"]] == ["accepted"] * 3
    assert (result.iterations[0].critic.accepted, result.iterations[0].critic.rejected_items) == (
        3,
        0,
    )


def test_equal_runs_propose_equal_edits(play: Made, tmp_path: Path) -> None:
    first = play().run()
    box = GitBox(tmp_path / "again")
    box.write("README.md", "mine\n")
    box.save("Start")
    assert Play(box).run().iterations[0].agents[1].edits[0].edit == outcome(first).edits[0].edit
