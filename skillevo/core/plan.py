"""Which operator runs this iteration, and on which skills of an agent's library."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from skillevo.core.acceptance import SLACK
from skillevo.types import Direction, EditDirection, Library

BUILT_IN_ORDER = ("refine", "consolidate", "prune", "induce", "examples")


@dataclass(frozen=True, slots=True)
class PruneRule:
    """When a skill may go. ``threshold`` in [-1, 0]; ``on`` is mean or aggregator."""

    threshold: float
    on: str
    min_questions: int
    keep_last: bool


@dataclass(frozen=True, slots=True)
class PruneTarget:
    """A skill to prune with the number that condemned it and the questions behind it."""

    skill: str
    utility: float
    questions: tuple[str, ...]
    why: str


def due_operators(iteration: int, schedule: Mapping[str, int]) -> tuple[str, ...]:
    """The operators due in this iteration (from 1), in the order in which they run.

    ``schedule[name] = k`` means every k-th iteration, 0 never. The built-in order comes first,
    other operators follow by name.
    """
    known = [name for name in BUILT_IN_ORDER if name in schedule]
    others = sorted(name for name in schedule if name not in BUILT_IN_ORDER)
    return tuple(
        name for name in (*known, *others) if schedule[name] and iteration % schedule[name] == 0
    )


def refine_targets(
    library: Library, directions: Sequence[EditDirection]
) -> tuple[EditDirection, ...]:
    """The directions that ask for a refinement of a skill that is still there."""
    return tuple(d for d in directions if d.verdict is Direction.REFINE and library.get(d.skill))


def redundancy_components(
    library: Library, directions: Sequence[EditDirection]
) -> tuple[tuple[str, ...], ...]:
    """Connected components of ``redundant_with`` among present skills, of two or more, sorted."""
    parent = {name: name for name in library.names}

    def root(name: str) -> str:
        while parent[name] != name:
            name = parent[name]
        return name

    for direction in directions:
        for other in direction.redundant_with:
            if direction.skill in parent and other in parent:
                first, second = sorted((root(direction.skill), root(other)))
                parent[second] = first
    components: dict[str, list[str]] = {}
    for name in library.names:
        components.setdefault(root(name), []).append(name)
    return tuple(tuple(names) for names in components.values() if len(names) > 1)


def prune_targets(
    library: Library,
    directions: Sequence[EditDirection],
    utilities: Mapping[str, float],
    rule: PruneRule,
    present: Collection[str],
) -> tuple[PruneTarget, ...]:
    """The skills to prune, worst first (method.md 2.5).

    ``utilities`` is the running utility per skill, ``present`` the skills that stood in the library
    when the rollouts were made: a skill made in this iteration is not judged by credit that belongs
    to the past. A skill with credit goes on a low-utility verdict or a number at or
    below the threshold; one without credit on its running utility alone.
    """
    by_skill = {direction.skill: direction for direction in directions}
    found = []
    for name in library.names:
        if name not in present:
            continue
        target = _condemn(name, by_skill.get(name), utilities.get(name), rule)
        if target is not None:
            found.append(target)
    found.sort(key=lambda target: (target.utility, target.skill))
    most = len(library.skills) - 1 if rule.keep_last else len(library.skills)
    return tuple(found[:most])


def _condemn(
    name: str, direction: EditDirection | None, running: float | None, rule: PruneRule
) -> PruneTarget | None:
    if direction is None:
        if running is None or running > rule.threshold + SLACK or rule.min_questions > 1:
            return None
        return PruneTarget(name, running, (), f"its running utility is {running:+.2f}")
    if len(direction.questions) < rule.min_questions:
        return None
    score = direction.mean_credit if rule.on == "mean" else direction.utility_score
    # Floats put the mean of some credits just above a threshold that it meets exactly.
    if score <= rule.threshold + SLACK:
        why = f"its credit is {score:+.2f}"
    elif direction.verdict is Direction.LOW_UTILITY:
        why = "the evidence calls it of low utility"
    else:
        return None
    return PruneTarget(name, score, direction.questions, why)
