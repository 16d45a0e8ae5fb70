"""A loopback model server from the standard library, with fault dials and counters.

Speaks ``/health``, ``/v1/models`` and ``/v1/chat/completions``. Every chat request takes the next
fault of ``faults`` when there is one, else ``steady``.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast


class Fault(StrEnum):
    """What can go wrong with one chat request."""

    NONE = "none"
    ERROR_500 = "500"
    ERROR_502 = "502"
    OVERLOADED_503 = "503"
    TOO_MANY_429 = "429"
    BAD_REQUEST_400 = "400"
    CONTEXT_400 = "context"
    UNAUTHORIZED_401 = "401"
    FORBIDDEN_403 = "403"
    NOT_FOUND_404 = "404"
    UNPROCESSABLE_422 = "422"
    GARBAGE = "garbage"
    TRUNCATED = "truncated"
    NO_CHOICES = "no choices"
    NULL_CONTENT = "null content"
    THOUGHT_TO_THE_CAP = "null content, cut"
    NO_USAGE = "no usage"
    SURROGATE = "lone surrogate"
    SLOW = "slow"
    TRICKLE = "trickle"
    RESET = "reset"


_STATUS = {
    Fault.ERROR_500: (500, "boom"),
    Fault.ERROR_502: (502, "bad gateway"),
    Fault.OVERLOADED_503: (503, "overloaded"),
    Fault.TOO_MANY_429: (429, "slow down"),
    Fault.BAD_REQUEST_400: (400, "this request\nis \x1b[31mwrong " + "x" * 1000),
    Fault.CONTEXT_400: (400, "This model's maximum context length is 10 tokens."),
    Fault.UNAUTHORIZED_401: (401, "who are you"),
    Fault.FORBIDDEN_403: (403, "not for you"),
    Fault.NOT_FOUND_404: (404, "no such model"),
    Fault.UNPROCESSABLE_422: (422, "temperature out of range"),
}


def echo(body: dict[str, Any]) -> str:
    """The default answer: the last message."""
    return str(body["messages"][-1]["content"])


class Loopback:
    """The server; use it through the ``loopback`` fixture, which closes it.

    ``requests`` counts chat requests, ``bodies`` and ``headers`` keep them in order of arrival;
    ``hold`` makes every answer wait for ``release``.
    """

    def __init__(
        self,
        *,
        models: tuple[str, ...] = ("m",),
        answer: Callable[[dict[str, Any]], str] = echo,
        max_model_len: int | None = 4096,
    ) -> None:
        self.models = models
        self.answer = answer
        self.max_model_len = max_model_len
        self.faults: deque[Fault] = deque()
        self.steady = Fault.NONE
        self.models_fault = Fault.NONE
        self.retry_after: str | None = None
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.connections = 0
        self.in_flight = 0
        self.max_in_flight = 0
        self.lock = threading.Condition()
        self.gate = threading.Event()
        self.gate.set()
        self._sockets: set[socket.socket] = set()
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()
        self._open = True

    @property
    def base_url(self) -> str:
        """The address to give to a client; stays valid text after ``refuse``."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def requests(self) -> int:
        """Chat requests that arrived."""
        return len(self.bodies)

    def wait_for_requests(self, count: int, timeout_s: float = 30.0) -> None:
        """Block until that many chat requests have arrived; TimeoutError when they do not."""
        with self.lock:
            if not self.lock.wait_for(lambda: len(self.bodies) >= count, timeout_s):
                raise TimeoutError(f"{len(self.bodies)} of {count} requests arrived")

    def hold(self) -> None:
        """Let answers wait."""
        self.gate.clear()

    def release(self) -> None:
        """Let the waiting answers go."""
        self.gate.set()

    def refuse(self) -> None:
        """Go away: close every connection and refuse new ones."""
        if not self._open:
            return
        self._open = False
        self._server.shutdown()
        self._server.server_close()
        self.gate.set()
        with self.lock:
            for connection in self._sockets:
                _shutdown(connection)
        self._thread.join()

    close = refuse

    def opened(self, connection: socket.socket) -> None:
        with self.lock:
            self.connections += 1
            self._sockets.add(connection)

    def closed(self, connection: socket.socket) -> None:
        with self.lock:
            self._sockets.discard(connection)

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Fault:
        with self.lock:
            self.bodies.append(body)
            self.headers.append(headers)
            self.lock.notify_all()
            self.in_flight += 1
            self.max_in_flight = max(self.max_in_flight, self.in_flight)
            return self.faults.popleft() if self.faults else self.steady

    def leave(self) -> None:
        with self.lock:
            self.in_flight -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, owner: Loopback) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def owner(self) -> Loopback:
        return cast(_Server, self.server).owner

    def setup(self) -> None:
        super().setup()
        self.owner.opened(self.connection)

    def finish(self) -> None:
        self.owner.closed(self.connection)
        super().finish()

    def log_message(self, *args: Any) -> None:
        """Silent."""

    def do_GET(self) -> None:
        owner = self.owner
        if self.path == "/health":
            self._send(200, b"")
        elif self.path != "/v1/models":
            self._error(404, "no such path")
        elif owner.models_fault is not Fault.NONE:
            self._fail(owner.models_fault, {"messages": [{"content": ""}]})
        else:
            entries = [{"id": m, "max_model_len": owner.max_model_len} for m in owner.models]
            self._json({"object": "list", "data": entries})

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length))
        if self.path != "/v1/chat/completions":
            self._error(404, "no such path")
            return
        owner = self.owner
        fault = owner.take(body, {k.lower(): v for k, v in self.headers.items()})
        owner.gate.wait()
        owner.leave()
        self._fail(fault, body)

    def _fail(self, fault: Fault, body: dict[str, Any]) -> None:
        if fault in _STATUS:
            self._error(*_STATUS[fault])
        elif fault is Fault.RESET:
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.close_connection = True
            self.connection.close()
        elif fault is Fault.SLOW:
            # Silent until the client or the server hangs up.
            self.connection.recv(1)
            self.close_connection = True
        elif fault is Fault.TRICKLE:
            # A byte now and then until the client hangs up.
            self.wfile.write(b"HTTP/1.1 200 X\r\nContent-Length: 99999\r\n\r\n")
            while not select.select([self.connection], [], [], 0.02)[0]:
                self.wfile.write(b" ")
            self.close_connection = True
        elif fault is Fault.GARBAGE:
            self._send(200, b"<html>\xff not json</html>", "text/html")
        elif fault is Fault.TRUNCATED:
            self._send(200, json.dumps(self._completion(body, fault)).encode()[:40])
        else:
            self._json(self._completion(body, fault))

    def _completion(self, body: dict[str, Any], fault: Fault) -> dict[str, Any]:
        null = fault in (Fault.NULL_CONTENT, Fault.THOUGHT_TO_THE_CAP)
        content = None if null else self.owner.answer(body)
        if fault is Fault.SURROGATE:
            content = "half \ud83d"
        finish = "length" if fault is Fault.THOUGHT_TO_THE_CAP else "stop"
        message = {"role": "assistant", "content": content}
        reply: dict[str, Any] = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": body.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {
                "prompt_tokens": 7,
                "completion_tokens": 3,
                "total_tokens": 10,
                "prompt_tokens_details": {"cached_tokens": 4},
            },
        }
        if fault is Fault.NO_CHOICES:
            reply["choices"] = []
        if fault is Fault.NO_USAGE:
            del reply["usage"]
        return reply

    def _json(self, value: Any) -> None:
        self._send(200, json.dumps(value).encode())

    def _error(self, status: int, message: str) -> None:
        error = {"error": {"message": message, "type": "fault", "code": status}}
        self._send(status, json.dumps(error).encode())

    def _send(self, status: int, payload: bytes, kind: str = "application/json") -> None:
        head = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(payload)}"]
        if self.owner.retry_after is not None and status in (429, 503):
            head.append(f"Retry-After: {self.owner.retry_after}")
        # One write: two would wait for each other's acknowledgement (Nagle).
        self.wfile.write("\r\n".join([*head, "", ""]).encode() + payload)


def _shutdown(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
