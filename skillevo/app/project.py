"""``skillevo init``: a complete project from a template, in a repository of its own."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from skillevo.app.origin import DEMO_IDENTITY, DEMO_STARTED, now_s
from skillevo.config import CONFIG_NAME
from skillevo.errors import EnvironmentFault, SkillevoError
from skillevo.store.git import Repository

TEMPLATES = ("qa",)
STARTS = ("empty", "corrupt")
PROFILES = ("embedded", "simulated", "vllm")
_KEEP = b"This folder holds the agent's skills: <skill>/SKILL.md. It may be empty.\n"


@dataclass(frozen=True, slots=True)
class Created:
    """What ``init`` made. ``commit`` is None when the folder was a repository already; ``inside``
    is another repository that the new one lies in."""

    root: Path
    files: tuple[str, ...]
    commit: str | None
    wrote_identity: bool
    inside: Path | None = None


def init_project(
    folder: Path,
    template: str,
    *,
    start: str = "empty",
    profile: str,
    fixed: bool = False,
    own: bool = False,
) -> Created:
    """Write the template's project to ``folder`` and make it a repository with one commit.

    ``fixed`` fixes identity and date (the simulated demo). A folder that is the top of a repository
    gets the files only; with ``own`` it is refused. Raises SkillevoError when that or a file is in
    the way; then nothing is written.
    """
    files = template_files(template, start, profile)
    time_s = DEMO_STARTED if fixed else now_s()
    if own and _is_repository(folder):
        raise SkillevoError(
            f"{folder} is a git repository already",
            why="the demo makes a repository of its own",
            fix="skillevo demo --dir another-folder",
        )
    in_the_way = [name for name in files if (folder / name).exists()]
    if in_the_way:
        raise SkillevoError(
            f"{folder / in_the_way[0]} exists already",
            why=f"init never overwrites ({len(in_the_way)} of {len(files)} files exist)",
            fix="choose another folder, or go on with `skillevo evolve` in this one",
        )
    try:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except OSError as error:
        raise EnvironmentFault(
            f"the project cannot be written to {folder}",
            why=error.strerror or str(error),
            fix="choose a folder that you can write to",
        ) from error
    made = Repository.init(
        folder,
        files,
        message=f"Start from the template {template} ({start} libraries)\n",
        time_s=time_s,
        identity=DEMO_IDENTITY if fixed else None,
        deterministic=fixed,
    )
    return Created(
        root=folder.resolve(),
        files=tuple(files),
        commit=made.commit,
        wrote_identity=made.wrote_identity,
        inside=_repository_of(folder.resolve().parent) if made.commit else None,
    )


def _is_repository(folder: Path) -> bool:
    return folder.is_dir() and _repository_of(folder) == folder.resolve()


def _repository_of(folder: Path) -> Path | None:
    """The top of the repository that a folder lies in, or None."""
    try:
        with Repository(folder) as repository:
            return repository.root.resolve()
    except EnvironmentFault:
        return None


def template_files(template: str, start: str, profile: str) -> dict[str, bytes]:
    """Every file of a new project by its relative path, in path order."""
    source = resources.files("skillevo") / "templates" / template
    files = {CONFIG_NAME: (source / f"{profile}.toml").read_bytes()}
    for part in ("data", "roles"):
        files |= {f"{part}/{name}": data for name, data in _walk(source / part)}
    agents = [name.removesuffix(".md") for name, _ in _walk(source / "roles")]
    files |= {f"skills/{agent}/README.md": _KEEP for agent in agents}
    if start != "empty":
        files |= {f"skills/{name}": data for name, data in _walk(source / start)}
    return dict(sorted(files.items()))


def _walk(folder: Traversable, prefix: str = "") -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.is_dir():
            found += _walk(entry, f"{prefix}{entry.name}/")
        else:
            found.append((prefix + entry.name, entry.read_bytes()))
    return found
