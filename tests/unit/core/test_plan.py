"""Which operator is due, and on which skills."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes.evolution import make_team

from skillevo.core.plan import (
    PruneRule,
    due_operators,
    prune_targets,
    redundancy_components,
    refine_targets,
)
from skillevo.types import Direction, EditDirection, Library

RULE = PruneRule(-0.3, "mean", 1, keep_last=True)
NAMES = ("a", "b", "c", "d")


def library(*names: str) -> Library:
    return make_team(x=names).library("x")


def say(
    skill: str,
    verdict: Direction = Direction.KEEP,
    mean: float = 0.0,
    *,
    score: float | None = None,
    questions: int = 1,
    redundant: tuple[str, ...] = (),
) -> EditDirection:
    return EditDirection(
        "x", skill, verdict, mean, mean if score is None else score,
        tuple(f"q{n}" for n in range(questions)), redundant_with=redundant,
    )  # fmt: skip


def pruned(
    *directions: EditDirection,
    names: tuple[str, ...] = NAMES,
    rule: PruneRule = RULE,
    present: tuple[str, ...] = NAMES,
    **utilities: float,
) -> list[str]:
    targets = prune_targets(library(*names), directions, utilities, rule, present)
    return [target.skill for target in targets]


def test_operators_run_in_their_order_when_they_are_due() -> None:
    schedule = {"zeta": 1, "induce": 1, "prune": 3, "consolidate": 2, "refine": 1, "alpha": 1,
                "examples": 0}  # fmt: skip
    assert due_operators(1, schedule) == ("refine", "induce", "alpha", "zeta")
    assert due_operators(2, schedule) == ("refine", "consolidate", "induce", "alpha", "zeta")
    assert due_operators(3, schedule) == ("refine", "prune", "induce", "alpha", "zeta")
    assert due_operators(6, {"induce": 1, "prune": 3, "consolidate": 2, "refine": 6}) == (
        "refine", "consolidate", "prune", "induce",
    )  # fmt: skip


def test_only_present_skills_with_the_verdict_are_refined() -> None:
    wanted = say("a", Direction.REFINE)
    given = [wanted, say("b"), say("gone", Direction.REFINE)]
    assert refine_targets(library("a", "b"), given) == (wanted,)


@pytest.mark.parametrize(
    ("links", "components"),
    [
        ([], ()),
        ([("a", "a")], ()),
        ([("a", "gone"), ("gone", "b")], ()),
        ([("b", "a")], (("a", "b"),)),
        ([("a", "b"), ("b", "a")], (("a", "b"),)),
        ([("d", "b"), ("b", "c")], (("b", "c", "d"),)),
        ([("a", "d"), ("b", "c")], (("a", "d"), ("b", "c"))),
        ([("a", "b"), ("c", "d"), ("d", "a")], (("a", "b", "c", "d"),)),
    ],
)
def test_redundancy_is_followed_to_connected_components(
    links: list[tuple[str, str]], components: tuple[tuple[str, ...], ...]
) -> None:
    given = [say(first, redundant=(second,)) for first, second in links]
    assert redundancy_components(library(*NAMES), given) == components
    assert redundancy_components(library(*NAMES), given[::-1]) == components


def test_a_low_verdict_or_a_low_mean_condemns_a_skill_worst_first() -> None:
    given = [say("a", mean=-0.3), say("b", Direction.LOW_UTILITY, 0.2), say("c", mean=-0.9),
             say("d", Direction.REFINE, -0.29)]  # fmt: skip
    assert pruned(*given) == ["c", "a", "b"]


def test_redundancy_alone_condemns_nothing() -> None:
    assert pruned(say("a", Direction.REDUNDANT, 0.1, redundant=("b",))) == []


def test_a_mean_that_floats_put_just_above_the_threshold_meets_it() -> None:
    assert pruned(say("a", mean=-0.29999999999999993)) == ["a"]
    assert pruned(say("a", mean=-0.2999)) == []


def test_the_aggregators_number_can_decide_instead() -> None:
    rule = PruneRule(-0.3, "aggregator", 1, keep_last=True)
    given = [say("a", mean=-0.9, score=0.1), say("b", mean=0.9, score=-0.5)]
    assert pruned(*given, rule=rule) == ["b"]
    assert pruned(*given) == ["a"]


def test_a_skill_without_credit_goes_on_its_running_utility_alone() -> None:
    assert pruned(a=-0.3, b=-0.29, c=0.5) == ["a"]
    assert pruned(say("a", mean=0.1), a=-0.9) == []
    target = prune_targets(library("a", "b"), [], {"a": -0.5}, RULE, NAMES)[0]
    assert (target.questions, target.utility) == ((), -0.5)
    assert target.why == "its running utility is -0.50"


def test_a_skill_that_never_had_credit_is_not_condemned_by_a_threshold_of_zero() -> None:
    rule = replace(RULE, threshold=0.0)
    assert prune_targets(library("a", "b"), [], {}, rule, NAMES) == ()
    assert [t.skill for t in prune_targets(library("a", "b"), [], {"a": 0.0}, rule, NAMES)] == ["a"]


def test_questions_behind_a_removal_can_be_asked_for() -> None:
    rule = PruneRule(-0.3, "mean", 2, keep_last=True)
    given = [say("a", mean=-0.9, questions=2), say("b", Direction.LOW_UTILITY, -0.9)]
    assert pruned(*given, rule=rule, c=-0.9) == ["a"]


def test_the_last_skill_stays_unless_the_rule_lets_it_go() -> None:
    given = [say(name, mean=-0.5 - n / 10) for n, name in enumerate(NAMES)]
    assert pruned(*given) == ["d", "c", "b"]
    assert pruned(*given, rule=PruneRule(-0.3, "mean", 1, keep_last=False)) == ["d", "c", "b", "a"]
    assert pruned(say("a", mean=-1), names=("a",)) == []


def test_a_skill_made_in_this_iteration_is_not_judged() -> None:
    assert pruned(say("a", mean=-1), say("b", mean=-1), present=("b",)) == ["b"]


def test_the_reason_tells_the_number_or_the_verdict() -> None:
    given = [say("a", mean=-0.456), say("b", Direction.LOW_UTILITY, 0.0)]
    found = prune_targets(library(*NAMES), given, {}, RULE, NAMES)
    assert [target.why for target in found] == [
        "its credit is -0.46", "the evidence calls it of low utility",
    ]  # fmt: skip
