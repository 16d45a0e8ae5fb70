"""Environments and operators by name: the shipped ones, then those found by entry point."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import entry_points
from typing import Any

from skillevo.config import TaskConfig
from skillevo.envs import jsonl
from skillevo.errors import ConfigError, SkillevoError
from skillevo.operators import consolidate, examples, induce, prune, refine
from skillevo.operators.base import LibraryOperator, OperatorTools
from skillevo.ports import Environment

ENVIRONMENTS = "skillevo.environments"
OPERATORS = "skillevo.operators"

_ENVIRONMENTS: dict[str, Callable[[TaskConfig], Environment]] = {"jsonl": jsonl.build}
_OPERATORS: dict[str, Callable[[OperatorTools], LibraryOperator]] = {
    "refine": refine.build,
    "consolidate": consolidate.build,
    "prune": prune.build,
    "induce": induce.build,
    "examples": examples.build,
}


def environment(task: TaskConfig) -> Environment:
    """The environment that ``[task]`` names, built. Raises ConfigError or DataError."""
    build = _ENVIRONMENTS.get(task.environment) or _load(ENVIRONMENTS, task.environment)
    built: Environment = build(task)
    return built


def operators(names: Iterable[str], tools: OperatorTools) -> dict[str, LibraryOperator]:
    """The operators of these names, built. Raises ConfigError for one that nobody offers."""
    return {name: (_OPERATORS.get(name) or _load(OPERATORS, name))(tools) for name in names}


def check_operators(names: Iterable[str]) -> None:
    """Raise ConfigError for a name that neither ships nor is installed."""
    for name in names:
        if name not in _OPERATORS:
            _load(OPERATORS, name)


def _load(group: str, name: str) -> Callable[[Any], Any]:
    kind = group.rpartition(".")[2].removesuffix("s")
    known = _ENVIRONMENTS if group == ENVIRONMENTS else _OPERATORS
    found = list(entry_points(group=group, name=name))
    if not found:
        raise ConfigError(
            f"there is no {kind} {name!r}",
            why=f"shipped: {', '.join(known)}; others come as entry points of {group}",
            fix="correct the name in skillevo.toml, or install the package that offers it",
        )
    try:
        loaded: Callable[[Any], Any] = found[0].load()
    except (ImportError, AttributeError) as error:
        raise SkillevoError(
            f"the {kind} {name!r} cannot be loaded from {found[0].value}",
            why=str(error),
            fix="repair or reinstall the package that offers it",
        ) from error
    return loaded
