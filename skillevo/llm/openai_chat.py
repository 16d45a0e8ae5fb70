"""Any OpenAI-compatible server as a ``ChatModel``; the only importer of ``openai``."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import openai

from skillevo.errors import CallFailed, ServerError
from skillevo.llm import retry, wire
from skillevo.llm.endpoint import (
    ProbeResult,
    check_key,
    is_local,
    public_url,
    read_models,
    refused,
    unreachable,
)
from skillevo.types import ChatReply, ChatRequest, ModelIdentity

_CONNECT_S = 2.5
_KEEP_S = 60.0
_NO_KEY = "none"
_TOO_LATE = "no answer in time"
_DENIED = frozenset({401, 403, 404})

__all__ = ["OpenAIChat", "ProbeResult", "probe"]


@dataclass(frozen=True, slots=True)
class _Fault:
    """One failed try: what happened, and how the server asked to be treated."""

    reason: str
    status: int | None = None
    unconnected: bool = False
    retry_after: str | None = None


class OpenAIChat:
    """A chat model behind ``base_url``. Retries and gives the server up in here, nowhere else.

    ``timeout_s`` is for one try. ``max_in_flight`` is the number of connections kept; the bound on
    concurrent calls itself belongs to the caller. ``endpoint`` names the server in the identity
    when its address says nothing lasting (a random port); default is the address.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        timeout_s: float = 600.0,
        max_in_flight: int = 64,
        revision: str = "",
        endpoint: str = "",
        rng: random.Random | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._place = public_url(base_url)
        self._identity = ModelIdentity(endpoint or self._place, model, revision)
        self._timeout_s = timeout_s
        self._client = _client(base_url, api_key, timeout_s, max_in_flight)
        self._rng = rng or random.Random()
        self._sleep = sleep
        self._clock = clock
        self._breaker = retry.Breaker(clock)
        self._ever_answered = False

    @property
    def identity(self) -> ModelIdentity:
        """The endpoint, the model and its revision."""
        return self._identity

    async def aclose(self) -> None:
        """Close the connections. Safe to call twice."""
        await self._client.close()

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The model's answer after at most four tries; raises what ``ports.ChatModel`` says."""
        body = wire.request_body(self._identity.model, request)
        tries = 0
        while True:
            self._check_breaker()
            tries += 1
            outcome = await self._try(body)
            if isinstance(outcome, ChatReply):
                self._ever_answered = True
                self._breaker.answered()
                return outcome
            self._judge(outcome)
            if tries == retry.MAX_TRIES:
                self._breaker.lost(outcome.reason)
                self._check_breaker()
                raise CallFailed(f"no answer after {tries} tries: {outcome.reason}")
            await self._sleep(retry.wait_s(tries, self._rng, outcome.retry_after))

    async def _try(self, body: dict[str, Any]) -> ChatReply | _Fault:
        """One request; whatever goes wrong on the wire comes back as a value."""
        started = self._clock()
        try:
            # The client's own timeout starts anew with every byte that trickles in.
            async with asyncio.timeout(self._timeout_s):
                payload = await self._client.post("/chat/completions", cast_to=bytes, body=body)
            return wire.parse_reply(payload)
        except TimeoutError:
            return _Fault(_TOO_LATE)
        except wire.BrokenReply as error:
            self._breaker.connected()
            return _Fault(f"the answer is no chat completion: {error}")
        except openai.APIStatusError as error:
            self._breaker.connected()
            return _status_fault(error)
        except openai.APIConnectionError as error:
            fault = _connection_fault(error)
            if fault.unconnected:
                self._breaker.unconnected(started, fault.reason)
            return fault

    def _judge(self, fault: _Fault) -> None:
        """Raise when another try is useless."""
        if fault.unconnected and not self._ever_answered:
            raise unreachable(self._place, fault.reason)
        if fault.status in _DENIED:
            raise refused(self._place, self._identity.model, fault.status, fault.reason)
        if fault.status is not None and not retry.retryable(fault.status):
            raise CallFailed(fault.reason, terminal=True)

    def _check_breaker(self) -> None:
        if self._breaker.open:
            raise ServerError(
                f"the model server at {self._place} stopped answering (model"
                f" {self._identity.model})",
                why=self._breaker.why,
                fix="run `skillevo doctor`, then the same command again",
            )


async def probe(
    base_url: str, model: str, api_key: str | None = None, timeout_s: float = 10.0
) -> ProbeResult:
    """What the server at ``base_url`` serves; ServerError unless that includes ``model``.

    Asks once. Ends within ``timeout_s`` whatever the server does.
    """
    place = public_url(base_url)
    client = _client(base_url, api_key, timeout_s, 1)
    try:
        async with asyncio.timeout(timeout_s):
            payload = await client.get("/models", cast_to=bytes)
        return read_models(place, model, payload)
    except TimeoutError:
        raise unreachable(place, f"no answer within {timeout_s:g} s") from None
    except wire.BrokenReply as error:
        raise unreachable(place, f"its list of models cannot be read: {error}") from None
    except openai.APIStatusError as error:
        fault = _status_fault(error)
        if error.status_code in _DENIED:
            raise refused(place, model, error.status_code, fault.reason) from None
        raise unreachable(place, fault.reason) from None
    except openai.APIConnectionError as error:
        raise unreachable(place, _connection_fault(error).reason) from None
    finally:
        await client.close()


def _status_fault(error: openai.APIStatusError) -> _Fault:
    said = wire.error_message(error.body, "no reason given")
    if wire.overflows_context(said):
        said = f"the prompt does not fit the context window: {said}"
    return _Fault(
        f"HTTP {error.status_code}: {said}",
        status=error.status_code,
        retry_after=error.response.headers.get("retry-after"),
    )


def _connection_fault(error: openai.APIConnectionError) -> _Fault:
    """Tell "nobody there" from a broken connection, which only the cause's class name does."""
    cause = error.__cause__
    name = type(cause).__name__
    detail = wire.printable(str(cause)) if cause is not None else ""
    if name in ("ConnectError", "ConnectTimeout"):
        return _Fault(f"cannot connect ({detail or 'timed out'})", unconnected=True)
    if isinstance(error, openai.APITimeoutError):
        return _Fault(_TOO_LATE)
    return _Fault(f"the connection broke ({detail or name})")


def _client(
    base_url: str, api_key: str | None, timeout_s: float, connections: int
) -> openai.AsyncOpenAI:
    """The bare client: no retries of its own, and never the key of another service."""
    place = public_url(base_url)
    key = check_key(place, api_key)
    limits = type(openai.DEFAULT_CONNECTION_LIMITS)(
        max_connections=connections + 8,
        max_keepalive_connections=connections + 8,
        keepalive_expiry=_KEEP_S,
    )
    timeout = openai.Timeout(timeout_s, connect=min(timeout_s, _CONNECT_S))
    return openai.AsyncOpenAI(
        base_url=base_url,
        api_key=key or _NO_KEY,
        timeout=timeout,
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(
            # A proxy from the environment cannot reach this machine's own loopback address.
            limits=limits,
            timeout=timeout,
            trust_env=not is_local(base_url),
        ),
    )
