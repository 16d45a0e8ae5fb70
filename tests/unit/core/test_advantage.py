"""Group-relative advantages against numbers worked by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillevo.core.advantage import EPSILON, advantages, all_equal

rewards = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@pytest.mark.parametrize("group", [[0.0], [1.0] * 4, [0.3, 0.3 + 9e-10], [0.1 + 0.2, 0.3]])
def test_equal_rewards_have_advantages_of_exactly_zero(group: list[float]) -> None:
    assert advantages(group) == (0.0,) * len(group)


def test_rewards_further_apart_than_the_slack_have_a_contrast() -> None:
    # mean 0.5, sigma 1e-9: each advantage is 1e-9 / (1e-9 + 1e-6) = 1/1001.
    low, high = advantages([0.5 - 1e-9, 0.5 + 1e-9])
    assert high == pytest.approx(1 / 1001, rel=1e-6)
    assert low == pytest.approx(-high)


def test_one_outlier_among_four() -> None:
    # mean 1/4; variance (3·(1/4)² + (3/4)²)/4 = (3/16 + 9/16)/4 = 3/16; sigma = √3/4.
    # outlier: (3/4)/(√3/4) = √3; the others: −(1/4)/(√3/4) = −1/√3.
    got = advantages([0, 1, 0, 0])
    sigma = math.sqrt(3) / 4
    assert got[1] == pytest.approx(0.75 / (sigma + EPSILON), rel=1e-12)
    assert got[1] == pytest.approx(math.sqrt(3), abs=1e-5)
    assert got[0] == got[2] == got[3] == pytest.approx(-1 / math.sqrt(3), abs=1e-5)


def test_half_right_half_wrong_uses_the_population_deviation() -> None:
    # mean 1/2, population sigma 1/2 (a sample deviation would be 0.577): ±0.5/0.500001.
    assert advantages([1, 0, 1, 0]) == pytest.approx(
        [0.5 / 0.500001, -0.5 / 0.500001] * 2, rel=1e-12
    )


@given(rewards)
def test_advantages_sum_to_zero_and_keep_the_order_of_rewards(group: list[float]) -> None:
    got = advantages(group)
    assert math.fsum(got) == pytest.approx(0, abs=1e-6)
    assert all(
        a <= b
        for (ra, a) in zip(group, got, strict=True)
        for (rb, b) in zip(group, got, strict=True)
        if ra <= rb
    )
    assert all_equal(group) is (max(group) - min(group) <= 1e-9)
