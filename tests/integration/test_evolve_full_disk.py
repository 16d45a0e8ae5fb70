"""A disk that fills up during a run: one error, exit code 3, no reward of 0."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fakes.workshop import Outcome, Workshop, assert_told

from skillevo.app.evolve import Watch, evolve_project
from skillevo.cli.errors import run_command

FULL = Path("/dev/full")
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
from skillevo.cli.main import main
main()
"""


def assert_only_finished_rollouts_have_rewards(run: Path) -> None:
    path = run / "trajectories.jsonl"
    lines = path.read_text().split("\n")[:-1] if path.is_file() else []
    for rollout in map(json.loads, lines):
        finished = rollout["stop_reason"] == "finished" and bool(rollout["steps"])
        assert (rollout["reward"] is not None) == finished, rollout


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("name", ["calls.jsonl", "trajectories.jsonl", "texts.jsonl"])
def test_file_of_the_run_on_a_full_disk_is_a_fault(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    run = workshop.runs / "one"

    def fill(kind: str, data: dict[str, Any]) -> None:
        if kind == "run":
            (run / name).unlink(missing_ok=True)
            (run / name).symlink_to(FULL)

    code = run_command(
        lambda: asyncio.run(evolve_project(workshop.root, Watch(print, (fill,)), run="one"))
    )
    told = capsys.readouterr()
    assert_told(Outcome(code, told.out, told.err), 3, "No space left on device", "run", "space")
    assert_only_finished_rollouts_have_rewards(run)
    assert workshop.git("rev-parse", "skillevo/one/main") == workshop.git("rev-parse", "HEAD")


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of file size")
@pytest.mark.parametrize("size", [4_000, 40_000])
def test_limit_on_the_size_of_files_is_a_fault(workshop: Workshop, size: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(size), "evolve", "--run-id", "one"],
        cwd=workshop.root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert_told(Outcome(done.returncode, done.stdout, done.stderr), 3, "run", "space")
    assert_only_finished_rollouts_have_rewards(workshop.runs / "one")
    assert workshop.git("status", "--porcelain") == ""
