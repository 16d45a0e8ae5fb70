"""The shipped test double: a function behind the model port, deterministic and offline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from skillevo.errors import CallFailed
from skillevo.llm.call_log import CallLog
from skillevo.llm.meter import estimate_tokens
from skillevo.types import ChatReply, ChatRequest, ModelIdentity

_BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class SimulatedFaults:
    """Shares of the calls, in [0, 1], that go wrong; which ones is decided by the call's content.

    ``malformed`` answers lose their second half, ``failed`` calls have none.
    """

    malformed: float = 0.0
    failed: float = 0.0


class SimulatedChat:
    """``behaviour`` as a chat model: equal requests get equal answers.

    Tokens are counted as a token per 4 bytes; ``max_tokens`` cuts an answer, with the finish reason
    ``length``.
    """

    def __init__(
        self,
        behaviour: Callable[[ChatRequest], str],
        *,
        model: str = "simulated",
        faults: SimulatedFaults | None = None,
    ) -> None:
        self._behaviour = behaviour
        self._identity = ModelIdentity("simulated", model)
        self._faults = faults or SimulatedFaults()

    @property
    def identity(self) -> ModelIdentity:
        """Endpoint ``simulated`` and the model's name."""
        return self._identity

    async def aclose(self) -> None:
        """Nothing to release."""

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The behaviour's answer; CallFailed for the share of ``failed`` calls."""
        await asyncio.sleep(0)
        draw = int(CallLog.key(self._identity, request)[:13], 16) / 16**13
        if draw < self._faults.failed:
            raise CallFailed("simulated fault")
        text = self._behaviour(request)
        if draw >= 1.0 - self._faults.malformed:
            text = text[: len(text) // 2]
        kept = cut_to_tokens(text, request.max_tokens)
        return ChatReply(
            text=kept,
            finish_reason="stop" if kept == text else "length",
            prompt_tokens=sum(estimate_tokens(m.content) for m in request.messages),
            completion_tokens=estimate_tokens(kept),
        )


def cut_to_tokens(text: str, max_tokens: int) -> str:
    """The beginning of ``text`` of at most ``max_tokens`` tokens, never half a character."""
    kept = text.encode("utf-8", "replace")[: max_tokens * _BYTES_PER_TOKEN]
    return kept.decode("utf-8", "ignore")
