"""What the gate's decisions do to the state that a method carries to the next iteration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from skillevo.types import Decision, Edit, MethodState, Operator


def settle(state: MethodState, decided: Iterable[tuple[Edit, Decision]]) -> MethodState:
    """The state after the gate.

    An accepted removal drops the skill's running utility; an accepted consolidation starts from the
    mean of its parts (method.md 2.5). A rejected edit's digest is remembered. Anything else leaves
    the state as it is.
    """
    utilities = dict(state.utilities)
    refused = set(state.refused)
    for edit, decision in decided:
        if decision is Decision.REJECT:
            refused.add(edit.digest)
        if decision is not Decision.ACCEPT:
            continue
        for name in edit.removes:
            utilities.pop((edit.agent, name), None)
        if edit.operator is Operator.CONSOLIDATE and edit.utility is not None:
            utilities[edit.agent, edit.skill] = edit.utility
    return replace(state, utilities=utilities, refused=frozenset(refused))
