"""Groups and scores over what could be had, and jobs started lazily."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest
from fakes.evolution import SAMPLED, Script, make_team, make_trajectory
from fakes.harness import World

from skillevo.core.seeds import Phase
from skillevo.errors import BudgetReached
from skillevo.rollout.episode import ActorSettings, Draws
from skillevo.rollout.group import Excluded, Grouping, Rollouts, Scoring
from skillevo.rollout.scheduler import Job, run_lazily
from skillevo.rollout.team import Sequential
from skillevo.types import Group, Question, Score, Trajectory

Q1, Q2 = Question("q1", "One?", ("yes",)), Question("q2", "Two?", ("yes",))


def closed(
    rewards: Sequence[float | None], *, differing: bool = False, order: Sequence[int] = ()
) -> Group | Excluded:
    grouping = Grouping([Q1], len(rewards), differing=differing)
    results = []
    for sample in order or range(len(rewards)):
        fault = "" if rewards[sample] is not None else f"fault {sample}"
        results.append(grouping.add(make_trajectory("q1", rewards[sample], [], sample, fault)))
    assert all(result is None for result in results[:-1])
    assert results[-1] is not None
    return results[-1]


# --- groups ---------------------------------------------------------------------------------------


def test_a_group_closes_with_its_last_rollout_in_sample_order() -> None:
    group = closed([0.0, 1.0, 0.5], order=[2, 0, 1])
    assert isinstance(group, Group)
    assert [t.sample for t in group.trajectories] == [0, 1, 2]
    assert (group.rewards, group.complete, group.wanted) == ((0.0, 1.0, 0.5), True, 3)
    assert group.advantages[0] < group.advantages[2] < group.advantages[1]


@pytest.mark.parametrize(
    ("rewards", "usable"),
    [
        ([0.0, None, 1.0, None], True),
        ([0.0, None, None, None], False),
        ([None, None], False),
        ([0.5, None], False),
        ([0.5], True),
        ([None], False),
    ],
)
def test_a_group_with_faults_needs_two_rollouts_or_all_when_fewer_are_wanted(
    rewards: list[float | None], usable: bool
) -> None:
    group = closed(rewards)
    assert isinstance(group, Group) is usable
    had = [r for r in rewards if r is not None]
    if isinstance(group, Group):
        assert group.rewards == tuple(had)
        assert group.complete is (len(had) == len(rewards))
    else:
        first = rewards.index(None)
        assert group.reason == f"{len(had)} of {len(rewards)} rollouts could be had: fault {first}"


def test_statistics_use_the_rollouts_that_are_there() -> None:
    # rewards 0 and 1 of four wanted: mean 0.5, population sigma 0.5.
    group = closed([None, 1.0, None, 0.0])
    assert isinstance(group, Group)
    assert group.advantages == pytest.approx([0.5 / 0.500001, -0.5 / 0.500001])
    assert group.mean_reward == 0.5


def test_equal_groups_stay_unless_only_differing_ones_are_wanted() -> None:
    equal = closed([1.0, 1.0])
    assert isinstance(equal, Group)
    assert equal.advantages == (0.0, 0.0)
    dropped = closed([1.0, 1.0, None], differing=True)
    assert isinstance(dropped, Excluded)
    assert (dropped.question, dropped.reason) == (
        "q1", "all rewards are equal (group_filter = differing)",
    )  # fmt: skip
    assert isinstance(closed([1.0, 0.0], differing=True), Group)


def test_questions_are_kept_apart() -> None:
    grouping = Grouping([Q1, Q2], 2, differing=False)
    assert grouping.add(make_trajectory("q1", 0.0, [])) is None
    assert grouping.add(make_trajectory("q2", 0.0, [])) is None
    second = grouping.add(make_trajectory("q2", 1.0, [], 1))
    assert isinstance(second, Group)
    assert second.question is Q2


# --- scores ---------------------------------------------------------------------------------------


def test_a_score_is_the_mean_over_questions_and_repeats_in_file_order() -> None:
    scoring = Scoring([Q1, Q2], 2)
    for question, sample, reward in (
        ("q2", 1, 1.0),
        ("q2", 0, 0.5),
        ("q1", 0, 0.0),
        ("q1", 1, 0.5),
    ):
        scoring.add(make_trajectory(question, reward, [], sample))
    assert scoring.score() == Score((("q1", 0.25), ("q2", 0.75)), 2)
    assert scoring.score().mean == 0.5  # (0 + .5 + .5 + 1) / 4


def test_a_fault_is_never_a_reward_of_zero() -> None:
    scoring = Scoring([Q1, Q2], 2)
    scoring.add(make_trajectory("q1", 1.0, [], 0))
    scoring.add(make_trajectory("q1", None, [], 1, "busy"))
    for sample in (0, 1):
        scoring.add(make_trajectory("q2", 1.0, [], sample))
    assert scoring.score().rewards == (("q2", 1.0),)


def test_nothing_scored_is_an_empty_score() -> None:
    assert Scoring([Q1], 1).score().rewards == ()


# --- running --------------------------------------------------------------------------------------


def roll(script: Script, width: int, samples: int = 2) -> list[Trajectory]:
    seen: list[Trajectory] = []
    rollouts = Rollouts(World(), Sequential(), script.model, width)
    settings, draws = ActorSettings(SAMPLED, 64), Draws(1, Phase.TRAINING, 1)
    asyncio.run(rollouts.run(
        make_team(solo=[]), [Q1, Q2], samples, settings, draws, seen.append,
    ))  # fmt: skip
    return seen


@pytest.mark.parametrize("width", [1, 3, 99])
def test_every_rollout_of_every_question_is_run_once(width: int) -> None:
    seen = roll(Script("yes"), width)
    assert sorted((t.question, t.sample, t.reward) for t in seen) == [
        (q, n, 1.0) for q in ("q1", "q2") for n in (0, 1)
    ]


def test_a_fault_of_the_run_stops_it() -> None:
    script = Script("yes", BudgetReached("calls"))
    with pytest.raises(ExceptionGroup) as caught:
        roll(script, 1)
    assert caught.group_contains(BudgetReached)
    assert len(script.requests) == 2


@pytest.mark.parametrize("width", [1, 2, 5, 50])
def test_at_most_width_jobs_run_at_once_and_are_drawn_when_a_place_is_free(width: int) -> None:
    running = most = drawn = ended = 0

    def jobs() -> Iterator[Job]:
        nonlocal drawn
        for _ in range(20):
            drawn += 1
            assert drawn - ended <= width
            yield job

    async def job() -> None:
        nonlocal running, most, ended
        running += 1
        most = max(most, running)
        for _ in range(3):
            await asyncio.sleep(0)
        running -= 1
        ended += 1

    asyncio.run(run_lazily(jobs(), width))
    assert (ended, most) == (20, min(width, 20))


def test_the_first_fault_cancels_the_rest_and_draws_no_more() -> None:
    told: list[str] = []
    drawn = 0

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.append("cancelled")
            raise

    async def fails() -> None:
        await asyncio.sleep(0)
        raise ValueError("broken")

    def jobs() -> Iterator[Job]:
        nonlocal drawn
        for job in (waits, fails, waits, waits):
            drawn += 1
            yield job

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(run_lazily(jobs(), 2))
    assert caught.group_contains(ValueError, match="broken")
    assert (told, drawn) == (["cancelled"], 2)


def test_cancelling_from_outside_cancels_every_job() -> None:
    ended: list[str] = []

    async def job() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("x")

    async def main() -> None:
        task = asyncio.create_task(run_lazily([job] * 9, 3))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ended == ["x"] * 3
