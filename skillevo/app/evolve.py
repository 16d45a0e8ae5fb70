"""``skillevo evolve``: check every input, probe the servers, then run."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillevo import plugins
from skillevo.app.compose import Project, compose_run
from skillevo.app.models import (
    check_models,
    fetch_models,
    logged_models,
    open_models,
    probe_models,
)
from skillevo.app.origin import Origin, origin
from skillevo.app.records import description, evidence_record
from skillevo.app.resume import (
    beginning,
    check_record,
    check_settings,
    ended_record,
    read_begun,
)
from skillevo.app.skill_files import find_config
from skillevo.app.validate_settings import read_settings
from skillevo.config import CONFIG_NAME, Config, load_config
from skillevo.core.refs import evidence_ref, run_branch
from skillevo.errors import ConfigError, ConflictError, Interrupted
from skillevo.llm.calls import CallLog, Meter
from skillevo.pipeline.evolve import evolve
from skillevo.pipeline.preflight import check_splits
from skillevo.report.as_json import run_json
from skillevo.store.candidates import GitStore
from skillevo.store.evidence import evidence_files
from skillevo.store.git import Repository
from skillevo.store.libraries import read_libraries
from skillevo.store.lock import locked
from skillevo.store.runs import BEGUN, Observer, RunDirectory
from skillevo.types import IterationResult, RunResult, Team, Usage

Overrides = Mapping[str, Mapping[str, Any]]
WAIT_S = 0.2
"""How often a run that waits looks whether it can begin."""
MeterHook = Callable[[Callable[[], Usage]], None]


@dataclass(frozen=True, slots=True)
class Evolved:
    """A finished run with what it cost and where its records are."""

    result: RunResult
    usage: Usage
    simulated: bool
    folder: Path


@dataclass(frozen=True, slots=True)
class Watch:
    """How a command follows a run: ``say`` for notices, ``observers`` for events, ``meter`` is
    given a function that reads the usage so far, ``finished`` each iteration as it ends."""

    say: Callable[[str], None]
    observers: Sequence[Observer] = ()
    meter: MeterHook = lambda _: None
    finished: Callable[[IterationResult], None] = lambda _: None


def open_project(config: Config, repository: Repository, base: str | None = None) -> Project:
    """Every input checked: data, splits, operators, models' files, libraries at ``base`` or HEAD.

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
    base = repository.head()[0] if base is None else repository.resolve(base)
    standard = read_settings(find_config([str(config.root)])).standard
    libraries = read_libraries(
        repository, base, [agent.name for agent in config.agents], standard=standard
    )
    team = Team(config.agents, tuple(libraries[agent.name] for agent in config.agents))
    inside = [path for path in config.files if path.is_relative_to(config.root)]
    return Project(
        config=config,
        environment=environment,
        team=team,
        base=base,
        uncommitted=repository.modified_skills(),
        drafts=repository.modified(*(path.relative_to(config.root).as_posix() for path in inside)),
        standard=standard,
    )


async def evolve_project(
    root: Path,
    watch: Watch,
    *,
    overrides: Overrides | None = None,
    run: str | None = None,
    fixed: Origin | None = None,
    wait: bool = False,
) -> Evolved:
    """One run of the project at ``root``; ``fixed`` replaces run id, clock and identities.

    Order: the repository's lock, inputs, then the servers, then the run directory, the models, the
    loop. With ``wait`` another run is let to its end first. Raises SkillevoError for what the user
    can act on.
    """
    config = load_config(root, overrides)
    with Repository(root) as repository:
        start = fixed or origin(repository, run)
        async with _alone(repository, start.run, watch, wait):
            _check_unused(root, repository, start.run)
            project = open_project(config, repository)
            await probe_models(config)
            fetch_models(config, watch.say)
            store = _store(project, start, repository)
            begun = beginning(start, overrides or {}, config)
            with RunDirectory.create(root, start.run, start.clock, watch.observers) as folder:
                return await _run(project, start, store, folder, watch, begun)


async def resume_project(
    root: Path, watch: Watch, run: str, *, wait: bool = False
) -> Evolved | dict[str, Any]:
    """Play a run that did not end again, with every answer that it had, and go on from there.

    A run that ended gives its recorded result instead. ConfigError when a setting changed since,
    ConflictError when its refs are not where it left them; nothing has changed then.
    """
    with Repository(root) as repository:
        async with _alone(repository, run, watch, wait):
            ended = ended_record(root, repository, run)
            if ended is not None:
                return ended
            begun = read_begun(root, run)
            config = load_config(root, begun.overrides)
            check_settings(run, begun, config)
            project = open_project(config, repository, begun.base)
            store = _store(project, begun.origin, repository, resume=True)
            await probe_models(config)
            recorded = evidence_files(repository, run).get("run.json")
            again = beginning(begun.origin, begun.overrides, config)
            with RunDirectory.reopen(root, run, begun.origin.clock, watch.observers) as folder:
                return await _run(project, begun.origin, store, folder, watch, again, recorded)


@asynccontextmanager
async def _alone(repository: Repository, run: str, watch: Watch, wait: bool) -> AsyncIterator[None]:
    """Hold the repository's lock, at once or after whoever has it."""
    with ExitStack() as stack:
        told = False
        while True:
            try:
                stack.enter_context(locked(repository, run))
                break
            except ConflictError as error:
                if not wait:
                    raise
                if not told:
                    watch.say(f"waiting: {error.what} ({error.why})")
                    told = True
            await asyncio.sleep(WAIT_S)
        yield


def _store(
    project: Project, start: Origin, repository: Repository, *, resume: bool = False
) -> GitStore:
    config = project.config
    return GitStore(
        repository,
        run=start.run,
        started=start.started,
        author=start.author,
        committer=start.committer,
        agents=[agent.name for agent in config.agents],
        standard=project.standard,
        sign=repository.signs and not config.simulated,
        resume=resume,
    )


def _check_unused(root: Path, repository: Repository, run: str) -> None:
    for ref in (run_branch(run), evidence_ref(run)):
        if repository.find_object(ref) is not None:
            raise ConflictError(
                f"the run {run} exists already as {ref}",
                why="a run's commits are never overwritten",
                fix=f"{resume_command(root, run)} goes on with it if it did not end; "
                "else choose another --run-id",
            )


def resume_command(root: Path, run: str) -> str:
    """The command that goes on with a run."""
    return f"skillevo -C {root} evolve --resume {run}"


async def _run(
    project: Project,
    start: Origin,
    store: GitStore,
    folder: RunDirectory,
    watch: Watch,
    begun: Mapping[str, Any],
    recorded: bytes | None = None,
) -> Evolved:
    config = project.config
    async with open_models(config, folder.path, watch.say) as clients:
        with CallLog(folder.path / "calls.jsonl", replaying=lambda: store.replaying) as calls:
            # Caps count from here: a download or a model's start is not the run's.
            meter = _meter(config, start, calls)
            watch.meter(meter.snapshot)
            models = logged_models(config, clients, calls, meter)
            record = evidence_record(project, start.run, models)
            if recorded is not None:
                check_record(start.run, recorded, record)
            composed = compose_run(
                project, models, start.run, record, store, folder, watch.finished
            )
            folder.record(0, BEGUN, {**description(project, start, models), **begun})
            folder.event(
                "run",
                run=start.run,
                simulated=config.simulated,
                base=project.base,
                uncommitted=project.uncommitted,
                drafts=project.drafts,
                group_size=config.evolve.group_size,
            )
            try:
                result = await evolve(composed)
            except asyncio.CancelledError as error:
                raise Interrupted(
                    f"the run {start.run} was interrupted",
                    why="what it had finished is kept, and every answer of the models",
                    fix=resume_command(config.root, start.run),
                ) from error
    usage = meter.snapshot()
    folder.record(0, "result", run_json(result, usage, simulated=config.simulated))
    folder.event("end", not_done=result.not_done)
    return Evolved(
        result=result,
        usage=usage,
        simulated=config.simulated,
        folder=folder.path,
    )


def _meter(config: Config, start: Origin, calls: CallLog) -> Meter:
    """The meter with the caps of the run; what it asked before it was resumed counts, too."""
    budget = config.budget
    return Meter(
        start.clock,
        minutes=budget.minutes or None,
        calls=budget.calls or None,
        tokens=budget.tokens or None,
        spent=calls.spent,
    )
