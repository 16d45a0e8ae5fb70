"""Waits stay inside their window, and the breaker opens on what it should."""

from __future__ import annotations

import random

import pytest

from skillevo.llm import retry


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(("tries", "window"), [(1, 0.25), (2, 0.5), (3, 1.0), (9, 4.0)])
def test_jitter_fills_a_growing_window_up_to_the_cap(tries: int, window: float) -> None:
    rng = random.Random(0)
    waits = [retry.wait_s(tries, rng) for _ in range(200)]
    assert min(waits) < 0.1 * window
    assert 0.9 * window < max(waits) <= window


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [("2", 2.0, 2.0), ("600", 4.0, 4.0), ("soon", 0, 0.25), ("-3", 0, 0.25), ("²", 0, 0.25)],
)
def test_retry_after_is_honoured_up_to_the_cap(header: str, least: float, most: float) -> None:
    assert least <= retry.wait_s(1, random.Random(1), header) <= most


@pytest.mark.parametrize(
    ("status", "again"), [(500, True), (503, True), (429, True), (400, False), (413, False)]
)
def test_status_decides_whether_to_try_again(status: int, again: bool) -> None:
    assert retry.retryable(status) is again


def test_breaker_opens_at_the_third_lost_call_in_a_row() -> None:
    breaker = retry.Breaker(Clock())
    breaker.lost("a")
    breaker.lost("b")
    assert not breaker.open
    breaker.lost("a")
    assert breaker.open
    assert breaker.why == "a; b"


def test_an_answer_forgives_lost_calls() -> None:
    breaker = retry.Breaker(Clock())
    for _ in range(5):
        breaker.lost("a")
        breaker.lost("a")
        breaker.answered()
    assert not breaker.open


def test_breaker_opens_when_nobody_connects_for_seconds() -> None:
    clock = Clock()
    breaker = retry.Breaker(clock)
    for started in (0.0, 2.5, 5.0):
        clock.now = started + 2.5
        assert not breaker.open
        breaker.unconnected(started, "cannot connect")
    assert breaker.open


def test_a_word_from_the_server_restarts_the_count_of_failed_connects() -> None:
    clock = Clock()
    breaker = retry.Breaker(clock)
    for started in (0.0, 2.5, 5.0, 7.5):
        clock.now = started + 2.5
        breaker.unconnected(started, "cannot connect")
        breaker.connected()
    assert not breaker.open
