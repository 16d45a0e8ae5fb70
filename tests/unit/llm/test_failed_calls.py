"""Calls without an answer are on record: a resumed run repeats them, then asks anew."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from skillevo.errors import BudgetReached, CallFailed
from skillevo.llm.call_log import CallLog, Spent
from skillevo.llm.calls import LoggedModel, Meter
from skillevo.llm.simulated import SimulatedChat, SimulatedFaults
from skillevo.types import ChatReply, ChatRequest, Message, ModelRole, Sampling

REQUEST = ChatRequest(ModelRole.ACTOR, (Message("user", "u"),), Sampling(), 24)


def ask(path: Path, *, failing: bool, replaying: bool = False) -> ChatReply:
    """One call by a process of its own."""
    chat = SimulatedChat(lambda _: "hi", faults=SimulatedFaults(failed=1.0 if failing else 0.0))
    with CallLog(path, replaying=lambda: replaying) as log:
        return asyncio.run(LoggedModel(chat, log, Meter(lambda: 0.0), 1).chat(REQUEST))


def test_failed_call_fails_again_only_while_the_run_is_played_again(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with pytest.raises(CallFailed, match="simulated fault"):
        ask(path, failing=True)
    with pytest.raises(CallFailed, match="simulated fault"):
        ask(path, failing=False, replaying=True)
    assert ask(path, failing=False).text == "hi"
    # An answer that came later is better than a failure.
    assert ask(path, failing=True, replaying=True).reused


def test_failure_keeps_whether_it_was_final(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with CallLog(path) as log:
        log.put_failure("a", REQUEST, CallFailed("refused", terminal=True))
        log.put_failure("b", REQUEST, CallFailed("busy"))
    again = CallLog(path, replaying=lambda: True)
    failures = [again.failure(key) for key in ("a", "b", "c")]
    assert [(f.reason, f.terminal) if f else None for f in failures] == [
        ("refused", True), ("busy", False), None,
    ]  # fmt: skip
    assert (len(again), again.damaged) == (0, 0)


def test_what_was_spent_before_counts_towards_the_caps(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with CallLog(path) as log:
        log.put("a", REQUEST, ChatReply("x", "stop", 5, 2))
        log.put("b", REQUEST, ChatReply("x", "stop"))
        log.put_failure("c", REQUEST, CallFailed("busy"))
    spent = CallLog(path).spent
    assert spent == Spent(3, 7)
    Meter(lambda: 0.0, calls=4, tokens=8, spent=spent).check()
    with pytest.raises(BudgetReached, match="3 calls"):
        Meter(lambda: 0.0, calls=3, spent=spent).check()
    with pytest.raises(BudgetReached, match="7 tokens"):
        Meter(lambda: 0.0, tokens=7, spent=spent).check()
