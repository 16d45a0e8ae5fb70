"""Environments and operators by name: the shipped ones, then those found by entry point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points

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
    if task.environment in _ENVIRONMENTS:
        return _ENVIRONMENTS[task.environment](task)
    found = _find(ENVIRONMENTS, task.environment)
    with _foreign(found):
        built: Environment = found.load()(task)
    return built


def operators(names: Iterable[str], tools: OperatorTools) -> dict[str, LibraryOperator]:
    """The operators of these names, built. Raises ConfigError for one that nobody offers."""
    return {name: _operator(name, tools) for name in names}


def check_operators(names: Iterable[str]) -> None:
    """Raise ConfigError for a name that neither ships nor is installed."""
    for name in names:
        if name not in _OPERATORS:
            found = _find(OPERATORS, name)
            with _foreign(found):
                found.load()


def _operator(name: str, tools: OperatorTools) -> LibraryOperator:
    if name in _OPERATORS:
        return _OPERATORS[name](tools)
    found = _find(OPERATORS, name)
    with _foreign(found):
        built: LibraryOperator = found.load()(tools)
    return built


def _find(group: str, name: str) -> EntryPoint:
    known = _ENVIRONMENTS if group == ENVIRONMENTS else _OPERATORS
    found = list(entry_points(group=group, name=name))
    if not found:
        raise ConfigError(
            f"there is no {_kind(group)} {name!r}",
            why=f"shipped: {', '.join(known)}; others come as entry points of {group}",
            fix="correct the name in skillevo.toml, or install the package that offers it",
        )
    return found[0]


@contextmanager
def _foreign(found: EntryPoint) -> Iterator[None]:
    """Whatever somebody else's package raises while it is loaded and built, as its own fault."""
    try:
        yield
    except SkillevoError:
        raise
    except (Exception, SystemExit) as error:
        raise SkillevoError(
            f"the {_kind(found.group)} {found.name!r} cannot be loaded from {found.value}",
            why=f"{type(error).__name__}: {error}",
            fix="repair or reinstall the package that offers it",
        ) from error


def _kind(group: str) -> str:
    return group.rpartition(".")[2].removesuffix("s")
