"""Values at the model's port: requests, replies, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ModelRole(StrEnum):
    """Who a call is made for; calls and tokens are counted per role."""

    ACTOR = "actor"
    CRITIC = "critic"
    OPTIMIZER = "optimizer"


class Thinking(StrEnum):
    """Whether a reasoning model may think first; ``DEFAULT`` leaves it to the server."""

    ON = "on"
    OFF = "off"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Sampling:
    """Every sampling parameter, always sent: servers have defaults of their own."""

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0

    @property
    def greedy(self) -> bool:
        """True when every draw gives the same text."""
        return self.temperature == 0.0


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One model call.

    ``sample`` is the index of the draw (None for greedy calls, so that equal greedy calls are one
    call); ``schema`` is a JSON Schema as canonical JSON text, empty for free text; ``affinity`` is
    the question id that a router may hash. ``role`` and ``affinity`` are no part of the call key.
    """

    role: ModelRole
    messages: tuple[Message, ...]
    sampling: Sampling
    max_tokens: int
    seed: int = 0
    sample: int | None = None
    schema: str = ""
    thinking: Thinking = Thinking.DEFAULT
    affinity: str = ""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back. Token counts are None when the server did not report them, never 0."""

    text: str
    finish_reason: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    key: str = ""
    reused: bool = False


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model answers: part of every call key and recorded in the run."""

    endpoint: str
    model: str
    revision: str = ""


@dataclass(frozen=True, slots=True)
class RoleUsage:
    """The calls and tokens of one role.

    ``issued`` counts calls sent, not their retries; ``failed`` those of them without an answer;
    ``reused`` calls answered from the log or by an equal call in flight. Token sums are None when
    no answer reported them; ``unreported`` answers came without, so the sums miss them.
    """

    role: ModelRole
    issued: int = 0
    reused: int = 0
    failed: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    unreported: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """A reading of the meter: one entry per role in the order of ``ModelRole``."""

    roles: tuple[RoleUsage, ...]
    in_flight: int
    elapsed_s: float

    def of(self, role: ModelRole) -> RoleUsage:
        """The entry of one role."""
        return next(usage for usage in self.roles if usage.role is role)

    @property
    def issued(self) -> int:
        """Calls sent, all roles."""
        return sum(usage.issued for usage in self.roles)

    @property
    def reused(self) -> int:
        """Calls that cost nothing, all roles."""
        return sum(usage.reused for usage in self.roles)

    @property
    def failed(self) -> int:
        """Calls without an answer, all roles."""
        return sum(usage.failed for usage in self.roles)

    @property
    def completion_tokens(self) -> int | None:
        """Tokens generated, all roles; None when never reported."""
        known = [u.completion_tokens for u in self.roles if u.completion_tokens is not None]
        return sum(known) if known else None

    @property
    def completion_tokens_per_s(self) -> float | None:
        """Mean generation speed since the start; None when tokens were never reported."""
        tokens = self.completion_tokens
        return None if tokens is None or self.elapsed_s <= 0 else tokens / self.elapsed_s
