"""The published cases get their verdicts; SKILLEVO_CASES names the folder that holds skillmd/."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from skillevo.library.rules import TreeEntry, check_tree
from skillevo.types import Severity

FOLDER = os.environ.get("SKILLEVO_CASES", "")
EXPECTED = "expected.json"


def cases() -> list[object]:
    if not FOLDER:
        reason = "SKILLEVO_CASES names no folder of cases"
        return [pytest.param(Path(), marks=pytest.mark.skip(reason=reason), id="unset")]
    found = sorted(path.parent for path in Path(FOLDER, "skillmd").glob(f"*/{EXPECTED}"))
    assert found, f"no case under {FOLDER}/skillmd"
    return [pytest.param(path, id=path.name) for path in found]


@pytest.mark.parametrize("case", cases())
def test_case_gets_its_verdict(case: Path) -> None:
    expected = json.loads((case / EXPECTED).read_text(encoding="utf-8"))
    files = {
        f"skills/agent/{path.relative_to(case).as_posix()}": TreeEntry(
            None if path.is_symlink() else path.read_bytes(), symlink=path.is_symlink()
        )
        for path in case.rglob("*")
        if path.name != EXPECTED and (path.is_symlink() or path.is_file())
    }
    problems = check_tree(files)
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    assert (not errors) == expected["valid"], expected["reason"]
    if expected["valid"] and expected["level"] == "warning":
        assert problems, expected["reason"]
    if errors:
        assert errors[0].path == f"skills/agent/{expected['path']}"
