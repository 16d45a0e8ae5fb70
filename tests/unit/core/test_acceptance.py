"""The gate's arithmetic at its boundaries."""

from __future__ import annotations

import math

import pytest

from skillevo.core.acceptance import Off, Strict, Tolerance, decide, policy, standard_error
from skillevo.types import Decision, Score


def score(*rewards: float, repeats: int = 1) -> Score:
    return Score(tuple((f"q{n}", reward) for n, reward in enumerate(rewards)), repeats)


def test_exact_ties_at_the_tolerance_are_accepted_in_all_99_cases() -> None:
    rule = Tolerance(0.02)
    assert all(rule.accepts(i / 100, (i - 2) / 100) for i in range(2, 101))
    assert not any(rule.accepts(i / 100, (i - 2) / 100 - 1e-6) for i in range(2, 101))


def test_without_slack_floats_would_reject_some_of_the_ties() -> None:
    assert any((i - 2) / 100 < i / 100 - 0.02 for i in range(2, 101))


@pytest.mark.parametrize("hits", range(2, 101, 7))
def test_a_decision_on_a_hundred_questions_accepts_the_exact_tie(hits: int) -> None:
    base = score(*[1.0] * hits, *[0.0] * (100 - hits))
    tie = score(*[1.0] * (hits - 2), *[0.0] * (102 - hits))
    worse = score(*[1.0] * (hits - 2), *[0.0] * (101 - hits), -0.001)
    assert decide("a", base, tie, 100, Tolerance(0.02)).decision is Decision.ACCEPT
    assert decide("a", base, worse, 100, Tolerance(0.02)).decision is Decision.REJECT


def test_strict_wants_more_than_the_base() -> None:
    assert not Strict().accepts(0.5, 0.5)
    assert not Strict().accepts(0.3, 0.1 + 0.2)
    assert Strict().accepts(0.5, 0.501)


def test_off_accepts_everything() -> None:
    assert Off().accepts(1.0, 0.0)


@pytest.mark.parametrize(
    ("name", "label"), [("tolerance", "tolerance 0.02"), ("strict", "strict"), ("off", "off")]
)
def test_policies_by_name(name: str, label: str) -> None:
    assert policy(name, 0.02).label == label


def test_an_unknown_policy_is_a_bug_of_the_caller() -> None:
    with pytest.raises(ValueError, match="unknown gate policy 'best'"):
        policy("best", 0.02)


def test_the_standard_error_is_that_of_paired_differences() -> None:
    # differences +1, 0, 0, −1: mean 0, sample variance (1 + 1)/3 = 2/3, SE = √(2/3/4) = 0.408248.
    assert standard_error([1, 0, 0, -1]) == pytest.approx(math.sqrt(1 / 6), rel=1e-12)
    # 0.1 and 0.3: mean 0.2, sample variance (0.01 + 0.01)/1 = 0.02, SE = √(0.02/2) = 0.1.
    assert standard_error([0.1, 0.3]) == pytest.approx(0.1)
    assert standard_error([0.25] * 3) == 0
    assert standard_error([0.5]) is None
    assert standard_error([]) is None


def test_a_verdict_carries_what_the_reader_needs() -> None:
    # base (1 + 0 + 0.5 + 1)/4 = 0.625, candidate (1 + 1 + 0 + 1)/4 = 0.75; differences 0 1 −.5 0:
    # mean 1/8, squares (1/64 + 49/64 + 25/64 + 1/64) = 76/64, SE = √(76/64/3/4) = 0.314576.
    verdict = decide("reader", score(1, 0, 0.5, 1), score(1, 1, 0, 1), 4, Tolerance(0.02))
    assert (verdict.base, verdict.score, verdict.n) == (0.625, 0.75, 4)
    assert (verdict.better, verdict.worse) == (1, 1)
    assert verdict.standard_error == pytest.approx(math.sqrt(76 / 768))
    assert (verdict.agent, verdict.policy, verdict.reason) == ("reader", "tolerance 0.02", "")
    assert verdict.delta == 0.125


def test_only_questions_scored_on_both_sides_count() -> None:
    base = Score((("a", 1.0), ("b", 0.0), ("c", 1.0), ("d", 0.0), ("e", 1.0)), 1)
    after = Score((("b", 1.0), ("c", 1.0), ("d", 0.0), ("e", 1.0), ("f", 1.0)), 1)
    verdict = decide("x", base, after, 5, Strict())
    assert (verdict.n, verdict.base, verdict.score) == (4, 0.5, 0.75)
    assert verdict.decision is Decision.ACCEPT


@pytest.mark.parametrize(("had", "decision"), [(8, Decision.ACCEPT), (7, Decision.INDECISIVE)])
def test_fewer_than_four_fifths_of_the_questions_decide_nothing(
    had: int, decision: Decision
) -> None:
    verdict = decide("x", score(*[0.5] * 10), score(*[0.9] * had), 10, Tolerance(0.02))
    assert verdict.decision is decision
    if decision is Decision.INDECISIVE:
        assert verdict.reason == "7 of 10 questions could be scored; 1 more would decide"


def test_nothing_shared_is_indecisive_and_no_division_by_zero() -> None:
    verdict = decide("x", Score((("a", 1.0),), 1), Score((("b", 1.0),), 1), 2, Off())
    assert (verdict.decision, verdict.n) == (Decision.INDECISIVE, 0)
    assert verdict.standard_error is None


@pytest.mark.parametrize("questions", [1, 5, 15, 35, 64, 200, 335])
def test_the_coverage_needed_is_the_exact_ceiling(questions: int) -> None:
    needed = -(-4 * questions // 5)
    base = score(*[0.5] * questions)
    enough = decide("x", base, score(*[0.5] * needed), questions, Off())
    short = decide("x", base, score(*[0.5] * (needed - 1)), questions, Off())
    assert (enough.decision, short.decision) == (Decision.ACCEPT, Decision.INDECISIVE)
