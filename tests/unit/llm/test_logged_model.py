"""Nothing is asked twice, the bound holds, and a cancelled caller takes nobody with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillevo.errors import BudgetReached, CallFailed, EnvironmentFault, ServerError
from skillevo.llm.calls import CallLog, LoggedModel, Meter
from skillevo.llm.simulated import SimulatedChat, SimulatedFaults
from skillevo.types import ChatReply, ChatRequest, Message, ModelIdentity, ModelRole, Sampling

REQUEST = ChatRequest(ModelRole.ACTOR, (Message("user", "u"),), Sampling(), 24)


class Slow:
    """A model whose answers wait until they are let go; it counts what it is asked."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.identity = ModelIdentity("slow", "m")
        self.asked = 0
        self.most = 0
        self.now = 0
        self.failure = failure
        self.go = asyncio.Event()
        self.closed = 0

    async def chat(self, request: ChatRequest) -> ChatReply:
        self.asked += 1
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.go.wait()
        finally:
            self.now -= 1
        if self.failure is not None:
            raise self.failure
        return ChatReply(f"answer {request.sample}", "stop", 5, 2)

    async def aclose(self) -> None:
        self.closed += 1


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def run(
    path: Path, scenario: Callable[[CallLog, Meter], Coroutine[Any, Any, None]], **caps: Any
) -> Meter:
    meter = Meter(lambda: 0.0, **caps)
    with CallLog(path / "calls.jsonl") as log:
        asyncio.run(scenario(log, meter))
    return meter


def test_answered_call_is_reused_and_says_so(tmp_path: Path) -> None:
    async def scenario(log: CallLog, meter: Meter) -> None:
        model = LoggedModel(SimulatedChat(lambda _: "hi"), log, meter, 1)
        first = await model.chat(REQUEST)
        second = await model.chat(replace(REQUEST, role=ModelRole.CRITIC))
        assert (first.text, first.reused, second.text, second.reused) == ("hi", False, "hi", True)
        assert first.key == second.key == CallLog.key(model.identity, REQUEST)

    snapshot = run(tmp_path, scenario).snapshot()
    assert snapshot.of(ModelRole.ACTOR).issued == 1
    assert snapshot.of(ModelRole.CRITIC).reused == 1


def test_next_process_reuses_every_answer(tmp_path: Path) -> None:
    async def scenario(log: CallLog, meter: Meter) -> None:
        model = LoggedModel(SimulatedChat(lambda r: f"{r.sample}"), log, meter, 4)
        for n in range(5):
            assert (await model.chat(replace(REQUEST, sample=n))).text == f"{n}"

    assert run(tmp_path, scenario).snapshot().issued == 5
    assert run(tmp_path, scenario).snapshot().issued == 0


def test_equal_calls_in_flight_are_one_call(tmp_path: Path) -> None:
    async def scenario(log: CallLog, meter: Meter) -> None:
        slow = Slow()
        model = LoggedModel(slow, log, meter, 8)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(model.chat(REQUEST)) for _ in range(5)]
            await settle()
            slow.go.set()
        assert slow.asked == 1
        assert sorted(t.result().reused for t in tasks) == [False, True, True, True, True]

    snapshot = run(tmp_path, scenario).snapshot()
    assert (snapshot.issued, snapshot.reused, snapshot.in_flight) == (1, 4, 0)


@pytest.mark.parametrize("shared", [False, True])
def test_no_more_calls_than_the_bound_are_in_flight(tmp_path: Path, shared: bool) -> None:
    async def scenario(log: CallLog, meter: Meter) -> None:
        slow = Slow()
        slots = asyncio.Semaphore(3)
        models = [LoggedModel(slow, log, meter, slots) for _ in range(2)]
        if not shared:
            models = [LoggedModel(slow, log, meter, 3)] * 2
        async with asyncio.TaskGroup() as group:
            for n in range(20):
                group.create_task(models[n % 2].chat(replace(REQUEST, sample=n)))
            await settle()
            assert meter.snapshot().in_flight == 3
            slow.go.set()
        assert (slow.most, slow.asked) == (3, 20)

    run(tmp_path, scenario)


def test_cancelled_leader_hands_the_call_over(tmp_path: Path) -> None:
    async def scenario(log: CallLog, meter: Meter) -> None:
        slow = Slow()
        model = LoggedModel(slow, log, meter, 1)
        async with asyncio.TaskGroup() as group:
            leader = group.create_task(model.chat(REQUEST))
            followers = [group.create_task(model.chat(REQUEST)) for _ in range(3)]
            await settle()
            leader.cancel()
            followers[1].cancel()
            await settle()
            slow.go.set()
        assert leader.cancelled()
        assert followers[1].cancelled()
        assert [followers[n].result().text for n in (0, 2)] == ["answer None"] * 2
        assert slow.asked == 2

    snapshot = run(tmp_path, scenario).snapshot()
    assert (snapshot.in_flight, snapshot.reused) == (0, 1)


@pytest.mark.parametrize(
    "failure",
    [CallFailed("no answer"), ServerError("gone"), CallFailed("bad request", terminal=True)],
)
def test_failure_reaches_everybody_and_is_never_logged(tmp_path: Path, failure: Exception) -> None:
    async def scenario(log: CallLog, meter: Meter) -> None:
        slow = Slow(failure)
        model = LoggedModel(slow, log, meter, 1)
        calls = [asyncio.ensure_future(model.chat(REQUEST)) for _ in range(3)]
        await settle()
        slow.go.set()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(o) for o in outcomes] == [type(failure)] * 3
        assert slow.asked == 1
        assert len(log) == 0
        slow.failure = None
        assert (await model.chat(REQUEST)).reused is False

    snapshot = run(tmp_path, scenario).snapshot()
    assert (snapshot.issued, snapshot.failed, snapshot.in_flight) == (2, 1, 0)


def test_cap_refuses_new_calls_and_still_gives_logged_answers(tmp_path: Path) -> None:
    async def scenario(log: CallLog, meter: Meter) -> None:
        model = LoggedModel(SimulatedChat(lambda _: "hi"), log, meter, 1)
        await model.chat(REQUEST)
        assert (await model.chat(REQUEST)).reused
        with pytest.raises(BudgetReached, match="1 call"):
            await model.chat(replace(REQUEST, sample=1))

    assert run(tmp_path, scenario, calls=1).snapshot().issued == 1


def test_cap_reached_while_waiting_for_a_slot_sends_nothing(tmp_path: Path) -> None:
    async def scenario(log: CallLog, meter: Meter) -> None:
        slow = Slow()
        model = LoggedModel(slow, log, meter, 1)
        calls = [
            asyncio.ensure_future(model.chat(replace(REQUEST, sample=n // 2))) for n in range(4)
        ]
        await settle()
        slow.go.set()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(o) for o in outcomes] == [ChatReply] * 2 + [BudgetReached] * 2
        assert slow.asked == 1

    run(tmp_path, scenario, tokens=7)


def test_cut_answer_is_kept(tmp_path: Path) -> None:
    async def scenario(log: CallLog, meter: Meter) -> None:
        model = LoggedModel(SimulatedChat(lambda _: "word " * 100), log, meter, 1)
        assert (await model.chat(REQUEST)).finish_reason == "length"
        assert (await model.chat(REQUEST)).reused

    run(tmp_path, scenario)


def test_log_that_cannot_be_written_stops_everybody(tmp_path: Path) -> None:
    (tmp_path / "calls.jsonl").symlink_to(tmp_path / "missing" / "calls.jsonl")

    async def scenario(log: CallLog, meter: Meter) -> None:
        slow = Slow()
        model = LoggedModel(slow, log, meter, 1)
        calls = [asyncio.ensure_future(model.chat(REQUEST)) for _ in range(2)]
        await settle()
        slow.go.set()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(o) for o in outcomes] == [EnvironmentFault] * 2
        assert slow.asked == 1

    run(tmp_path, scenario)


def test_closing_closes_the_model(tmp_path: Path) -> None:
    async def scenario(log: CallLog, meter: Meter) -> None:
        slow = Slow()
        await LoggedModel(slow, log, meter, 1).aclose()
        assert slow.closed == 1

    run(tmp_path, scenario)


def ask(model: SimulatedChat, request: ChatRequest) -> ChatReply:
    return asyncio.run(model.chat(request))


def test_simulated_answer_is_cut_at_its_tokens_and_never_inside_a_character() -> None:
    model = SimulatedChat(lambda _: "ä€" * 20)
    reply = ask(model, replace(REQUEST, max_tokens=3))
    assert (reply.text, reply.finish_reason) == ("ä€ä€ä", "length")
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == (1, 3, None)
    assert ask(model, replace(REQUEST, max_tokens=100)).finish_reason == "stop"


def test_simulated_faults_strike_their_share_and_always_the_same_calls() -> None:
    model = SimulatedChat(lambda _: '{"a": 1}', faults=SimulatedFaults(malformed=0.3, failed=0.2))

    def outcome(seed: int) -> str:
        try:
            return ask(model, replace(REQUEST, seed=seed)).text
        except CallFailed:
            return "failed"

    outcomes = [outcome(seed) for seed in range(200)]
    assert outcomes == [outcome(seed) for seed in range(200)]
    assert 30 < outcomes.count("failed") < 50
    assert 40 < outcomes.count('{"a"') < 80
