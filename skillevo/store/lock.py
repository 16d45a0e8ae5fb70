"""One run at a time in a repository: an advisory lock that a dead owner gives up."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from skillevo.errors import ConflictError
from skillevo.store.faults import unwritable
from skillevo.store.git import PRIVATE, Repository


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a repository: a process, its host, and the run it works on."""

    pid: int
    host: str
    run: str

    def __str__(self) -> str:
        return f"run {self.run}, process {self.pid} on {self.host}"


@contextmanager
def locked(repository: Repository, run: str) -> Iterator[None]:
    """Hold the repository for a run while the context is open.

    ConflictError that names the holder when another process has it. The lock goes with the process,
    however that ends.
    """
    path = _path(repository)
    try:
        handle = _acquire(path)
    except OSError as error:
        raise unwritable(path.parent, error) from error
    try:
        holder = {"pid": os.getpid(), "host": socket.gethostname(), "run": run}
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(holder).encode() + b"\n", 0)
        yield
    finally:
        # While it is still ours: whoever waits for the file sees that it is gone and makes its own.
        with suppress(OSError):
            path.unlink()
        os.close(handle)


def lock_holder(repository: Repository) -> Holder | None:
    """Who holds the repository now, None when nobody does."""
    try:
        handle = os.open(_path(repository), os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _read(handle)
    finally:
        os.close(handle)
    return None


def stale_locks(repository: Repository) -> tuple[Path, ...]:
    """The lock files that git left under the refs of runs, sorted."""
    folders = ("refs/heads/skillevo", "refs/skillevo", "logs/refs/heads/skillevo")
    found = [p for name in folders for p in (repository.common_dir / name).rglob("*.lock")]
    return tuple(sorted(found))


def _path(repository: Repository) -> Path:
    return repository.common_dir / PRIVATE / "lock"


def _acquire(path: Path) -> int:
    while True:
        path.parent.mkdir(exist_ok=True)
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except FileNotFoundError:
            # The last owner removed the folder in between.
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _same(handle, path):
                return handle
        except BlockingIOError as error:
            holder = _read(handle)
            os.close(handle)
            raise ConflictError(
                "another run holds this repository",
                why=f"{holder or 'its owner cannot be read'} has {path}",
                fix="wait until it has ended, or let this one wait: skillevo evolve --wait",
            ) from error
        os.close(handle)


def _same(handle: int, path: Path) -> bool:
    """True unless the file was removed, and maybe made anew, before the lock was ours."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False


def _read(handle: int) -> Holder | None:
    with suppress(ValueError, KeyError, TypeError):
        value = json.loads(os.pread(handle, 4096, 0))
        return Holder(int(value["pid"]), str(value["host"]), str(value["run"]))
    return None
