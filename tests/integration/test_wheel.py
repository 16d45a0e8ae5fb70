"""The built wheel, installed in a fresh environment, runs from another directory."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from fakes.workshop import isolate

CHECKOUT = Path(__file__).parents[2]
WITHIN = [
    "skillevo/_schemas/config.schema.json",
    "skillevo/_schemas/critic.schema.json",
    "skillevo/_schemas/question.schema.json",
    "skillevo/ask/prompts/critic.md",
    "skillevo/ask/prompts/induce.md",
    "skillevo/templates/qa/embedded.toml",
    "skillevo/templates/qa/data/train.jsonl",
    "skillevo/templates/qa/roles/reader.md",
    "skillevo/templates/qa/corrupt/answerer/reply-units/SKILL.md",
    "skillevo/py.typed",
]
UNREACHABLE = ("No matching distribution", "Could not find a version", "Connection", "connection")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    missing = [name for name in ("build", "hatchling") if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (pip install 'skillevo[dev]')")
    target = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", target]
    done = subprocess.run([*command, CHECKOUT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = target.glob("*.whl")
    return built


def test_wheel_holds_schemas_prompts_and_templates(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for name in WITHIN:
        assert name in names
    schemas = {path.name for path in (CHECKOUT / "schemas").glob("*.json")}
    assert {Path(name).name for name in names if name.startswith("skillevo/_schemas/")} == schemas
    assert not [name for name in names if name.startswith(("tests/", "bench/"))]


@pytest.mark.network
def test_installed_wheel_runs_from_another_directory(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolate(tmp_path, monkeypatch)
    for name in ("PYTHONPATH", "PYTHONHOME"):
        monkeypatch.delenv(name, raising=False)
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", str(wheel)]
    installed = subprocess.run(pip, capture_output=True, text=True, check=False)
    if installed.returncode != 0 and any(word in installed.stderr for word in UNREACHABLE):
        pytest.skip(f"the package registry cannot be reached: {installed.stderr.strip()[-200:]}")
    assert installed.returncode == 0, installed.stderr
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for arguments in (["demo", "--simulated", "--dir", "d"], ["-C", "d", "log"], ["-C", "d"]):
        done = subprocess.run(
            [programs / "skillevo", *arguments],
            cwd=elsewhere, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert "simulated" in done.stdout
