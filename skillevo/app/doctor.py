"""``skillevo doctor``: one line per thing a run needs, with the consequence and the fix."""

from __future__ import annotations

import platform
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from skillevo.app.compose import Project, validation_set
from skillevo.app.evolve import open_project
from skillevo.app.models import probe_table, tables_by_role
from skillevo.config import ModelConfig, load_config
from skillevo.errors import ConflictError, SkillevoError
from skillevo.llm.embedded import check_embedded
from skillevo.llm.weights import FILE_NAME, cache_folder
from skillevo.store.git import Repository
from skillevo.store.lock import lock_holder, stale_locks
from skillevo.types import Split

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """One check. ``exit_code`` is 0 when it passed; ``detail`` says what was found or why not."""

    name: str
    exit_code: int
    detail: str
    fix: str = ""


async def examine(root: Path) -> list[Row]:
    """Every check, in order; what depends on something broken is left out. Changes nothing."""
    rows = [Row("python", 0, f"{platform.python_version()} at {sys.executable}")]
    config = _check(rows, "configuration", lambda: load_config(root), lambda c: str(c.root))
    repository = _check(rows, "repository", lambda: Repository(root), lambda r: str(r.root))
    if repository is not None:
        with repository:
            _check(rows, "identity", repository.identity, lambda who: f"{who.name} <{who.email}>")
            _check(rows, "locks", lambda: _free(repository), str)
            if config is not None:
                known = config
                _check(rows, "inputs", lambda: open_project(known, repository), _inputs)
    if config is not None:
        for roles, table in tables_by_role(config):
            rows.append(await _model("model " + ", ".join(roles), table))
    return rows


def _check(
    rows: list[Row], name: str, check: Callable[[], T], detail: Callable[[T], str]
) -> T | None:
    try:
        value = check()
    except SkillevoError as error:
        rows.append(_failed(name, error))
        return None
    rows.append(Row(name, 0, detail(value)))
    return value


def _failed(name: str, error: SkillevoError) -> Row:
    why = f"{error.what}: {error.why}" if error.why else error.what
    return Row(name, error.exit_code, why, error.fix)


def _free(repository: Repository) -> str:
    """Says that a run could begin; ConflictError while another has the repository, or when a git
    process that was killed left a lock on refs of runs."""
    holder = lock_holder(repository)
    if holder is not None:
        raise ConflictError(
            "a run is under way", why=str(holder), fix="wait for it, or skillevo evolve --wait"
        )
    stale = stale_locks(repository)
    if stale:
        paths = " ".join(shlex.quote(str(path)) for path in stale)
        raise ConflictError(
            f"{len(stale)} refs of runs are locked and no run is under way",
            why="a git process was killed while it moved them; git refuses to move them again",
            fix=f"when no git is at work here: rm {paths}",
        )
    return "no run is under way"


def _inputs(project: Project) -> str:
    train = len(project.environment.questions(Split.TRAIN))
    skills = sum(len(library.skills) for library in project.team.libraries)
    uncommitted = f", {project.uncommitted} uncommitted" if project.uncommitted else ""
    return (
        f"{train} training and {len(validation_set(project))} validation questions, "
        f"{len(project.team.agents)} agents, {skills} skills{uncommitted}"
    )


async def _model(name: str, table: ModelConfig) -> Row:
    try:
        return Row(name, 0, await _describe(table))
    except SkillevoError as error:
        return _failed(name, error)


async def _describe(table: ModelConfig) -> str:
    if table.base_url == "simulated":
        return "simulated: no language model; scores mean nothing"
    if table.base_url == "embedded":
        return _embedded(table)
    probed = await probe_table(table)
    context = (
        f"context {probed.context_tokens}" if probed.context_tokens else "context not reported"
    )
    return f"{table.model} at {table.base_url}, {context}"


def _embedded(table: ModelConfig) -> str:
    check_embedded()
    if table.gguf is not None:
        return f"embedded, {table.gguf}"
    here = (cache_folder() / FILE_NAME).is_file()
    return f"embedded, {FILE_NAME} " + ("in the cache" if here else "will be fetched once (98 MB)")
