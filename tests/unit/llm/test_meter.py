"""Unknown is never zero, and caps hold before a call is sent."""

from __future__ import annotations

import pytest

from skillevo.errors import BudgetReached
from skillevo.llm.calls import Meter
from skillevo.llm.meter import estimate_tokens
from skillevo.types import ChatReply, ChatRequest, Message, ModelRole, Sampling

ACTOR = ModelRole.ACTOR
REQUEST = ChatRequest(ACTOR, (Message("user", "x" * 40),), Sampling(), 24)


def call(meter: Meter, reply: ChatReply) -> None:
    meter.sent(ACTOR)
    meter.ended()
    meter.answered(REQUEST, reply)


def test_tokens_nobody_reported_are_unknown() -> None:
    meter = Meter(lambda: 0.0)
    call(meter, ChatReply("x", "stop"))
    usage = meter.snapshot().of(ACTOR)
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (None, None, None)
    assert usage.unreported == 1
    assert meter.snapshot().completion_tokens is None
    assert meter.snapshot().completion_tokens_per_s is None


def test_reported_tokens_add_up_and_missing_reports_are_counted() -> None:
    now = 0.0
    meter = Meter(lambda: now)
    call(meter, ChatReply("x", "stop", 5, 2, 0))
    call(meter, ChatReply("x", "stop", 6, 3, None))
    call(meter, ChatReply("x", "stop"))
    now = 2.0
    snapshot = meter.snapshot()
    usage = snapshot.of(ACTOR)
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (11, 5, 0)
    assert usage.unreported == 1
    assert snapshot.completion_tokens_per_s == 2.5


def test_calls_are_counted_per_role() -> None:
    meter = Meter(lambda: 0.0)
    meter.sent(ModelRole.CRITIC)
    meter.failed(ModelRole.CRITIC)
    meter.sent(ACTOR)
    meter.ended()
    meter.reused(ACTOR)
    meter.reused(ACTOR)
    snapshot = meter.snapshot()
    assert (snapshot.issued, snapshot.reused, snapshot.failed) == (2, 2, 1)
    assert snapshot.of(ModelRole.CRITIC).failed == 1
    assert snapshot.of(ModelRole.OPTIMIZER).issued == 0
    assert snapshot.in_flight == 1


@pytest.mark.parametrize(
    ("cap", "words"),
    [
        ({"minutes": 5}, "5 minutes"),
        ({"minutes": 0.5}, "0.5 minutes"),
        ({"minutes": 1.0}, "1 minute"),
    ],
)
def test_minutes_cap_is_met_when_they_are_over(cap: dict[str, float], words: str) -> None:
    now = 100.0
    meter = Meter(lambda: now, **cap)  # type: ignore[arg-type]
    now += cap["minutes"] * 60 - 0.001
    meter.check()
    now += 0.001
    with pytest.raises(BudgetReached, match=words):
        meter.check()


def test_calls_cap_counts_calls_in_flight_and_not_reused_ones() -> None:
    meter = Meter(lambda: 0.0, calls=2_000_000)
    meter.reused(ACTOR)
    for _ in range(2):
        meter.sent(ACTOR)
    meter.check()
    small = Meter(lambda: 0.0, calls=1)
    small.sent(ACTOR)
    with pytest.raises(BudgetReached, match=r"^1 call$"):
        small.sent(ACTOR)
    assert small.snapshot().issued == 1


def test_tokens_cap_holds_even_when_the_server_reports_none() -> None:
    meter = Meter(lambda: 0.0, tokens=1_500_000)
    call(meter, ChatReply("y" * 6_000_000, "stop"))
    with pytest.raises(BudgetReached, match=r"^1500000 tokens$"):
        meter.sent(ACTOR)


def test_estimate_is_a_token_per_four_bytes() -> None:
    assert [estimate_tokens(t) for t in ("", "a", "abcd", "abcde", "ééé", "\ud83d")] == [
        0, 1, 1, 2, 2, 1
    ]  # fmt: skip
