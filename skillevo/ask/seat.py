"""A model in a role: what critic, aggregator and operators put their questions through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillevo.ask.render import compact_json
from skillevo.core.seeds import Phase, derive_seed
from skillevo.ports import ChatModel
from skillevo.types import ChatRequest, Message, ModelRole, Sampling, Thinking


@dataclass(frozen=True, slots=True)
class Seat:
    """A model, the role it is asked in, and how it decodes there."""

    model: ChatModel
    role: ModelRole
    sampling: Sampling
    max_tokens: int
    thinking: Thinking
    run_seed: int

    def request(
        self,
        instructions: str,
        payload: Mapping[str, Any],
        schema: Mapping[str, Any],
        *,
        seed: tuple[Phase | str | int, ...],
        max_tokens: int | None = None,
        affinity: str = "",
    ) -> ChatRequest:
        """One question: ``instructions`` as system message, ``INPUT:`` and the payload as JSON.

        ``seed`` holds what the draw depends on beside the run seed; a greedy call carries neither
        seed nor sample index. ``max_tokens`` defaults to the seat's cap.
        """
        greedy = self.sampling.greedy
        return ChatRequest(
            role=self.role,
            messages=(
                Message("system", instructions),
                Message("user", "INPUT:\n" + compact_json(payload)),
            ),
            sampling=self.sampling,
            max_tokens=max_tokens or self.max_tokens,
            seed=0 if greedy else derive_seed(self.run_seed, *seed),
            sample=None if greedy else 0,
            schema=compact_json(schema),
            thinking=self.thinking,
            affinity=affinity,
        )
