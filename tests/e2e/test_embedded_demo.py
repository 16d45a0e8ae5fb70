"""One short evolution with the embedded language model, from settings to decisions."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from fakes.workshop import git, isolate, skillevo

DECISIONS = {"accept", "reject", "indecisive", "stale", "unchanged"}


@pytest.mark.embedded
def test_short_evolution_with_a_real_model_ends_with_decisions(
    embedded_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolate(tmp_path, monkeypatch)
    root = tmp_path / "project"
    assert skillevo("init", root, "--template", "qa").code == 0
    settings = root / "skillevo.toml"
    text = settings.read_text()
    for old, new in (
        ('base_url = "embedded"', f'base_url = "embedded"\ngguf = "{embedded_gguf}"'),
        ("batch = 4", "batch = 2"),
        ("group_size = 4", "group_size = 2"),
        ("max_tokens = 200", "max_tokens = 80"),
        ("questions = 10", "questions = 2"),
    ):
        assert old in text
        text = text.replace(old, new)
    settings.write_text(text)
    before = servers()
    outcome = skillevo("-C", root, "evolve", "--iterations", "1", "--format", "json")
    assert outcome.code == 0, outcome.err
    value = outcome.value
    assert value["simulated"] is False
    assert value["not_done"] == []
    (iteration,) = value["iterations"]
    assert {agent["decision"] for agent in iteration["agents"]} <= DECISIONS
    assert value["tokens"]["actor"]["prompt"] > 0
    assert value["tokens"]["actor"]["completion"] > 0
    assert git(root, "rev-parse", value["branch"]) == value["head"]
    assert git(root, "status", "--porcelain") == " M skillevo.toml"
    assert servers() == before


def servers() -> set[int]:
    """The embedded servers that this process started and that still run."""
    if not sys.platform.startswith("linux"):
        return set()
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            parent = (
                int((entry / "stat").read_text().rpartition(")")[2].split()[1]) if command else 0
            )
        except (OSError, ValueError):
            continue
        if parent == os.getpid() and b"embedded_process" in command:
            found.add(int(entry.name))
    return found
