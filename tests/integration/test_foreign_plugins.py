"""Packages of others that offer an environment or an operator: their faults are told as theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillevo import plugins
from skillevo.config import TaskConfig
from skillevo.errors import DataError, SkillevoError

MODULE = """
from skillevo.errors import DataError

def raising(task): 1 / 0
def leaving(task): raise SystemExit(0)
def telling(task): raise DataError("its data is broken")
"""
ENTRIES = """[skillevo.environments]
raising = foreign_for_test:raising
leaving = foreign_for_test:leaving
telling = foreign_for_test:telling
absent = foreign_for_test:absent
broken = foreign_broken_for_test:build
[skillevo.operators]
absent = foreign_for_test:absent
broken = foreign_broken_for_test:build
"""


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "foreign_for_test.py").write_text(MODULE)
    (tmp_path / "foreign_broken_for_test.py").write_text("open('/no/such/file')\n")
    info = tmp_path / "foreign_for_test-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign-for-test\nVersion: 1\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(str(tmp_path))


def task(name: str) -> TaskConfig:
    return TaskConfig(name, Path("train"), Path("validation"), None, "exact", {})


@pytest.mark.parametrize("name", ["raising", "leaving", "absent", "broken"])
def test_an_environment_that_cannot_be_built_is_its_packages_fault(name: str) -> None:
    with pytest.raises(SkillevoError, match=f"environment '{name}' cannot be loaded") as caught:
        plugins.environment(task(name))
    assert caught.value.why
    assert "package" in caught.value.fix


def test_what_an_environment_tells_of_its_data_passes_through() -> None:
    with pytest.raises(DataError, match="its data is broken"):
        plugins.environment(task("telling"))


@pytest.mark.parametrize("name", ["absent", "broken"])
def test_an_operator_that_cannot_be_loaded_is_told_before_anything_is_spent(name: str) -> None:
    with pytest.raises(SkillevoError, match=f"operator '{name}' cannot be loaded"):
        plugins.check_operators([name])
