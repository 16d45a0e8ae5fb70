"""When to ask a model server again, how long to wait, and when to give it up for good."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

MAX_TRIES = 4
BASE_S = 0.25
CAP_S = 4.0
_RETRYABLE_BELOW_500 = frozenset({408, 425, 429})


def retryable(status: int) -> bool:
    """True when an HTTP status may pass by itself: overload, a timeout, a fault of the server."""
    return status >= 500 or status in _RETRYABLE_BELOW_500


def wait_s(tries: int, rng: random.Random, retry_after: str | None = None) -> float:
    """Seconds to wait after the ``tries``-th failed try (from 1).

    Full jitter over an exponentially growing window; a server's ``Retry-After`` in seconds is the
    least wait. Both end at the cap.
    """
    jitter = rng.uniform(0.0, min(CAP_S, BASE_S * 2 ** (tries - 1)))
    return min(CAP_S, max(jitter, _seconds(retry_after)))


def _seconds(retry_after: str | None) -> float:
    text = (retry_after or "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0.0


@dataclass(slots=True)
class Breaker:
    """Gives a server up after a row of lost calls, or after seconds in which no try could connect.

    A call is lost when all its tries failed; both need three in a row by default. ``clock`` gives
    seconds. Once open it stays open.
    """

    clock: Callable[[], float]
    lost_calls: int = 3
    unconnected_s: float = 5.0
    open: bool = False
    _lost: int = 0
    _unconnected: int = 0
    _unconnected_since: float = 0.0
    _reasons: dict[str, None] = field(default_factory=dict)

    def answered(self) -> None:
        """The server gave an answer: forget the failures so far."""
        self._lost = self._unconnected = 0
        self._reasons.clear()

    def connected(self) -> None:
        """The server said something, if only that it cannot answer."""
        self._unconnected = 0

    def unconnected(self, started: float, reason: str) -> None:
        """A try that began at ``started`` could not connect."""
        self._note(reason)
        if not self._unconnected:
            self._unconnected_since = started
        self._unconnected += 1
        silent_s = self.clock() - self._unconnected_since
        if self._unconnected >= self.lost_calls and silent_s >= self.unconnected_s:
            self.open = True

    def lost(self, reason: str) -> None:
        """A call is lost."""
        self._note(reason)
        self._lost += 1
        if self._lost >= self.lost_calls:
            self.open = True

    def _note(self, reason: str) -> None:
        if len(self._reasons) < 3:
            self._reasons[reason] = None

    @property
    def why(self) -> str:
        """The distinct reasons of the failures since the last answer, in order of appearance."""
        return "; ".join(self._reasons)
