"""``skillevo evolve``: check every input, probe the servers, then run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillevo import __version__, plugins
from skillevo.app.compose import Project, compose_run
from skillevo.app.models import check_models, logged_models, open_models, probe_models
from skillevo.app.origin import Origin, origin
from skillevo.config import CONFIG_NAME, Config, load_config
from skillevo.core.refs import run_branch
from skillevo.errors import ConfigError, ConflictError
from skillevo.llm.calls import CallLog, Meter
from skillevo.pipeline.evolve import evolve
from skillevo.pipeline.preflight import check_splits
from skillevo.ports import ChatModel
from skillevo.report.as_json import run_json
from skillevo.store.candidates import GitStore
from skillevo.store.git import Repository
from skillevo.store.libraries import read_libraries
from skillevo.store.runs import BEGUN, Observer, RunDirectory
from skillevo.types import ModelRole, RunResult, Team, Usage

Overrides = Mapping[str, Mapping[str, Any]]
MeterHook = Callable[[Callable[[], Usage]], None]


@dataclass(frozen=True, slots=True)
class Evolved:
    """A finished run with what it cost and where its records are."""

    result: RunResult
    usage: Usage
    simulated: bool
    folder: Path
    uncommitted: int
    group_size: int
    validation: int


@dataclass(frozen=True, slots=True)
class Watch:
    """How a command follows a run: ``say`` for notices, ``observers`` for events, ``meter`` is
    given a function that reads the usage so far."""

    say: Callable[[str], None]
    observers: Sequence[Observer] = ()
    meter: MeterHook = lambda _: None


def open_project(config: Config, repository: Repository) -> Project:
    """Every input checked: data, splits, operators, models' files, libraries at HEAD.

    Raises ConfigError, DataError, LibraryError or EnvironmentFault; nothing is written.
    """
    if not repository.bare and repository.root.resolve() != config.root:
        raise ConfigError(
            f"{config.root / CONFIG_NAME} is not at the top of its repository {repository.root}",
            why="libraries are kept at skills/<agent>/ from the top of the repository",
            fix=f"move {CONFIG_NAME} to {repository.root}, or run git init in {config.root}",
        )
    # A metric written beside skillevo.toml is imported by name.
    if str(config.root) not in sys.path:
        sys.path.append(str(config.root))
    environment = plugins.environment(config.task)
    check_splits(environment)
    plugins.check_operators(config.evolve.schedule)
    check_models(config)
    base, _ = repository.head()
    libraries = read_libraries(repository, base, [agent.name for agent in config.agents])
    team = Team(config.agents, tuple(libraries[agent.name] for agent in config.agents))
    return Project(config, environment, team, base, repository.modified_skills())


async def evolve_project(
    root: Path,
    watch: Watch,
    *,
    overrides: Overrides | None = None,
    run: str | None = None,
    fixed: Origin | None = None,
) -> Evolved:
    """One run of the project at ``root``; ``fixed`` replaces run id, clock and identities.

    Order: inputs, then the servers, then the run directory, the models, the loop. Raises
    SkillevoError for what the user can act on.
    """
    config = load_config(root, overrides)
    with Repository(root) as repository:
        start = fixed or origin(repository, run)
        project = open_project(config, repository)
        _check_unused(repository, start.run)
        await probe_models(config)
        store = GitStore(
            repository,
            run=start.run,
            started=start.started,
            author=start.author,
            committer=start.committer,
            agents=[agent.name for agent in config.agents],
            sign=repository.signs and not config.simulated,
        )
        with RunDirectory.create(root, start.run, start.clock, watch.observers) as folder:
            return await _run(project, start, store, folder, watch)


def _check_unused(repository: Repository, run: str) -> None:
    branch = run_branch(run)
    if repository.find_object(branch) is not None:
        raise ConflictError(
            f"the run {run} exists already as {branch}",
            why="a run's commits are never overwritten",
            fix="choose another --run-id, or leave it out",
        )


async def _run(
    project: Project, start: Origin, store: GitStore, folder: RunDirectory, watch: Watch
) -> Evolved:
    config = project.config
    budget = config.budget
    async with open_models(config, folder.path, watch.say) as clients:
        with CallLog(folder.path / "calls.jsonl") as calls:
            # Caps count from here: a download or a model's start is not the run's.
            meter = Meter(
                start.clock,
                minutes=budget.minutes or None,
                calls=budget.calls or None,
                tokens=budget.tokens or None,
            )
            watch.meter(meter.snapshot)
            models = logged_models(config, clients, calls, meter)
            composed = compose_run(project, models, start.run, store, folder)
            folder.record(0, BEGUN, _description(project, start, models))
            folder.event("run", run=start.run, simulated=config.simulated)
            result = await evolve(composed)
    usage = meter.snapshot()
    folder.record(0, "result", run_json(result, usage, simulated=config.simulated))
    folder.event("end", not_done=result.not_done)
    return Evolved(
        result=result,
        usage=usage,
        simulated=config.simulated,
        folder=folder.path,
        uncommitted=project.uncommitted,
        group_size=config.evolve.group_size,
        validation=len(composed.gate.questions),
    )


def _description(
    project: Project, start: Origin, models: Mapping[ModelRole, ChatModel]
) -> dict[str, Any]:
    """What a run was made of, for the record: versions, models, sampling, data, digests."""
    config = project.config
    return {
        "run": start.run,
        "skillevo": __version__,
        "base": project.base,
        "seed": config.seed,
        "simulated": config.simulated,
        "config_digest": config.digest,
        "method": config.evolve,
        "gate": config.gate,
        "budget": config.budget,
        "models": {
            role.value: {
                "identity": models[role].identity,
                "sampling": table.sampling,
                "max_tokens": table.max_tokens,
                "thinking": table.thinking,
            }
            for role, table in config.models.items()
        },
    }
