"""Runs that lose their process at a named boundary, forked from one process to save imports.

As a program: reads lines of ``[environment, [[folder, arguments, boundary or None], ...]]`` as
JSON, runs ``skillevo -C folder arguments`` for each in a process of its own that kills itself
(SIGKILL) at the boundary, and answers with a line ``[[exit status, stdout, stderr, boundaries
passed], ...]``.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KILLED = -signal.SIGKILL
Job = tuple[Path, Sequence[str], str | None]


@dataclass(frozen=True, slots=True)
class Ended:
    """How one process ended: its exit code, or minus the signal."""

    code: int
    out: str
    err: str
    passed: list[str]

    @property
    def value(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


def run_jobs(jobs: Sequence[Job]) -> list[Ended]:
    """Each job after the other, in processes that one server forks, with this environment."""
    asked = [dict(os.environ), [[str(folder), list(words), at] for folder, words, at in jobs]]
    with _TURN:
        server = _server()
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(asked) + "\n")
        server.stdin.flush()
        answer = server.stdout.readline()
    assert answer, "the server of forks has died"
    return [Ended(*row) for row in json.loads(answer)]


_TURN = threading.Lock()


@functools.cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(server.communicate)
    return server


def _child(folder: str, words: list[str], at: str | None, streams: list[Any]) -> int:
    import skillevo.app.evolve as application
    from skillevo.cli.errors import run_command
    from skillevo.cli.main import cli

    out, err, passed = streams

    def boundary(name: str) -> None:
        passed.write(name + "\n")
        passed.flush()
        if name == at:
            os.kill(os.getpid(), signal.SIGKILL)

    store = functools.partial(application.GitStore, boundary=boundary)
    application.GitStore = store  # type: ignore[assignment, misc]
    sys.stdout, sys.stderr = out, err
    command = ["-C", folder, *words]
    code = run_command(lambda: cli.main(command, prog_name="skillevo", standalone_mode=False))
    out.flush()
    err.flush()
    return code


def _run(folder: str, words: list[str], at: str | None) -> list[Any]:
    with tempfile.TemporaryDirectory() as place:
        paths = [Path(place) / name for name in ("out", "err", "passed")]
        pid = os.fork()
        if pid == 0:
            code = 99
            try:
                code = _child(folder, words, at, [path.open("w") for path in paths])
            finally:
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        out, err, passed = (path.read_text() for path in paths)
    return [os.waitstatus_to_exitcode(status), out, err, passed.splitlines()]


if __name__ == "__main__":
    # Everything that a run imports, once.
    import skillevo.cli.run_commands  # noqa: F401

    for line in sys.stdin:
        environment, asked_jobs = json.loads(line)
        os.environ.clear()
        os.environ.update(environment)
        print(json.dumps([_run(*job) for job in asked_jobs]), flush=True)
