"""prune: what the rule condemns goes, and no model is asked."""

from __future__ import annotations

from typing import Any

from fakes.operating import make_context, make_tools, run

from skillevo.core.plan import PruneRule
from skillevo.operators.prune import build
from skillevo.types import Direction, Edit, EditDirection, Operator


def low(skill: str, mean: float, *questions: str) -> EditDirection:
    return EditDirection("answerer", skill, Direction.LOW_UTILITY, mean, mean, questions or ("q1",))


def pruned(*skills: str, rule: PruneRule | None = None, **context: Any) -> list[Edit]:
    tools = make_tools(**({"prune": rule} if rule else {}))
    edits = run(build(tools), make_context(*skills, **context))
    assert all(isinstance(edit, Edit) for edit in edits)
    return [edit for edit in edits if isinstance(edit, Edit)]


def test_a_removal_says_what_stands_behind_it() -> None:
    (edit,) = pruned("a", "b", directions=(low("a", -0.5, "q1", "q2"),))
    assert (edit.operator, edit.skill, edit.text, edit.removes) == (
        Operator.PRUNE,
        "a",
        None,
        ("a",),
    )
    assert edit.why == "2 of 2 questions: its credit is -0.50."
    assert (edit.support, edit.utility, edit.author) == (2, -0.5, "program")


def test_old_credit_condemns_without_questions() -> None:
    (edit,) = pruned("a", "b", utilities={"a": -0.4})
    assert edit.why == "Of old credit: its running utility is -0.40."
    assert edit.support == 0


def test_the_worst_go_first_and_the_last_stays() -> None:
    directions = (low("a", -0.5), low("b", -0.9))
    assert [e.skill for e in pruned("a", "b", directions=directions)] == ["b"]
    rule = PruneRule(-0.3, "mean", 1, keep_last=False)
    assert [e.skill for e in pruned("a", "b", directions=directions, rule=rule)] == ["b", "a"]


def test_questions_can_be_asked_for() -> None:
    rule = PruneRule(-0.3, "mean", 2, keep_last=True)
    assert pruned("a", "b", directions=(low("a", -0.9),), rule=rule) == []


def test_a_good_library_stays() -> None:
    assert pruned("a", "b") == []
