"""One rollout: seeds, tools, and faults that become stop reasons and never a reward of 0."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from fakes.evolution import Answer, Script, make_team
from fakes.harness import QUESTION, Lookup, World, make_player

from skillevo.core.seeds import Phase, call_seed
from skillevo.errors import BudgetReached, CallFailed, DataError, ServerError
from skillevo.ports import Player
from skillevo.rollout.episode import MAX_TOOL_CALLS, run_episode
from skillevo.types import (
    ChatRequest,
    ModelRole,
    Question,
    Sampling,
    StepKind,
    StopReason,
    TraceKind,
    Trajectory,
)


def episode(
    *answers: Answer, world: World | None = None, **options: Any
) -> tuple[Trajectory, list[ChatRequest]]:
    script = Script(*answers)
    player = make_player(script.model, **options)
    return asyncio.run(run_episode(world or World(), QUESTION, player)), script.requests


# --- the standard episode -------------------------------------------------------------------------


def test_agents_speak_in_turn_and_the_last_answer_is_rewarded() -> None:
    trajectory, requests = episode("a note", " yes\n", sample=2)
    assert (trajectory.answer, trajectory.reward) == ("yes", 1.0)
    assert (trajectory.question, trajectory.sample, trajectory.error) == ("q1", 2, "")
    assert trajectory.stop_reason is StopReason.FINISHED
    assert [(s.index, s.agent, s.output) for s in trajectory.steps] == [
        (0, "reader", "a note"), (1, "answerer", " yes\n"),
    ]  # fmt: skip
    assert [s.messages for s in trajectory.steps] == [r.messages for r in requests]
    assert {(r.role, r.affinity, r.schema) for r in requests} == {(ModelRole.ACTOR, "q1", "")}


def test_a_wrong_answer_has_a_reward_of_zero_and_no_fault() -> None:
    trajectory, _ = episode("no")
    assert (trajectory.reward, trajectory.stop_reason) == (0.0, StopReason.FINISHED)


def test_the_trace_tells_which_skills_stood_in_each_prompt() -> None:
    team = make_team(reader=["b", "a"], answerer=["c"])
    trajectory, _ = episode("yes", team=team)
    assert [(r.agent, r.skill, r.step, r.kind) for r in trajectory.trace] == [
        ("reader", "a", 0, TraceKind.EXPOSED), ("reader", "b", 0, TraceKind.EXPOSED),
        ("answerer", "c", 1, TraceKind.EXPOSED),
    ]  # fmt: skip


def test_a_cut_off_output_is_marked() -> None:
    trajectory, _ = episode("x" * 999)
    assert all(step.truncated and len(step.output) == 256 for step in trajectory.steps)
    assert not any(step.truncated for step in episode("yes")[0].steps)


# --- seeds ----------------------------------------------------------------------------------------


def test_seeds_are_those_of_the_call_and_never_of_the_library() -> None:
    wanted = [call_seed(7, Phase.TRAINING, 3, "q1", 1, "reader", 0),
              call_seed(7, Phase.TRAINING, 3, "q1", 1, "answerer", 1)]  # fmt: skip
    for libraries in ({"reader": [], "answerer": []}, {"reader": ["a", "b"], "answerer": ["c"]}):
        _, requests = episode("yes", team=make_team(**libraries), iteration=3, sample=1)
        assert [(r.seed, r.sample) for r in requests] == [(seed, 1) for seed in wanted]


def test_greedy_calls_carry_neither_seed_nor_sample_so_that_equal_ones_are_one_call() -> None:
    runs = [episode("yes", sampling=Sampling(), sample=n, iteration=n)[1] for n in (0, 1)]
    assert runs[0] == runs[1]
    assert {(r.seed, r.sample) for r in runs[0]} == {(0, None)}


def test_validation_draws_are_the_same_in_every_iteration() -> None:
    runs = [episode("yes", phase=Phase.VALIDATION, iteration=n)[1] for n in (0, 4)]
    assert runs[0] == runs[1]


# --- tools ----------------------------------------------------------------------------------------


def test_a_tool_call_is_a_step_and_its_result_is_told() -> None:
    lookup = Lookup()
    trajectory, requests = episode("LOOKUP: yes", "a note", "yes", world=World(tools=[lookup]))
    assert lookup.calls == ["yes"]
    assert [(s.index, s.agent, s.kind, s.tool) for s in trajectory.steps] == [
        (0, "reader", StepKind.MODEL, ""), (1, "reader", StepKind.TOOL, "lookup"),
        (2, "reader", StepKind.MODEL, ""), (3, "answerer", StepKind.MODEL, ""),
    ]  # fmt: skip
    assert trajectory.steps[1].argument == "yes"
    assert [m.content for m in requests[1].messages[2:]] == [
        "LOOKUP: yes", "Result of lookup:\nyes found",
    ]  # fmt: skip
    assert requests[1].messages[:2] == requests[0].messages
    assert "Note from reader:\na note" in requests[2].messages[1].content
    assert trajectory.reward == 1.0


def test_the_number_of_tool_calls_per_turn_is_capped() -> None:
    lookup = Lookup()
    trajectory, requests = episode("LOOKUP: again", world=World(tools=[lookup]))
    assert len(lookup.calls) == 2 * MAX_TOOL_CALLS
    assert len(requests) == 2 * (MAX_TOOL_CALLS + 1)
    assert [s.index for s in trajectory.steps] == list(range(len(trajectory.steps)))
    assert trajectory.stop_reason is StopReason.FINISHED


def test_the_first_tool_that_finds_a_call_is_run() -> None:
    first, second = Lookup("first"), Lookup("second")
    episode("LOOKUP: x", "note", "yes", world=World(tools=[first, second]))
    assert (first.calls, second.calls) == (["x"], [])


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "reason", "error"),
    [
        (CallFailed("busy"), StopReason.UNAVAILABLE, "busy"),
        (CallFailed("too long", terminal=True), StopReason.REFUSED, "too long"),
        (KeyError("x"), StopReason.FAILED, "KeyError: 'x'"),
        (SystemExit(0), StopReason.FAILED, "SystemExit: 0"),
        (ExceptionGroup("g", [CallFailed("busy")]), StopReason.FAILED, "ExceptionGroup: g"),
    ],
)
def test_a_fault_of_the_rollout_is_its_stop_reason_and_never_a_reward_of_zero(
    fault: BaseException, reason: StopReason, error: str
) -> None:
    trajectory, _ = episode("note", fault)
    assert (trajectory.stop_reason, trajectory.reward) == (reason, None)
    assert trajectory.error.startswith(error)
    assert (trajectory.question, trajectory.sample, trajectory.steps) == ("q1", 0, ())


@pytest.mark.parametrize("fault", [BudgetReached("calls"), ServerError("gone"), DataError("bad")])
def test_a_fault_of_the_whole_run_is_raised(fault: Exception) -> None:
    with pytest.raises(type(fault)):
        episode(fault)
    with pytest.raises(ExceptionGroup) as caught:
        episode(ExceptionGroup("in a task group", [ExceptionGroup("inner", [fault])]))
    assert caught.group_contains(type(fault), depth=2)


@pytest.mark.parametrize(
    "value", [1.5, -0.1, float("nan"), float("inf"), None, "high", [1], 1 + 1e-9]
)
def test_a_reward_outside_the_range_is_a_fault(value: Any) -> None:
    trajectory, _ = episode("yes", world=World(rewards=lambda q, t: value))
    assert (trajectory.stop_reason, trajectory.reward) == (StopReason.FAILED, None)
    assert trajectory.error


@pytest.mark.parametrize("value", [0, 1, True, 0.25, "0.5"])
def test_a_reward_that_reads_as_a_number_counts(value: Any) -> None:
    trajectory, _ = episode("yes", world=World(rewards=lambda q, t: value))
    assert trajectory.reward == float(value)
    assert isinstance(trajectory.reward, float)


# --- an environment with a loop of its own --------------------------------------------------------


async def twice(question: Question, player: Player) -> Trajectory:
    first = await player.ask("answerer", question, [])
    second = await player.ask("answerer", question, [first])
    return Trajectory("whatever", 99, (first, second), second.output, StopReason.FINISHED)


def test_a_rollout_can_be_overridden_whole() -> None:
    trajectory, requests = episode("no", "yes", world=World(plays=twice), sample=1)
    assert (trajectory.question, trajectory.sample, trajectory.reward) == ("q1", 1, 1.0)
    assert [r.seed for r in requests] == [
        call_seed(7, Phase.TRAINING, 1, "q1", 1, "answerer", step) for step in (0, 1)
    ]
    assert "Note from answerer:\nno" in requests[1].messages[1].content


def test_a_fault_that_the_environment_tells_is_not_rewarded() -> None:
    async def gives_up(question: Question, player: Player) -> Trajectory:
        played = await player.play(question)
        return replace(played, stop_reason=StopReason.UNAVAILABLE, error="tool server down")

    trajectory, _ = episode("yes", world=World(plays=gives_up))
    assert (trajectory.stop_reason, trajectory.reward) == (StopReason.UNAVAILABLE, None)
    assert (trajectory.error, len(trajectory.steps)) == ("tool server down", 2)


def test_an_environment_that_returns_no_trajectory_is_a_fault_of_the_rollout() -> None:
    async def nothing(question: Question, player: Player) -> Any:
        return None

    trajectory, _ = episode("yes", world=World(plays=nothing))
    assert trajectory.stop_reason is StopReason.FAILED


def test_a_player_knows_its_team() -> None:
    team = make_team(reader=["a"], answerer=[])
    assert make_player(Script("x").model, team).team == team
