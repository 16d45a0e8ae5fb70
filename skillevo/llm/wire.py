"""The chat completions protocol as plain JSON: request bodies out, replies and error texts in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from skillevo.types import ChatReply, ChatRequest, Thinking

_MESSAGE_CHARS = 300
_MOST_TOKENS = 2**53
_OVERFLOW = ("maximum context length", "exceeds the available context size")


class BrokenReply(Exception):
    """The server answered 200 with something that is no chat completion; worth another try."""


def request_body(model: str, request: ChatRequest) -> dict[str, Any]:
    """The JSON body of one call; every sampling parameter is explicit, as servers have defaults."""
    sampling = request.sampling
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": m.role, "content": encodable(m.content)} for m in request.messages],
        "max_tokens": request.max_tokens,
        "seed": request.seed,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
        "top_k": sampling.top_k,
        "min_p": sampling.min_p,
        "repetition_penalty": sampling.repetition_penalty,
    }
    if request.schema:
        body["response_format"] = _response_format(request.schema)
    if request.thinking is not Thinking.DEFAULT:
        body["chat_template_kwargs"] = {"enable_thinking": request.thinking is Thinking.ON}
    return body


@lru_cache(maxsize=256)
def _response_format(schema: str) -> dict[str, Any]:
    return {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": True, "schema": json.loads(schema)},
    }


def load_json(payload: bytes | str) -> Any:
    """The JSON value of ``payload``; BrokenReply when it is none."""
    try:
        return json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise BrokenReply(f"the body is not JSON ({printable(str(error), 80)})") from error


def parse_reply(payload: bytes) -> ChatReply:
    """The reply in a 200 body; BrokenReply when it holds no answer.

    A null content is an answer only when the token cap cut it (a reasoning model that was still
    thinking): asking again would give the same.
    """
    body = load_json(payload)
    choice = _first(body.get("choices") if isinstance(body, dict) else None)
    message = choice.get("message")
    text = message.get("content") if isinstance(message, dict) else None
    finish = choice.get("finish_reason")
    finish_reason = printable(finish, 40) if isinstance(finish, str) else "unknown"
    if text is None and finish_reason == "length":
        text = ""
    if not isinstance(text, str):
        raise BrokenReply("the first choice has no text")
    usage = body.get("usage")
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    return ChatReply(
        text=encodable(text),
        finish_reason=finish_reason,
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
        cached_tokens=_count(details, "cached_tokens"),
    )


def _first(choices: Any) -> Mapping[str, Any]:
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise BrokenReply("the body has no choices")
    return choices[0]


def _count(owner: Any, name: str) -> int | None:
    value = owner.get(name) if isinstance(owner, dict) else None
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None


def error_message(payload: object, fallback: str) -> str:
    """What a server says is wrong: ``error.message``, ``message``, ``detail`` or the bare text."""
    found = payload
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    if isinstance(found, str) and found.strip():
        return printable(found)
    return printable(json.dumps(found)) if isinstance(found, dict | list) and found else fallback


def overflows_context(message: str) -> bool:
    """True when a server refused a prompt because it alone exceeds the context window."""
    return any(words in message for words in _OVERFLOW)


def printable(text: str, limit: int = _MESSAGE_CHARS) -> str:
    """One line of at most ``limit`` printable characters; control characters become spaces."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: limit * 4]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def encodable(text: str) -> str:
    """The text with lone surrogates replaced, which JSON can carry and UTF-8 cannot."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
