"""Checks of the task before anything is spent: splits that hold questions and do not overlap."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from skillevo.errors import DataError
from skillevo.ports import Environment
from skillevo.types import Split


def check_splits(environment: Environment) -> None:
    """Raise DataError when training or validation is empty, a question occurs twice, or two splits
    share one."""
    counts = {split: Counter(q.id for q in environment.questions(split)) for split in Split}
    ids = {split: set(count) for split, count in counts.items()}
    for split in (Split.TRAIN, Split.VALIDATION):
        if not ids[split]:
            raise DataError(
                f"the {split} split holds no question",
                why="evolve needs questions to learn from and others to test on",
                fix=f"set {split} in [task] of skillevo.toml",
            )
    for split, count in counts.items():
        id_, times = max(count.items(), key=lambda item: item[1], default=("", 0))
        if times > 1:
            raise DataError(
                f"the {split} split holds the question {id_!r} {times} times",
                why="results are kept by question id",
                fix="give every question its own id, in one place",
            )
    for first, second in combinations(Split, 2):
        shared = sorted(ids[first] & ids[second])
        if shared:
            more = f" and {len(shared) - 3} more" if len(shared) > 3 else ""
            raise DataError(
                f"the {first} and {second} splits share questions: {', '.join(shared[:3])}{more}",
                why="a score on questions that were learned from proves nothing",
                fix="remove them from one of the two files",
            )
