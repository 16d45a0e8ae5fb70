"""The call log: every answer a model gave, on disk, keyed by what was asked."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from skillevo.errors import CallFailed, EnvironmentFault
from skillevo.types import ChatReply, ChatRequest, ModelIdentity, ModelRole

FORMAT = 1
_SYNC_S = 1.0
_SYNC_RECORDS = 256
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_COUNTS = ("prompt_tokens", "completion_tokens", "cached_tokens")


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls sent before, and the tokens that were reported for them."""

    calls: int = 0
    tokens: int = 0

    def and_one(self, outcome: ChatReply | CallFailed) -> Spent:
        """With one call more."""
        counts = (
            (outcome.prompt_tokens, outcome.completion_tokens)
            if isinstance(outcome, ChatReply)
            else ()
        )
        return Spent(self.calls + 1, self.tokens + sum(count or 0 for count in counts))


class CallLog:
    """An append-only JSONL file of answered calls, held in memory by key.

    A line is ``{format, key, reply, role}``, with the request too unless an actor made the call:
    an actor's messages stand in its trajectory. A call that failed has ``failed`` (the reason) and
    ``terminal`` instead of ``reply``. One process writes at a time. A torn last line (a crash while
    writing) is dropped; other damaged lines are skipped and counted in ``damaged``. The file is
    opened for writing by the first append.

    While ``replaying`` says so, a call that failed fails again; else it is asked anew.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        replaying: Callable[[], bool] = lambda: False,
    ) -> None:
        self._path = path
        self._clock = clock
        self._replaying = replaying
        self._replies: dict[str, ChatReply] = {}
        self._failures: dict[str, CallFailed] = {}
        self.spent = Spent()
        self._fd: int | None = None
        self._good = 0
        self._unsynced = 0
        self._synced_at = clock()
        self._fault: EnvironmentFault | None = None
        self.damaged = 0
        self._load()

    @staticmethod
    def key(identity: ModelIdentity, request: ChatRequest) -> str:
        """sha256 (hex) of everything that decides the answer; role and affinity do not."""
        sampling = request.sampling
        content = {
            "format": FORMAT,
            "endpoint": identity.endpoint,
            "model": identity.model,
            "revision": identity.revision,
            "messages": [[m.role, m.content] for m in request.messages],
            "sampling": {
                "temperature": float(sampling.temperature),
                "top_p": float(sampling.top_p),
                "top_k": sampling.top_k,
                "min_p": float(sampling.min_p),
                "presence_penalty": float(sampling.presence_penalty),
                "frequency_penalty": float(sampling.frequency_penalty),
                "repetition_penalty": float(sampling.repetition_penalty),
            },
            "max_tokens": request.max_tokens,
            "seed": request.seed,
            "sample": request.sample,
            "schema": request.schema,
            "thinking": request.thinking,
        }
        return hashlib.sha256(_canonical(content)).hexdigest()

    def __len__(self) -> int:
        """The number of distinct calls."""
        return len(self._replies)

    def __enter__(self) -> CallLog:
        """The log itself; leaving the block closes it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def get(self, key: str) -> ChatReply | None:
        """The logged answer, or None."""
        return self._replies.get(key)

    def failure(self, key: str) -> CallFailed | None:
        """How the call failed before, while that is to be repeated."""
        return self._failures.get(key) if self._replaying() else None

    def put(self, key: str, request: ChatRequest, reply: ChatReply) -> None:
        """Append an answer, as one write. EnvironmentFault when it cannot be stored whole."""
        self._append(_record(key, request, reply))
        self._replies[key] = reply

    def put_failure(self, key: str, request: ChatRequest, failure: CallFailed) -> None:
        """Append that a call has no answer, like ``put``."""
        self._append({
            "format": FORMAT,
            "key": key,
            "role": request.role,
            "failed": failure.reason,
            "terminal": failure.terminal,
        })  # fmt: skip

    def _append(self, record: dict[str, Any]) -> None:
        if self._fault is not None:
            raise self._fault
        line = _canonical(record) + b"\n"
        try:
            fd = self._open() if self._fd is None else self._fd
            if os.write(fd, line) < len(line):
                raise OSError("no space left for a whole record")
            self._good += len(line)
            self._unsynced += 1
            self._sync_when_due(fd)
        except OSError as error:
            self._give_up(error)

    def close(self) -> None:
        """Flush to the disk and close. Safe to call twice; EnvironmentFault when flushing fails."""
        fd, self._fd = self._fd, None
        if fd is None:
            return
        try:
            if self._fault is None:
                os.fsync(fd)
        except OSError as error:
            raise self._unwritable(error) from error
        finally:
            os.close(fd)

    def _load(self) -> None:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise EnvironmentFault(
                f"cannot read the call log {self._path}",
                why=error.strerror or str(error),
                fix="make the file readable",
            ) from error
        self._good = data.rfind(b"\n") + 1
        for line in data[: self._good].splitlines():
            entry = _parse(line)
            if entry is None:
                self.damaged += 1
                continue
            key, outcome = entry
            if isinstance(outcome, CallFailed):
                self._failures[key] = outcome
            else:
                self._replies[key] = outcome
            self.spent = self.spent.and_one(outcome)

    def _open(self) -> int:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._fd = os.open(self._path, flags, 0o644)
        if os.fstat(self._fd).st_size > self._good:
            os.ftruncate(self._fd, self._good)
        return self._fd

    def _sync_when_due(self, fd: int) -> None:
        now = self._clock()
        if self._unsynced >= _SYNC_RECORDS or now - self._synced_at >= _SYNC_S:
            os.fsync(fd)
            self._unsynced, self._synced_at = 0, now

    def _give_up(self, error: OSError) -> NoReturn:
        """Cut a half-written record away and refuse every later append with the same error."""
        if self._fd is not None:
            with suppress(OSError):
                os.ftruncate(self._fd, self._good)
        self._fault = self._unwritable(error)
        raise self._fault from error

    def _unwritable(self, error: OSError) -> EnvironmentFault:
        return EnvironmentFault(
            f"cannot write the call log {self._path}",
            why=error.strerror or str(error),
            fix="free disk space or make the folder writable, then run the same command again",
        )


def _record(key: str, request: ChatRequest, reply: ChatReply) -> dict[str, Any]:
    answer: dict[str, Any] = {"text": reply.text, "finish_reason": reply.finish_reason}
    for name in _COUNTS:
        count = getattr(reply, name)
        if count is not None:
            answer[name] = count
    record: dict[str, Any] = {"format": FORMAT, "key": key, "role": request.role, "reply": answer}
    if request.role is not ModelRole.ACTOR:
        record["request"] = {
            "messages": [[m.role, m.content] for m in request.messages],
            "schema": request.schema,
            "seed": request.seed,
            "sample": request.sample,
            "max_tokens": request.max_tokens,
        }
    return record


def _parse(line: bytes) -> tuple[str, ChatReply | CallFailed] | None:
    """Key and reply or failure of one line, or None when it is damaged."""
    try:
        record = json.loads(line)
        if isinstance(record.get("failed"), str) and isinstance(record["key"], str):
            return record["key"], CallFailed(
                record["failed"], terminal=record.get("terminal") is True
            )
        key, answer = record["key"], record["reply"]
        counts = [answer.get(name) for name in _COUNTS]
        prompt, completion, cached = counts
        text, finish = answer["text"], answer["finish_reason"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if not all(type(value) is str for value in (key, text, finish)):
        return None
    if not all(count is None or type(count) is int for count in counts):
        return None
    return key, ChatReply(text, finish, prompt, completion, cached, key=key)


def _canonical(value: object) -> bytes:
    """JSON with sorted keys and no blanks, pure ASCII so that any text can be encoded."""
    return _ENCODER.encode(value).encode("ascii")
