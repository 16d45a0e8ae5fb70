"""Request bodies are explicit and stable; replies are hostile until parsed."""

from __future__ import annotations

import json

import pytest

from skillevo.llm import wire
from skillevo.types import ChatRequest, Message, ModelRole, Sampling, Thinking

SCHEMA = '{"type":"object"}'


def request(**changes: object) -> ChatRequest:
    values: dict[str, object] = {
        "role": ModelRole.ACTOR,
        "messages": (Message("system", "s"), Message("user", "u")),
        "sampling": Sampling(temperature=1.0, top_p=0.95, top_k=20),
        "max_tokens": 24,
        "seed": 7,
    }
    return ChatRequest(**{**values, **changes})  # type: ignore[arg-type]


def completion(**changes: object) -> bytes:
    body = {
        "choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    }
    return json.dumps({**body, **changes}).encode()


def test_every_sampling_parameter_is_sent() -> None:
    body = wire.request_body("m", request())
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
        "max_tokens": 24,
        "seed": 7,
        "temperature": 1.0,
        "top_p": 0.95,
        "top_k": 20,
        "min_p": 0.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "repetition_penalty": 1.0,
    }


@pytest.mark.parametrize(
    ("thinking", "sent"),
    [(Thinking.ON, {"enable_thinking": True}), (Thinking.OFF, {"enable_thinking": False})],
)
def test_thinking_is_sent_when_set(thinking: Thinking, sent: dict[str, bool]) -> None:
    assert wire.request_body("m", request(thinking=thinking))["chat_template_kwargs"] == sent


def test_thinking_left_to_the_server_sends_nothing() -> None:
    assert "chat_template_kwargs" not in wire.request_body("m", request())


def test_schema_becomes_a_strict_response_format() -> None:
    sent = wire.request_body("m", request(schema=SCHEMA))["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["schema"] == {"type": "object"}
    assert sent["json_schema"]["strict"] is True


def test_lone_surrogate_in_a_message_can_be_sent() -> None:
    body = wire.request_body("m", request(messages=(Message("user", "a\ud83db"),)))
    assert body["messages"][0]["content"] == "a\ufffdb"


def test_reply_carries_text_and_usage() -> None:
    reply = wire.parse_reply(completion())
    assert (reply.text, reply.finish_reason) == ("hello", "stop")
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == (5, 2, None)


@pytest.mark.parametrize(
    "usage",
    [None, [], "x", {}, {"prompt_tokens": -1}, {"prompt_tokens": True}, {"prompt_tokens": 1.5},
     {"prompt_tokens": 10**4000}],
)  # fmt: skip
def test_unusable_usage_is_unknown_not_zero(usage: object) -> None:
    assert wire.parse_reply(completion(usage=usage)).prompt_tokens is None


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff\xfe\x00",
        b"<html>",
        b"[]",
        b"{}",
        b'"text"',
        b"[" * 100_000,
        completion(choices=[]),
        completion(choices=None),
        completion(choices=["x"]),
        completion(choices=[{}]),
        completion(choices=[{"message": None, "finish_reason": "stop"}]),
        completion(choices=[{"message": {"content": None}, "finish_reason": "stop"}]),
        completion(choices=[{"message": {"content": ["x"]}, "finish_reason": "stop"}]),
    ],
    ids=lambda p: repr(p[:30]),
)
def test_anything_without_an_answer_is_broken(payload: bytes) -> None:
    with pytest.raises(wire.BrokenReply, match=r"body|choice"):
        wire.parse_reply(payload)


def test_empty_text_is_an_answer() -> None:
    choice = {"message": {"content": ""}, "finish_reason": "stop"}
    assert wire.parse_reply(completion(choices=[choice])).text == ""


def test_thinking_to_the_cap_is_an_empty_cut_answer() -> None:
    choice = {"message": {"content": None}, "finish_reason": "length"}
    reply = wire.parse_reply(completion(choices=[choice]))
    assert (reply.text, reply.finish_reason) == ("", "length")


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({"error": {"message": "no"}}, "no"),
        ({"message": "no"}, "no"),
        ({"detail": "no"}, "no"),
        ({"detail": [{"loc": ["x"]}]}, '[{"loc": ["x"]}]'),
        ({"error": "no"}, "no"),
        ("no", "no"),
        ("", "fallback"),
        (None, "fallback"),
        ({}, "fallback"),
    ],
)
def test_error_text_is_found(payload: object, said: str) -> None:
    assert wire.error_message(payload, "fallback") == said


def test_server_text_is_made_harmless() -> None:
    assert wire.printable("a\x1b[31m\n\tb\u202e") == "a [31m b"
    assert len(wire.printable("x" * 10_000)) == 300
