"""The OpenAI adapter over a real socket: every fault class, the breaker, and the probe."""

from __future__ import annotations

import asyncio
import random
import socket
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest
from fakes.loopback import Fault, Loopback

from skillevo.errors import CallFailed, ServerError
from skillevo.llm import openai_chat
from skillevo.llm.openai_chat import OpenAIChat, probe
from skillevo.types import ChatReply, ChatRequest, Message, ModelRole, Sampling, Thinking

Factory = Callable[..., Loopback]
REQUEST = ChatRequest(
    ModelRole.ACTOR,
    (Message("system", "s"), Message("user", "what colour?")),
    Sampling(temperature=1.0, top_p=0.95, top_k=20),
    24,
    seed=7,
)


class Sleeper:
    """Records the waits instead of waiting."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)
        await asyncio.sleep(0)


def with_model(
    server: Loopback,
    scenario: Callable[[OpenAIChat], Coroutine[Any, Any, Any]],
    sleeper: Sleeper | None = None,
    **options: Any,
) -> Any:
    async def main() -> Any:
        model = OpenAIChat(
            server.base_url,
            "m",
            rng=random.Random(0),
            sleep=sleeper or Sleeper(),
            **options,
        )
        try:
            return await scenario(model)
        finally:
            await model.aclose()
            await model.aclose()

    return asyncio.run(main())


def ask(server: Loopback, request: ChatRequest = REQUEST, **options: Any) -> ChatReply:
    reply: ChatReply = with_model(server, lambda model: model.chat(request), **options)
    return reply


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def test_reply_and_usage_come_back(loopback: Factory) -> None:
    assert ask(loopback()) == ChatReply("what colour?", "stop", 7, 3, 4)


def test_body_on_the_wire_is_complete(loopback: Factory) -> None:
    server = loopback()
    ask(server, replace(REQUEST, thinking=Thinking.OFF, schema='{"type":"object"}'))
    (body,) = server.bodies
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert (body["top_k"], body["min_p"], body["repetition_penalty"]) == (20, 0.0, 1.0)
    assert (body["temperature"], body["top_p"], body["seed"], body["max_tokens"]) == (
        1.0, 0.95, 7, 24
    )  # fmt: skip


def test_key_is_sent_and_another_service_s_key_is_not(
    loopback: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-service")
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed_port()}")
    server = loopback()
    ask(server)
    ask(server, api_key="mine\n")
    assert [h["authorization"] for h in server.headers] == ["Bearer none", "Bearer mine"]


@pytest.mark.parametrize(
    "fault",
    [
        Fault.ERROR_500,
        Fault.ERROR_502,
        Fault.OVERLOADED_503,
        Fault.TOO_MANY_429,
        Fault.GARBAGE,
        Fault.TRUNCATED,
        Fault.NO_CHOICES,
        Fault.NULL_CONTENT,
        Fault.RESET,
    ],
)
def test_passing_fault_is_retried_with_the_same_body(loopback: Factory, fault: Fault) -> None:
    server = loopback()
    server.faults.extend([fault, fault])
    sleeper = Sleeper()
    assert ask(server, sleeper=sleeper).text == "what colour?"
    assert server.requests == 3
    assert server.bodies[0] == server.bodies[2]
    assert len(sleeper.waits) == 2
    assert all(0 <= wait <= 0.5 for wait in sleeper.waits)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.ERROR_500, "HTTP 500: boom"),
        (Fault.OVERLOADED_503, "HTTP 503: overloaded"),
        (Fault.GARBAGE, "not JSON"),
        (Fault.NO_CHOICES, "no choices"),
        (Fault.NULL_CONTENT, "no text"),
        (Fault.RESET, "connection broke"),
    ],
)
def test_lasting_fault_loses_the_call_after_four_tries(
    loopback: Factory, fault: Fault, words: str
) -> None:
    server = loopback()
    server.steady = fault
    with pytest.raises(CallFailed, match=words) as caught:
        ask(server)
    assert "after 4 tries" in caught.value.reason
    assert not caught.value.terminal
    assert server.requests == 4


@pytest.mark.parametrize("fault", [Fault.SLOW, Fault.TRICKLE])
def test_timeout_is_retried(loopback: Factory, fault: Fault) -> None:
    server = loopback()
    server.faults.append(fault)
    assert ask(server, timeout_s=0.2).text == "what colour?"
    assert server.requests == 2


def test_retry_after_is_waited_for_up_to_the_cap(loopback: Factory) -> None:
    server = loopback()
    server.retry_after = "3600"
    server.faults.append(Fault.OVERLOADED_503)
    sleeper = Sleeper()
    ask(server, sleeper=sleeper)
    assert sleeper.waits == [4.0]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.BAD_REQUEST_400, "HTTP 400: this request is .*wrong"),
        (Fault.UNPROCESSABLE_422, "HTTP 422: temperature out of range"),
        (Fault.CONTEXT_400, "the prompt does not fit the context window"),
    ],
)
def test_refused_request_is_terminal_and_not_retried(
    loopback: Factory, fault: Fault, words: str
) -> None:
    server = loopback()
    server.steady = fault
    with pytest.raises(CallFailed, match=words) as caught:
        ask(server)
    assert caught.value.terminal
    assert server.requests == 1
    assert len(caught.value.reason) < 400
    assert caught.value.reason.isprintable()


@pytest.mark.parametrize(
    ("fault", "fix"),
    [
        (Fault.UNAUTHORIZED_401, "api_key_env"),
        (Fault.FORBIDDEN_403, "key that may use"),
        (Fault.NOT_FOUND_404, "/v1"),
    ],
)
def test_refused_access_names_the_server_the_model_and_the_fix(
    loopback: Factory, fault: Fault, fix: str
) -> None:
    server = loopback()
    server.steady = fault
    with pytest.raises(ServerError, match="refused model 'm'") as caught:
        ask(server)
    assert server.base_url in caught.value.what
    assert fix in caught.value.fix
    assert server.requests == 1


def test_missing_usage_is_unknown(loopback: Factory) -> None:
    server = loopback()
    server.steady = Fault.NO_USAGE
    assert ask(server) == ChatReply("what colour?", "stop", None, None, None)


def test_text_that_is_no_unicode_becomes_text(loopback: Factory) -> None:
    server = loopback()
    server.steady = Fault.SURROGATE
    assert ask(server).text == "half \ufffd"


def test_answer_that_was_all_thinking_is_cut_not_lost(loopback: Factory) -> None:
    server = loopback()
    server.steady = Fault.THOUGHT_TO_THE_CAP
    reply = ask(server)
    assert (reply.text, reply.finish_reason) == ("", "length")
    assert server.requests == 1


def test_server_that_was_never_there_is_not_retried(loopback: Factory) -> None:
    server = loopback()
    server.refuse()
    sleeper = Sleeper()
    with pytest.raises(ServerError, match="cannot use the model server") as caught:
        ask(server, sleeper=sleeper)
    assert sleeper.waits == []
    assert "cannot connect" in caught.value.why
    assert "skillevo doctor" in caught.value.fix


def test_server_that_goes_away_is_given_up_after_three_calls(loopback: Factory) -> None:
    server = loopback()
    sleeper = Sleeper()

    async def scenario(model: OpenAIChat) -> None:
        await model.chat(REQUEST)
        server.refuse()
        for _ in range(2):
            with pytest.raises(CallFailed, match="cannot connect"):
                await model.chat(REQUEST)
        with pytest.raises(ServerError, match="stopped answering") as caught:
            await model.chat(REQUEST)
        assert server.base_url in caught.value.what
        assert "cannot connect" in caught.value.why
        waits = len(sleeper.waits)
        with pytest.raises(ServerError, match="stopped answering"):
            await model.chat(REQUEST)
        assert len(sleeper.waits) == waits
        # The real waits of three calls, one after the other, stay below ten seconds.
        assert sum(sleeper.waits) < 3 * (0.25 + 0.5 + 1.0)

    with_model(server, scenario, sleeper)


def test_calls_in_flight_stop_together_when_the_server_goes_away(loopback: Factory) -> None:
    server = loopback()
    sleeper = Sleeper()

    async def scenario(model: OpenAIChat) -> list[Any]:
        await model.chat(REQUEST)
        server.steady = Fault.OVERLOADED_503
        calls = [model.chat(replace(REQUEST, seed=n)) for n in range(40)]
        return await asyncio.gather(*calls, return_exceptions=True)

    outcomes = with_model(server, scenario, sleeper)
    kinds = [type(o) for o in outcomes]
    assert set(kinds) == {CallFailed, ServerError}
    assert kinds.count(CallFailed) == 2
    assert server.requests <= 1 + 40 * 4


def test_one_answer_in_between_keeps_the_run_alive(loopback: Factory) -> None:
    server = loopback()

    async def scenario(model: OpenAIChat) -> None:
        for _ in range(3):
            for _ in range(2):
                server.faults.extend([Fault.ERROR_500] * 4)
                with pytest.raises(CallFailed, match="boom"):
                    await model.chat(REQUEST)
            await model.chat(REQUEST)

    with_model(server, scenario)


def test_connections_are_kept_at_the_bound(loopback: Factory) -> None:
    server = loopback()
    bound = 110  # the client's own default keeps 100

    async def scenario(model: OpenAIChat) -> None:
        for turn in range(2):
            server.hold()
            async with asyncio.TaskGroup() as group:
                for n in range(bound):
                    group.create_task(model.chat(replace(REQUEST, seed=1000 * turn + n)))
                await asyncio.to_thread(server.wait_for_requests, (turn + 1) * bound)
                server.release()

    with_model(server, scenario, max_in_flight=bound)
    assert server.max_in_flight == bound
    assert server.connections == bound


def test_cancelled_call_leaves_the_model_usable(loopback: Factory) -> None:
    server = loopback()

    async def scenario(model: OpenAIChat) -> str:
        server.hold()
        task = asyncio.ensure_future(model.chat(REQUEST))
        await asyncio.to_thread(server.wait_for_requests, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        server.release()
        return (await model.chat(REQUEST)).text

    assert with_model(server, scenario) == "what colour?"


def test_identity_hides_credentials_and_can_name_a_lasting_endpoint() -> None:
    async def main() -> None:
        shown = OpenAIChat("http://me:secret@127.0.0.1:1/v1/", "m", revision="r")
        named = OpenAIChat("http://127.0.0.1:1/v1", "m", endpoint="embedded")
        assert shown.identity.endpoint == "http://127.0.0.1:1/v1"
        assert (shown.identity.model, shown.identity.revision) == ("m", "r")
        assert named.identity.endpoint == "embedded"
        await shown.aclose()
        await named.aclose()

    asyncio.run(main())


def test_probe_tells_models_and_context(loopback: Factory) -> None:
    server = loopback(models=("m", "n"), max_model_len=65536)
    found = asyncio.run(probe(server.base_url, "m", None))
    assert (found.models, found.context_tokens) == (("m", "n"), 65536)
    assert server.requests == 0


def test_probe_names_the_models_that_are_served(loopback: Factory) -> None:
    server = loopback(models=("a", "b"))
    with pytest.raises(ServerError, match="does not serve 'm'") as caught:
        asyncio.run(probe(server.base_url, "m", None))
    assert caught.value.why == "it serves a, b"
    assert "'a'" in caught.value.fix


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.UNAUTHORIZED_401, "HTTP 401: who are you"),
        (Fault.NOT_FOUND_404, "HTTP 404: no such model"),
        (Fault.ERROR_500, "HTTP 500: boom"),
        (Fault.GARBAGE, "cannot be read"),
        (Fault.TRUNCATED, "cannot be read"),
        (Fault.RESET, "connection broke"),
        (Fault.SLOW, "no answer"),
    ],
)
def test_probe_says_why_the_server_is_unusable(loopback: Factory, fault: Fault, words: str) -> None:
    server = loopback()
    server.models_fault = fault
    with pytest.raises(ServerError, match="model server at") as caught:
        asyncio.run(probe(server.base_url, "m", None, timeout_s=0.2 if fault == "slow" else 10))
    assert words in caught.value.why
    assert server.base_url in caught.value.what
    assert "skillevo doctor" in caught.value.fix


def test_probe_does_not_retry_a_refused_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_chat.retry, "wait_s", pytest.fail)
    started = time.monotonic()
    with pytest.raises(ServerError, match="cannot use the model server") as caught:
        asyncio.run(probe(f"http://127.0.0.1:{closed_port()}/v1", "m", None))
    assert "cannot connect" in caught.value.why
    assert time.monotonic() - started < 10


def test_no_answer_from_the_network_is_found_out_within_ten_seconds() -> None:
    """A listener that never accepts, its queue full: connecting hangs, as with a lost machine."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        port = deaf.getsockname()[1]
        with socket.socket() as first, socket.socket() as second:
            for filler in (first, second):
                filler.setblocking(False)
                filler.connect_ex(("127.0.0.1", port))
            with pytest.raises(ServerError, match="cannot use the model server"):
                asyncio.run(probe(f"http://127.0.0.1:{port}/v1", "m", None, timeout_s=0.1))
