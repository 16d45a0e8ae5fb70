"""One question to a model, answered by a JSON object: lenient reading, strict check, one repair."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from skillevo.ask.render import render
from skillevo.errors import CallFailed
from skillevo.ports import ChatModel
from skillevo.types import ChatReply, ChatRequest, Message

MAX_LISTED = 12


class Outcome(StrEnum):
    """How an answer came about; ``UNUSABLE`` means that no JSON object came back, twice."""

    ACCEPTED = "accepted"
    REPAIRED = "repaired"
    UNUSABLE = "unusable"


@dataclass(frozen=True, slots=True)
class Answer:
    """A parsed answer. ``violations`` are those of the returned value (empty when accepted)."""

    value: dict[str, Any]
    outcome: Outcome
    violations: tuple[str, ...]
    calls: tuple[str, ...]


Check = Callable[[dict[str, Any]], Sequence[str]]


async def ask_json(model: ChatModel, request: ChatRequest, check: Check) -> Answer:
    """Ask, and once more with the exact violations when the answer breaks a rule.

    ``check`` returns what is wrong with a value, as sentences for the model. A second answer that
    is no JSON object, or that cannot be had, falls back to the first. What still violates is the
    caller's to drop. Raises what the model's ``chat`` raises.
    """
    first = await model.chat(request)
    value = parse_object(first.text)
    wrong = _violations(value, first, check)
    if value is not None and not wrong:
        return Answer(value, Outcome.ACCEPTED, (), (first.key,))
    try:
        second = await model.chat(_repair(request, first, wrong))
    except CallFailed:
        # A repair that does not fit the context is no reason to lose what was valid.
        if value is None:
            raise
        return Answer(value, Outcome.REPAIRED, tuple(wrong), (first.key,))
    calls = (first.key, second.key)
    repaired = parse_object(second.text)
    if repaired is not None:
        return Answer(repaired, Outcome.REPAIRED, tuple(check(repaired)), calls)
    if value is not None:
        return Answer(value, Outcome.REPAIRED, tuple(wrong), calls)
    return Answer({}, Outcome.UNUSABLE, tuple(wrong), calls)


def parse_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in ``text``, whatever stands around it; None when there is none.

    What the decoder read before it failed is skipped, so that an object inside one that was cut off
    is never taken for the answer. NaN and infinities are no JSON; half characters (lone surrogates)
    become question marks.
    """
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = _DECODER.raw_decode(text, start)
            cleaned = _whole_characters(value)
        except json.JSONDecodeError as error:
            start = text.find("{", max(start + 1, error.pos))
        except (ValueError, RecursionError):
            return None
        else:
            return cleaned if isinstance(cleaned, dict) else None
    return None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _whole_characters(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode("utf-8")
        case list():
            return [_whole_characters(item) for item in value]
        case dict():
            return {_whole_characters(k): _whole_characters(v) for k, v in value.items()}
    return value


def _violations(value: dict[str, Any] | None, reply: ChatReply, check: Check) -> Sequence[str]:
    if value is not None:
        return check(value)
    if reply.finish_reason == "length":
        return ["The answer was cut off before the JSON object ended: write less."]
    return ["The answer holds no JSON object."]


def _repair(request: ChatRequest, reply: ChatReply, wrong: Sequence[str]) -> ChatRequest:
    listed = [f"- {line}" for line in wrong[:MAX_LISTED]]
    if len(wrong) > MAX_LISTED:
        listed.append(f"- and {len(wrong) - MAX_LISTED} more of this kind")
    again = (
        *request.messages,
        Message("assistant", reply.text),
        Message("user", render("repair", violations="\n".join(listed))),
    )
    return replace(request, messages=again)
