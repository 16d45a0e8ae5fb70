"""``skillevo.toml`` → a frozen, checked Config. Defaults live in ``schemas/config.schema.json``."""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillevo.config.places import description_of, line_of, place_of, schema_error, type_at
from skillevo.config.tables import check_sampling, read_agents, read_models
from skillevo.config.values import (
    CONFIG_NAME,
    BudgetConfig,
    Config,
    EvolveConfig,
    GateConfig,
    TaskConfig,
)
from skillevo.errors import ConfigError
from skillevo.schemas import Violation, load_schema, violations
from skillevo.types import Agent, ModelRole


def find_root(start: Path) -> Path:
    """The nearest folder at or above ``start`` that holds a skillevo.toml.

    Raises ConfigError when there is none.
    """
    start = start.resolve()
    if not start.is_dir():
        raise ConfigError(
            f"there is no folder {start}",
            why="a project is looked for in it and above",
            fix="correct the path after -C",
        )
    for folder in (start, *start.parents):
        if (folder / CONFIG_NAME).is_file():
            return folder
    raise ConfigError(
        f"no {CONFIG_NAME} in {start} or above",
        why="this is not a skillevo project yet",
        fix="skillevo init . --template qa",
    )


def load_config(root: Path, overrides: Mapping[str, Mapping[str, Any]] | None = None) -> Config:
    """The project at ``root``, with command-line overrides by section laid over the file.

    Raises ConfigError naming key, file and, where known, line.
    """
    path = root.resolve() / CONFIG_NAME
    text = _read(path)
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # ValueError: an integer of thousands of digits is told so, not as a TOMLDecodeError.
        raise ConfigError(
            f"{path}: broken TOML", why=str(error), fix="correct that line and run again"
        ) from error
    found = violations(document, "config")
    if found:
        raise schema_error(path, text, found)
    _check_values(path, text, document, ())
    for section, values in (overrides or {}).items():
        document.setdefault(section, {}).update(values)
    found = violations(document, "config")
    if found:
        raise ConfigError(
            f"option for {found[0].where}: {found[0].message}",
            why=description_of(found[0].path),
            fix="correct the option; --help lists them",
        )
    return _build(path, text, document)


def _read(path: Path) -> str:
    try:
        # Editors on Windows begin a file with a byte order mark, which means nothing.
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise ConfigError(
            f"{path} does not exist", why="not a skillevo project", fix="skillevo init DIR"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} cannot be read", why=str(error), fix="save it as UTF-8"
        ) from error


def _build(path: Path, text: str, document: Mapping[str, Any]) -> Config:
    root = path.parent
    full = _with_defaults(document, load_schema("config"))
    project, task, evolve = full["project"], full["task"], full["evolve"]
    agents = read_agents(path, text, full["team"]["agents"])
    models = read_models(path, text, full["models"])
    gate = GateConfig(**full["gate"])
    check_sampling(path, text, models[ModelRole.ACTOR], evolve, gate)
    settings = _settings(full, agents)
    return Config(
        root=root,
        name=project["name"],
        seed=project["seed"],
        topology=full["team"]["topology"],
        agents=agents,
        task=TaskConfig(
            environment=task["environment"],
            train=root / task["train"],
            validation=root / task["validation"],
            test=root / task["test"] if task["test"] else None,
            metric=task["metric"],
            options=task["options"],
        ),
        models=models,
        evolve=EvolveConfig(**{**evolve, "failure_types": tuple(evolve["failure_types"])}),
        gate=gate,
        budget=BudgetConfig(**full["budget"]),
        files=(
            path,
            *(root / agent["role"] for agent in full["team"]["agents"]),
            *(root / task[split] for split in ("train", "validation", "test") if task[split]),
        ),
        settings=settings,
        digest=hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest(),
    )


def _check_values(path: Path, text: str, value: Any, at: tuple[str | int, ...]) -> None:
    """Raise ConfigError for a value of a right type that no schema can refuse: nan, inf, a NUL in a
    string, 2.0 where a whole number is counted."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            _check_values(path, text, item, (*at, key))
        return
    whole = isinstance(value, float) and type_at(at) == "integer"
    infinite = isinstance(value, float) and not math.isfinite(value)
    if whole or infinite or (isinstance(value, str) and "\0" in value):
        need = "a whole number" if whole else "a number" if infinite else "free of NUL characters"
        key = Violation(at, "").where
        raise ConfigError(
            f"{place_of(path, line_of(text, at))}: {key}: {value!r} is not {need}",
            why=description_of(at) or "the value cannot be used",
            fix="correct the value; docs/config.md lists every key",
        )


def _settings(full: Mapping[str, Any], agents: tuple[Agent, ...]) -> dict[str, Any]:
    """Everything that decides what a run does, as JSON values."""
    # From which severity on a check fails changes nothing of what a run does.
    skills = {key: value for key, value in full["validate"].items() if key != "fail_on"}
    content = {**full, "validate": skills, "roles": {agent.name: agent.role for agent in agents}}
    # str: a date or time among the environment's free options.
    settings: dict[str, Any] = json.loads(json.dumps(content, sort_keys=True, default=str))
    return settings


def _with_defaults(value: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """``value`` with every absent key that has a default, recursively through objects."""
    out = dict(value)
    for key, sub in schema.get("properties", {}).items():
        if "default" in sub:
            out.setdefault(key, sub["default"])
        elif "properties" in sub and key not in schema.get("required", ()):
            out.setdefault(key, {})
        if isinstance(out.get(key), dict) and "properties" in sub:
            out[key] = _with_defaults(out[key], sub)
    return out
