"""``skillevo validate``: every finding of every skill file, less what the project ignores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from posixpath import basename, dirname, join

from skillevo.app.skill_source import Source
from skillevo.app.validate_settings import Settings
from skillevo.library.document import read
from skillevo.library.links import file_links
from skillevo.library.nodes import Lines
from skillevo.library.rules import check_skill, check_tree
from skillevo.library.standard import Ignore
from skillevo.types import Problem, Severity


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings, sorted by path, line and rule; ``files`` counts the skill files read.

    ``unused`` are the ignores that left nothing out, as far as this check could tell.
    """

    files: int
    problems: tuple[Problem, ...]
    unused: tuple[Ignore, ...] = ()

    def fails(self, fail_on: Severity) -> bool:
        """True when a finding is at least that severe."""
        return any(fail_on in (problem.severity, Severity.WARNING) for problem in self.problems)


def validate(source: Source, settings: Settings) -> Checked:
    """Check what the source holds."""
    found = _check_tree(source, settings)
    named = _with_folder_names(found, source, settings)
    found = _without_links_that_lead_out(named, source)
    ignored = settings_filter(source, settings)
    used = {ignore for problem in found for ignore in ignored(problem.path, problem.rule)}
    unused = () if source.single_files else tuple(i for i in settings.ignores if i not in used)
    kept = tuple(problem for problem in found if not ignored(problem.path, problem.rule))
    return Checked(sum(1 for _ in source.skill_files()), kept, unused)


def _check_tree(source: Source, settings: Settings) -> list[Problem]:
    """The findings by shown path; the checker itself wants paths relative to one folder."""
    shown = {path.removeprefix(source.anchor).lstrip("/"): path for path in source.tree}
    inside = {key: source.tree[path] for key, path in shown.items()}
    found = check_tree(inside, profile=settings.profile, library_limit=settings.library_limit)
    if not any(path.startswith("/") for path in source.tree):
        return found
    # A finding about what is absent has a path that the tree lacks.
    top = source.anchor if all(path.startswith("/") for path in source.tree) else ""
    renamed = [replace(p, path=shown.get(p.path, top + p.path)) for p in found]
    return sorted(renamed, key=_order)


def _order(problem: Problem) -> tuple[str, int, str]:
    return problem.path, problem.line, problem.rule


def settings_filter(source: Source, settings: Settings) -> Callable[[str, str], list[Ignore]]:
    """A function from (shown path, rule) to the ignores that leave that finding out."""
    top = f"{settings.folder.rstrip('/')}/"

    def ignores(shown: str, rule: str) -> list[Ignore]:
        named = [ignore for ignore in settings.ignores if ignore.rule == rule]
        place = source.locate(shown) if named else ""
        return [
            ignore
            for ignore in named
            if place.startswith(top) and ignore.fits(place.removeprefix(top))
        ]

    return ignores


def _with_folder_names(
    found: Sequence[Problem], source: Source, settings: Settings
) -> Sequence[Problem]:
    """Also compares the name of a skill that is checked from inside its own folder."""
    for path, data in source.skill_files():
        if basename(dirname(path)) not in ("", ".."):
            continue
        folder = basename(dirname(source.locate(path)))
        own = check_skill(path, data, profile=settings.profile, directory=folder)
        others = [p for p in found if (p.path, p.rule) != (path, "name-directory")]
        named = [p for p in own if p.rule == "name-directory"]
        found = sorted([*others, *named], key=_order)
    return found


def _without_links_that_lead_out(found: Sequence[Problem], source: Source) -> list[Problem]:
    """Less the missing files that are there after all, outside of what was asked to be checked."""
    linking = {problem.path for problem in found if problem.rule == "missing-link"}
    places = {path: _link_places(source.tree[path].data or b"") for path in linking}

    def is_there(problem: Problem) -> bool:
        if problem.rule != "missing-link":
            return False
        target = places[problem.path][problem.line, problem.column]
        return source.exists(join(dirname(problem.path), target))

    return [problem for problem in found if not is_there(problem)]


def _link_places(data: bytes) -> dict[tuple[int, int], str]:
    """The target of each link of a skill file by the line and column where it stands."""
    text = data.decode("utf-8").removeprefix("\ufeff")
    lines = Lines.of(text)
    links = file_links(text, read(text).body_start)
    return {lines.at(offset): target for offset, target in links}


def with_options(settings: Settings, profile: str | None, fail_on: str | None) -> Settings:
    """The settings with what the command line says instead."""
    return replace(
        settings,
        profile=settings.profile if profile is None else type(settings.profile)(profile),
        fail_on=settings.fail_on if fail_on is None else Severity(fail_on),
    )
