"""A model behind the call log: nothing is asked twice, and never more at once than the bound."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from skillevo.errors import CallFailed, EnvironmentFault, ServerError
from skillevo.llm.call_log import CallLog
from skillevo.llm.meter import Meter
from skillevo.ports import ChatModel
from skillevo.types import ChatReply, ChatRequest, ModelIdentity

__all__ = ["CallLog", "LoggedModel", "Meter"]


@dataclass(slots=True)
class _Flight:
    """A call under way; ``failure`` is set when it ended without an answer for everybody."""

    done: asyncio.Event = field(default_factory=asyncio.Event)
    failure: CallFailed | EnvironmentFault | None = None


class LoggedModel:
    """``model`` with its answers logged, counted, and bounded in flight.

    A call is answered from the log; else it joins an equal call in flight; else it waits for a
    slot, is sent and logged. ``in_flight`` is a bound of this model alone, or a semaphore that
    models on one server share.
    """

    def __init__(
        self, model: ChatModel, log: CallLog, meter: Meter, in_flight: asyncio.Semaphore | int
    ) -> None:
        self._model = model
        self._log = log
        self._meter = meter
        self._slots = asyncio.Semaphore(in_flight) if isinstance(in_flight, int) else in_flight
        self._flights: dict[str, _Flight] = {}

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the model behind it."""
        return self._model.identity

    async def aclose(self) -> None:
        """Close the model behind it; the log belongs to its owner."""
        await self._model.aclose()

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The answer with its ``key``; ``reused`` tells that no call was sent for it.

        Raises what the model raises, BudgetReached before a call that a cap forbids, and
        EnvironmentFault when the answer cannot be logged.
        """
        key = self._log.key(self.identity, request)
        while True:
            logged = self._log.get(key)
            if logged is not None:
                self._meter.reused(request.role)
                return replace(logged, key=key, reused=True)
            failure = self._log.failure(key)
            if failure is not None:
                self._meter.reused(request.role)
                raise failure.with_traceback(None)
            flight = self._flights.get(key)
            if flight is None:
                return await self._lead(key, request)
            await flight.done.wait()
            if flight.failure is not None:
                raise flight.failure.with_traceback(None)

    async def _lead(self, key: str, request: ChatRequest) -> ChatReply:
        """Send the call for everybody who wants it.

        When this task is cancelled or may not send, the flight ends without a failure and the next
        one who waits takes over.
        """
        flight = self._flights[key] = _Flight()
        try:
            async with self._slots:
                reply = replace(await self._ask(request), key=key)
            self._log.put(key, request, reply)
            return reply
        except CallFailed as error:
            flight.failure = error
            self._log.put_failure(key, request, error)
            raise
        except EnvironmentFault as error:
            flight.failure = error
            raise
        finally:
            del self._flights[key]
            flight.done.set()

    async def _ask(self, request: ChatRequest) -> ChatReply:
        self._meter.sent(request.role)
        try:
            reply = await self._model.chat(request)
        except (CallFailed, ServerError):
            self._meter.failed(request.role)
            raise
        finally:
            self._meter.ended()
        self._meter.answered(request, reply)
        return reply
