"""The table ``[validate]`` of a skillevo.toml, read without the rest of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillevo.app.skill_source import ConfigText
from skillevo.errors import ConfigError
from skillevo.library.catalog import RULES
from skillevo.library.rule import Profile
from skillevo.library.standard import Ignore, Standard
from skillevo.types import Severity

_MANUAL = "docs/validate.md explains [validate]"


@dataclass(frozen=True, slots=True)
class Settings:
    """How to check. ``folder`` is where skillevo.toml lies; limits that are None do not apply."""

    profile: Profile = Profile.SPEC
    fail_on: Severity = Severity.ERROR
    ignores: tuple[Ignore, ...] = ()
    library_limit: int | None = None
    folder: str = ""

    @property
    def standard(self) -> Standard:
        """What the skills of a project with these settings must hold to enter a library."""
        return Standard(self.profile, self.ignores)


def read_settings(config: ConfigText | None) -> Settings:
    """The settings of a skillevo.toml, the defaults without one.

    ConfigError for a file that is no TOML and for a wrong ``[validate]``; the other tables may be
    wrong or absent.
    """
    if config is None:
        return Settings()
    text, document = _document(config)
    table = document.get("validate", {})
    if table != {}:
        _check(config.name, text, table)
    evolve = document.get("evolve")
    limit = evolve.get("library_limit") if isinstance(evolve, dict) else None
    return Settings(
        profile=Profile(table.get("profile", Profile.SPEC)),
        fail_on=Severity(table.get("fail_on", Severity.ERROR)),
        ignores=tuple(Ignore(**entry) for entry in table.get("ignore", ())),
        library_limit=limit if isinstance(limit, int) and limit > 0 else None,
        folder=config.folder,
    )


def _document(config: ConfigText) -> tuple[str, dict[str, Any]]:
    # Most libraries that are checked have no skillevo.toml: this import is not theirs to pay.
    import tomllib

    try:
        text = config.data.decode("utf-8-sig")
        return text, tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{config.name}: broken TOML", why=str(error), fix="correct the file and run again"
        ) from error


def _check(name: str, text: str, table: object) -> None:
    from skillevo.schemas import load_schema, violations

    found = violations(table, load_schema("config")["properties"]["validate"])
    if found:
        place = ("validate", *found[0].path)
        where = found[0].where if found[0].path else "the table"
        raise ConfigError(
            f"{_place(name, text, place)}: [validate]: {where}: {found[0].message}",
            why="the value does not fit the schema of skillevo.toml",
            fix=_MANUAL,
        )
    entries: Sequence[Mapping[str, str]] = (
        table.get("ignore", ()) if isinstance(table, dict) else ()
    )
    for number, entry in enumerate(entries):
        if entry["rule"] not in RULES:
            raise _unknown_rule(_place(name, text, ("validate", "ignore", number, "rule")), entry)


def _unknown_rule(place: str, entry: Mapping[str, str]) -> ConfigError:
    import difflib

    close = difflib.get_close_matches(entry["rule"], RULES, n=1)
    return ConfigError(
        f"{place}: there is no rule {entry['rule']!r}",
        why="an entry of ignore names one rule of the checker",
        fix=f"did you mean {close[0]!r}?" if close else "docs/rules.md lists every rule",
    )


def _place(name: str, text: str, path: tuple[str | int, ...]) -> str:
    from skillevo.config import line_of

    line = line_of(text, path)
    return f"{name}:{line}" if line else name
