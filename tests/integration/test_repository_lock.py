"""One run at a time: the repository's lock, who holds it, and locks that git left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fakes.workshop import Workshop, assert_told, spawn

from skillevo.errors import ConflictError
from skillevo.store.git import Repository
from skillevo.store.lock import Holder, lock_holder, locked, stale_locks

HOLD = """
import sys
from pathlib import Path
from skillevo.store.git import Repository
from skillevo.store.lock import locked
with Repository(Path(sys.argv[1])) as repository, locked(repository, "other"):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(root: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the repository until its input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(root)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


def test_lock_names_its_holder_and_leaves_nothing(workshop: Workshop) -> None:
    with Repository(workshop.root) as repository:
        assert lock_holder(repository) is None
        with locked(repository, "one"):
            holder = lock_holder(repository)
            assert holder == Holder(os.getpid(), os.uname().nodename, "one")
            assert str(holder).startswith("run one, process ")
            with (
                pytest.raises(ConflictError, match="another run holds") as caught,
                locked(repository, "two"),
            ):
                pass
            assert "run one" in caught.value.why
            assert "--wait" in caught.value.fix
        assert lock_holder(repository) is None
    assert not (workshop.root / ".git" / "skillevo").exists()


def test_second_run_is_told_who_holds_the_repository(workshop: Workshop) -> None:
    with held(workshop.root) as process:
        outcome = workshop.run("evolve", "--run-id", "one")
        assert_told(outcome, 4, "another run holds", f"run other, process {process.pid} on ")
        assert not workshop.runs.exists()
        doctor = workshop.run("doctor", "--format", "json")
        row = next(row for row in doctor.value["checks"] if row["name"] == "locks")
        assert f"process {process.pid}" in row["detail"]
        assert doctor.code == 4
        process.communicate()


def test_second_run_may_wait(workshop: Workshop) -> None:
    with held(workshop.root) as process:
        ending = threading.Timer(0.3, process.communicate)
        ending.start()
        outcome = workshop.run("evolve", "--run-id", "one", "--iterations", "1", "--wait")
        ending.join()
    assert outcome.code == 0
    assert outcome.err.startswith("waiting: another run holds this repository")


def test_dead_owner_frees_the_repository(workshop: Workshop) -> None:
    with held(workshop.root) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        path = workshop.root / ".git" / "skillevo" / "lock"
        assert json.loads(path.read_text())["pid"] == process.pid
        with Repository(workshop.root) as repository:
            assert lock_holder(repository) is None
        assert workshop.run("evolve", "--run-id", "one", "--iterations", "1").code == 0


@pytest.mark.parametrize("content", ["", "[]", "{", '{"pid": "x"}'])
def test_unreadable_holder_is_still_a_holder(workshop: Workshop, content: str) -> None:
    with Repository(workshop.root) as repository, locked(repository, "one"):
        (workshop.root / ".git" / "skillevo" / "lock").write_text(content)
        with pytest.raises(ConflictError, match="another run holds"), locked(repository, "two"):
            pass


def test_two_runs_at_once_lose_nothing(workshop: Workshop) -> None:
    """Both wait for each other, in whatever order they come."""
    words = ["evolve", "--iterations", "1", "--wait", "--run-id"]
    ended = {}

    def run(name: str) -> None:
        ended[name] = spawn("-C", workshop.root, *words, name, cwd=workshop.folder)

    threads = [threading.Thread(target=run, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: one.code for name, one in ended.items()} == {"a": 0, "b": 0}
    refs = workshop.git("for-each-ref", "--format=%(refname)").splitlines()
    assert refs == [
        "refs/heads/main",
        "refs/heads/skillevo/a/main",
        "refs/heads/skillevo/a/reader/i001",
        "refs/heads/skillevo/b/main",
        "refs/heads/skillevo/b/reader/i001",
        "refs/skillevo/runs/a",
        "refs/skillevo/runs/b",
    ]
    assert workshop.run("verify").code == 0


def test_lock_that_a_killed_git_left_is_found_and_explained(workshop: Workshop) -> None:
    assert workshop.run("evolve", "--run-id", "one", "--iterations", "1").code == 0
    path = workshop.root / ".git" / "refs" / "skillevo" / "runs" / "one.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    with Repository(workshop.root) as repository:
        assert stale_locks(repository) == (path,)
    outcome = workshop.run("doctor", "--format", "json")
    row = next(row for row in outcome.value["checks"] if row["name"] == "locks")
    assert (outcome.code, row["ok"]) == (4, False)
    assert "a git process was killed" in row["detail"]
    assert row["fix"] == f"when no git is at work here: rm {path}"
    path.unlink()
    assert workshop.run("doctor").code == 0
