"""What the gate's decisions leave in the state."""

from __future__ import annotations

import pytest

from skillevo.core.settle import settle
from skillevo.types import Decision, Edit, MethodState, Operator

STATE = MethodState({("x", "a"): 0.5, ("x", "b"): -0.1, ("y", "a"): 0.9}, frozenset({"old"}))


def edit(
    operator: Operator, skill: str, *, removes: tuple[str, ...] = (), utility: float | None = None
) -> Edit:
    text = None if operator is Operator.PRUNE else f"text of {skill}"
    return Edit(operator, "x", skill, text, removes, "s", "w", 1, utility)


def test_an_accepted_removal_forgets_the_skill_of_that_agent() -> None:
    state = settle(STATE, [(edit(Operator.PRUNE, "a", removes=("a",)), Decision.ACCEPT)])
    assert state.utilities == {("x", "b"): -0.1, ("y", "a"): 0.9}
    assert state.refused == {"old"}


def test_an_accepted_consolidation_starts_from_the_mean_of_its_parts() -> None:
    # (0.5 − 0.1) / 2 = 0.2
    merged = edit(Operator.CONSOLIDATE, "ab", removes=("a", "b"), utility=0.2)
    state = settle(STATE, [(merged, Decision.ACCEPT)])
    assert state.utilities == {("x", "ab"): 0.2, ("y", "a"): 0.9}


def test_a_consolidation_under_the_name_of_a_part_keeps_the_merged_utility() -> None:
    merged = edit(Operator.CONSOLIDATE, "a", removes=("b",), utility=0.2)
    state = settle(STATE, [(merged, Decision.ACCEPT)])
    assert state.utilities == {("x", "a"): 0.2, ("y", "a"): 0.9}


def test_refine_and_induce_leave_utilities_alone() -> None:
    given = [(edit(Operator.REFINE, "a", utility=-0.9), Decision.ACCEPT),
             (edit(Operator.INDUCE, "new"), Decision.ACCEPT)]  # fmt: skip
    assert settle(STATE, given) == STATE


def test_a_rejected_edit_is_remembered_and_changes_no_utility() -> None:
    pruned = edit(Operator.PRUNE, "a", removes=("a",))
    state = settle(STATE, [(pruned, Decision.REJECT)])
    assert state.utilities == STATE.utilities
    assert state.refused == {"old", pruned.digest}


@pytest.mark.parametrize("decision", [Decision.INDECISIVE, Decision.STALE, Decision.UNCHANGED])
def test_what_was_not_decided_leaves_no_trace(decision: Decision) -> None:
    assert settle(STATE, [(edit(Operator.PRUNE, "a", removes=("a",)), decision)]) == STATE


def test_the_state_given_is_not_changed() -> None:
    before = dict(STATE.utilities)
    settle(STATE, [(edit(Operator.PRUNE, "a", removes=("a",)), Decision.ACCEPT)])
    assert STATE.utilities == before


def test_a_digest_knows_an_edit_by_what_it_does() -> None:
    one = edit(Operator.CONSOLIDATE, "ab", removes=("a", "b"), utility=0.1)
    same = edit(Operator.CONSOLIDATE, "ab", removes=("b", "a"), utility=0.9)
    other = edit(Operator.CONSOLIDATE, "ab", removes=("a",), utility=0.1)
    assert one.digest == same.digest != other.digest
