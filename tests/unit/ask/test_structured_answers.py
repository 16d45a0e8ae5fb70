"""One question answered by JSON: lenient reading, a strict check, one repair."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from fakes.evolution import Answer as Said
from fakes.evolution import Script

from skillevo.ask.structured import MAX_LISTED, Answer, Outcome, ask_json, parse_object
from skillevo.errors import BudgetReached, CallFailed
from skillevo.types import ChatRequest, Message, ModelRole, Sampling

REQUEST = ChatRequest(
    ModelRole.CRITIC, (Message("system", "s"), Message("user", "u")), Sampling(), 400
)


def wants_a(value: dict[str, Any]) -> Sequence[str]:
    return [] if "a" in value else ["a is missing"]


def ask(*answers: Said, check: Any = wants_a, cap: int = 400) -> tuple[Answer, list[ChatRequest]]:
    script = Script(*answers)
    request = ChatRequest(ModelRole.CRITIC, REQUEST.messages, Sampling(), cap)
    return asyncio.run(ask_json(script.model, request, check)), script.requests


# --- reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Here it is: {"a": 1} — done. {"a": 2}', {"a": 1}),
        ('A set {x} and then {"a": {"b": []}}', {"a": {"b": []}}),
        ('[{"a": 1}]', {"a": 1}),
        ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
        ('{"\\ud800": ["x\\udfffy"]}', {"?": ["x?y"]}),
        ("{}", {}),
        ('{"a": 1e999}', {"a": float("inf")}),
    ],
)
def test_the_first_json_object_is_found_whatever_stands_around_it(text: str, value: Any) -> None:
    assert parse_object(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "no object", "[1, 2]", "{", '{"a": NaN}', '{"a": -Infinity}', '{"a": 1', "null",
     '{"a": ' + "9" * 5000 + "}"],
)  # fmt: skip
def test_what_is_no_json_object_is_none(text: str) -> None:
    assert parse_object(text) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"credits": [{"agent": "a", "credit": 1}, {"agent": "b',
        '{"credits": [{"agent": "a", "credit": 1}, {"agent": "b", "credit":',
        '{"outer": {"a": 1}, ',
        '{"outer": {"a": 1}, "b": NaN}',
    ],
)
def test_an_object_inside_one_that_was_cut_off_is_never_the_answer(text: str) -> None:
    assert parse_object(text) is None


@pytest.mark.parametrize("depth", [300, 600, 5_000, 100_000])
def test_deep_nesting_is_no_crash(depth: int) -> None:
    value = parse_object('{"a": ' + "[" * depth + "]" * depth + "}")
    assert value is None or list(value) == ["a"]
    assert parse_object('{"a":' * depth) is None


# --- asking ---------------------------------------------------------------------------------------


def test_a_good_answer_costs_one_call() -> None:
    answer, requests = ask({"a": 1})
    assert (answer.value, answer.outcome, answer.violations) == ({"a": 1}, Outcome.ACCEPTED, ())
    assert len(answer.calls) == len(requests) == 1


def test_the_repair_round_sends_the_exact_violations_after_the_answer() -> None:
    answer, requests = ask({"b": 1}, {"a": 2})
    assert (answer.value, answer.outcome, answer.violations) == ({"a": 2}, Outcome.REPAIRED, ())
    first, second = requests
    assert second.messages[: len(first.messages)] == first.messages
    assistant, user = second.messages[len(first.messages) :]
    assert (assistant.role, assistant.content) == ("assistant", '{"b": 1}')
    assert user.role == "user"
    assert user.content.split("\n")[1] == "- a is missing"
    assert (second.schema, second.max_tokens) == (first.schema, first.max_tokens)


def test_violations_that_look_like_slots_are_sent_as_they_are() -> None:
    _, requests = ask({}, check=lambda value: ["{{violations}} {0} %s"])
    assert "- {{violations}} {0} %s\n" in requests[1].messages[-1].content


def test_a_long_list_of_violations_is_cut() -> None:
    _, requests = ask({}, check=lambda value: [f"fault {n}" for n in range(MAX_LISTED + 3)])
    text = requests[1].messages[-1].content
    assert f"- fault {MAX_LISTED - 1}\n- and 3 more of this kind" in text
    assert f"fault {MAX_LISTED}\n" not in text


def test_what_still_violates_is_the_callers_to_drop() -> None:
    answer, requests = ask({"b": 1}, {"c": 1})
    assert (answer.value, answer.outcome) == ({"c": 1}, Outcome.REPAIRED)
    assert answer.violations == ("a is missing",)
    assert len(requests) == 2


def test_a_second_answer_without_json_falls_back_to_the_first() -> None:
    answer, _ = ask({"b": 1}, "sorry")
    assert (answer.value, answer.outcome) == ({"b": 1}, Outcome.REPAIRED)
    assert answer.violations == ("a is missing",)


def test_no_json_twice_is_unusable() -> None:
    answer, requests = ask("no", "still no")
    assert (answer.value, answer.outcome) == ({}, Outcome.UNUSABLE)
    assert answer.violations == ("The answer holds no JSON object.",)
    assert len(requests) == 2


def test_a_cut_off_answer_is_told_to_write_less() -> None:
    answer, requests = ask(json.dumps({"a": "x" * 400}), {"a": 1}, cap=40)
    assert "cut off before the JSON object ended" in requests[1].messages[-1].content
    assert answer.outcome is Outcome.REPAIRED


@pytest.mark.parametrize("fault", [CallFailed("gone"), BudgetReached("calls")])
def test_what_the_model_raises_comes_through(fault: Exception) -> None:
    with pytest.raises(type(fault), match=r"gone|calls"):
        ask(fault)


def test_a_repair_that_cannot_be_had_keeps_the_first_answer() -> None:
    answer, _ = ask('{"b": 1}', CallFailed("too long", terminal=True))
    assert (answer.value, answer.outcome) == ({"b": 1}, Outcome.REPAIRED)
    assert answer.violations == ("a is missing",)


def test_a_repair_that_cannot_be_had_is_a_fault_when_nothing_was_valid() -> None:
    with pytest.raises(CallFailed, match="too long"):
        ask("no object", CallFailed("too long", terminal=True))
