"""Golden files: compared, or written anew with ``SKILLEVO_REGENERATE=1 pytest tests/cli``."""

from __future__ import annotations

import os
from pathlib import Path


def assert_golden(path: Path, text: str) -> None:
    """``text`` is what the file holds; with SKILLEVO_REGENERATE=1 the file is written instead."""
    if os.environ.get("SKILLEVO_REGENERATE") == "1":
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"no golden file {path}: run once with SKILLEVO_REGENERATE=1"
    assert text == path.read_text(encoding="utf-8"), (
        f"{path} differs: if the change is meant, run again with SKILLEVO_REGENERATE=1"
    )
