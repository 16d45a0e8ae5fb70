"""What the models cost so far, per role, and the caps that stop a run in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from skillevo.errors import BudgetReached
from skillevo.llm.call_log import Spent
from skillevo.types import ChatReply, ChatRequest, ModelRole, RoleUsage, Usage

NOTHING = Spent()


@dataclass(slots=True)
class _Counts:
    issued: int = 0
    reused: int = 0
    failed: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    unreported: int = 0


class Meter:
    """Counts calls and tokens, and refuses a call before it is sent once a cap is met.

    ``clock`` gives seconds; ``minutes`` run from the construction. A cap of None is no cap. Answers
    that report no tokens count towards ``tokens`` by an estimate, a token per 4 bytes. ``spent``
    counts towards the caps from the start.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        minutes: float | None = None,
        calls: int | None = None,
        tokens: int | None = None,
        spent: Spent = NOTHING,
    ) -> None:
        self._clock = clock
        self._start = clock()
        self._minutes = minutes
        self._calls = calls
        self._tokens = tokens
        self._roles = {role: _Counts() for role in ModelRole}
        self._issued = spent.calls
        self._spent_tokens = spent.tokens
        self._in_flight = 0

    def check(self) -> None:
        """Raise BudgetReached when a cap forbids a further call."""
        if self._minutes is not None and self._clock() - self._start >= self._minutes * 60:
            raise BudgetReached(_cap(self._minutes, "minute"))
        if self._calls is not None and self._issued >= self._calls:
            raise BudgetReached(_cap(self._calls, "call"))
        if self._tokens is not None and self._spent_tokens >= self._tokens:
            raise BudgetReached(_cap(self._tokens, "token"))

    def sent(self, role: ModelRole) -> None:
        """A call goes out; it is in flight until ``ended``. Raises BudgetReached like ``check``."""
        self.check()
        self._roles[role].issued += 1
        self._issued += 1
        self._in_flight += 1

    def ended(self) -> None:
        """A call came to its end, whatever that was."""
        self._in_flight -= 1

    def answered(self, request: ChatRequest, reply: ChatReply) -> None:
        """A sent call was answered."""
        counts = self._roles[request.role]
        counts.prompt_tokens = _add(counts.prompt_tokens, reply.prompt_tokens)
        counts.completion_tokens = _add(counts.completion_tokens, reply.completion_tokens)
        counts.cached_tokens = _add(counts.cached_tokens, reply.cached_tokens)
        if reply.prompt_tokens is None or reply.completion_tokens is None:
            counts.unreported += 1
        self._spent_tokens += _tokens(request, reply)

    def failed(self, role: ModelRole) -> None:
        """A sent call has no answer."""
        self._roles[role].failed += 1

    def reused(self, role: ModelRole) -> None:
        """A call was answered without being sent."""
        self._roles[role].reused += 1

    def snapshot(self) -> Usage:
        """The counts as they are now."""
        return Usage(
            tuple(
                RoleUsage(
                    role,
                    c.issued,
                    c.reused,
                    c.failed,
                    c.prompt_tokens,
                    c.completion_tokens,
                    c.cached_tokens,
                    c.unreported,
                )
                for role, c in self._roles.items()
            ),
            self._in_flight,
            self._clock() - self._start,
        )


def estimate_tokens(text: str) -> int:
    """A token per 4 bytes of UTF-8, rounded up: for where nobody counts."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def _tokens(request: ChatRequest, reply: ChatReply) -> int:
    prompt, completion = reply.prompt_tokens, reply.completion_tokens
    if prompt is None:
        prompt = sum(estimate_tokens(message.content) for message in request.messages)
    return prompt + (estimate_tokens(reply.text) if completion is None else completion)


def _add(total: int | None, count: int | None) -> int | None:
    return total if count is None else (total or 0) + count


def _cap(value: float, unit: str) -> str:
    return f"{value:g} {unit}" if value == 1 else f"{value:.12g} {unit}s"
