"""The embedded model server: a llama.cpp process that lives as long as the run that uses it."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from skillevo.errors import EnvironmentFault
from skillevo.llm import wire
from skillevo.llm.weights import MODEL

_READY_S = 120.0
_STOP_S = 5.0
_MOST_THREADS = 8
# Waiting threads sleep instead of spinning: with two threads on two busy cores, spinning made calls
# five to eight times slower.
_ENVIRONMENT = {"OMP_WAIT_POLICY": "PASSIVE"}


def check_embedded() -> None:
    """Raise EnvironmentFault when the package that serves the embedded model is missing."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise EnvironmentFault(
            "the embedded model cannot run",
            why="the package xllamacpp is not installed",
            fix=f"{sys.executable} -m pip install xllamacpp",
        )


class EmbeddedServer:
    """Serves ``gguf`` on a random port of the loopback address while the context is open.

    ``slots`` calls run at once, each with a context of ``context_tokens``. ``threads`` is None for
    the cores this process may use, 8 at most. What llama.cpp prints goes to ``log_path``.
    EnvironmentFault when the server cannot be had.
    """

    def __init__(
        self,
        gguf: Path,
        *,
        slots: int = 2,
        context_tokens: int = 4096,
        threads: int | None = None,
        log_path: Path,
        model: str = MODEL,
    ) -> None:
        self.model = model
        self._gguf = gguf
        self._slots = slots
        self._context_tokens = context_tokens
        self._threads = threads or default_threads()
        self._log_path = log_path
        self._process: asyncio.subprocess.Process | None = None
        self._base_url = ""

    @property
    def base_url(self) -> str:
        """The address for ``OpenAIChat``; empty while the server is not running."""
        return self._base_url

    @property
    def pid(self) -> int | None:
        """The server's process id; None while it is not running."""
        return self._process.pid if self._process else None

    async def __aenter__(self) -> EmbeddedServer:
        """Start the server and wait until it is ready."""
        check_embedded()
        self._process = await self._spawn()
        try:
            self._base_url = f"{await self._address(self._process)}/v1"
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stop()

    async def _spawn(self) -> asyncio.subprocess.Process:
        arguments = [str(self._gguf.resolve()), "--alias", self.model]
        arguments += ["--slots", str(self._slots), "--context-tokens", str(self._context_tokens)]
        arguments += ["--threads", str(self._threads)]
        try:
            self._log_path.parent.mkdir(parents=True, exist_ok=True)
            with self._log_path.open("ab") as log:
                # -P: the user's working directory is no place to import from. A session of its own:
                # Ctrl-C is for the run, which then stops the server itself.
                return await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-P",
                    "-m",
                    "skillevo.llm.embedded_process",
                    *arguments,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=log,
                    env={**_ENVIRONMENT, **os.environ},
                    start_new_session=True,
                )
        except OSError as error:
            raise EnvironmentFault(
                "cannot start the embedded model",
                why=f"{error.strerror or error} ({self._log_path})",
                fix="make the run directory writable",
            ) from error

    async def _address(self, process: asyncio.subprocess.Process) -> str:
        """The address that the process reports once the model is loaded."""
        assert process.stdout is not None
        try:
            async with asyncio.timeout(_READY_S):
                line = await process.stdout.readline()
        except TimeoutError:
            self._fail(f"it was not ready after {_READY_S:g} s")
        try:
            message = json.loads(line)
        except ValueError:
            self._fail("its process ended while it loaded the model")
        if "address" not in message:
            self._fail(wire.printable(str(message.get("error"))))
        return str(message["address"])

    def _fail(self, why: str) -> NoReturn:
        raise EnvironmentFault(
            f"cannot start the embedded model from {self._gguf}",
            why=why,
            fix=f"read {self._log_path}; a smaller model or context needs less memory",
        )

    async def _stop(self) -> None:
        """Close the pipe that keeps the process alive; kill it when that is not enough."""
        process, self._process, self._base_url = self._process, None, ""
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(_STOP_S):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def default_threads() -> int:
    """The cores this process may use, 8 at most: more threads than cores slow llama.cpp down."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(_MOST_THREADS, usable or 1))
