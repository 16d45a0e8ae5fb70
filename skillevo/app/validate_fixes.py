"""The safe repairs of ``skillevo validate --fix``, written to the work tree file by file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from skillevo.app.skill_source import Source
from skillevo.app.validate import settings_filter
from skillevo.app.validate_settings import Settings
from skillevo.errors import EnvironmentFault
from skillevo.library.catalog import RULES
from skillevo.library.fixes import safe_fixes
from skillevo.library.rule import TreeEntry

_FIXABLE = tuple(rule.id for rule in RULES.values() if rule.fixable)


@dataclass(frozen=True, slots=True)
class Repair:
    """One file before and after its safe fixes, by shown path."""

    path: str
    before: bytes
    after: bytes

    def diff(self) -> list[str]:
        """A unified diff whose lines end in nothing; a carriage return before that stays."""
        import difflib

        old, new = (
            data.decode("utf-8").removesuffix("\n").split("\n")
            for data in (self.before, self.after)
        )
        names = f"a/{self.path}", f"b/{self.path}"
        return list(difflib.unified_diff(old, new, *names, lineterm=""))


def repairs(source: Source, settings: Settings) -> tuple[Repair, ...]:
    """What safe fixes would change; a file where a fixable rule is ignored is left as it is."""
    ignored = settings_filter(source, settings)
    planned = []
    for path, data in source.skill_files():
        if any(ignored(path, rule) for rule in _FIXABLE):
            continue
        after = safe_fixes(data)
        if after != data:
            planned.append(Repair(path, data, after))
    return tuple(planned)


def write_repairs(source: Source, planned: Sequence[Repair]) -> Source:
    """Put each repaired file in its place at once, with its mode; the source as it is then.

    EnvironmentFault when a file cannot be written; those before it are written.
    """
    for repair in planned:
        _replace(Path(source.locate(repair.path)), repair.after)
    changed = {repair.path: TreeEntry(repair.after) for repair in planned}
    return replace(source, tree={**source.tree, **changed})


def _replace(path: Path, data: bytes) -> None:
    try:
        mode = path.stat().st_mode
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".skillevo-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                os.fchmod(file.fileno(), mode & 0o7777)
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise EnvironmentFault(
            f"{path} cannot be repaired",
            why=error.strerror or str(error),
            fix="make the file and its folder writable",
        ) from error
