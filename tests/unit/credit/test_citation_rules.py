"""One test per rule that ties a diagnosis to its group."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.evolution import make_group, make_team

from skillevo.credit.citations import (
    FAILURE_TYPES,
    Constraints,
    constraints_of,
    diagnosis_fault,
    target_fault,
)
from skillevo.types import Citation, Operator

TEAM = make_team(reader=[], answerer=["units", "wording"])
# Rollout 0 fails, 1 has full reward, 2 is in between; the reader makes step 0, the answerer 1.
MIXED = constraints_of(TEAM, make_group("q", [0.0, 1.0, 0.5]), ())
NO_FULL = constraints_of(TEAM, make_group("q", [0.0, 0.8, 0.5, 0.8]), ())
ALL_FULL = constraints_of(TEAM, make_group("q", [1.0, 1.0]), ())


def fault(
    rules: Constraints = MIXED,
    *,
    agent: str = "answerer",
    skill: str | None = None,
    failure: str = "format",
    action: Operator = Operator.INDUCE,
    cited: tuple[tuple[int, int], ...] = ((0, 1),),
    contrast: tuple[tuple[int, int], ...] = (),
) -> str | None:
    return diagnosis_fault(
        rules, agent, skill, failure, action,
        [Citation(*c) for c in cited], [Citation(*c) for c in contrast],
    )  # fmt: skip


def test_the_constraints_of_a_group() -> None:
    assert MIXED.skills == {"reader": (), "answerer": ("units", "wording")}
    assert MIXED.full == {1}
    assert MIXED.others == (0, 2)
    assert MIXED.step_agents == (("reader", "answerer"),) * 3
    assert MIXED.steps_of("answerer", [0, 1]) == (1,)
    assert MIXED.steps_of("nobody", [0, 1]) == ()


@pytest.mark.parametrize(("reward", "full"), [(1.0, True), (1 - 1e-10, True), (1 - 1e-8, False)])
def test_full_reward_has_a_slack(reward: float, full: bool) -> None:
    assert (0 in constraints_of(TEAM, make_group("q", [reward, 0]), ()).full) is full


@pytest.mark.parametrize(
    "valid",
    [
        {},
        {"cited": ((0, 1), (2, 1)), "contrast": ((1, 1),)},
        {"contrast": ((1, 0),)},
        {"agent": "reader", "cited": ((0, 0),)},
        {"skill": "units", "action": Operator.REFINE},
        {"skill": "units", "action": Operator.PRUNE},
        {"skill": "wording", "action": Operator.CONSOLIDATE},
        {"skill": "units", "action": Operator.INDUCE},
    ],
)
def test_what_keeps_every_rule_has_no_fault(valid: dict[str, Any]) -> None:
    assert fault(**valid) is None


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"agent": "critic"}, "there is no agent 'critic'; agents are reader, answerer"),
        ({"skill": "nope", "action": Operator.REFINE},
         "agent 'answerer' has no skill 'nope'; its skills are: units, wording"),
        ({"agent": "reader", "skill": "units", "action": Operator.REFINE, "cited": ((0, 0),)},
         "agent 'reader' has no skill 'units'; its skills are: none"),
        ({"failure": "mood"}, "failure_type 'mood' is none of retrieval, "),
        ({"action": Operator.REFINE}, "edit_action refine needs the skill it is about"),
        ({"action": Operator.PRUNE}, "edit_action prune needs the skill it is about"),
        ({"action": Operator.CONSOLIDATE}, "edit_action consolidate needs the skill"),
        ({"cited": ()}, "cited_steps is empty"),
        ({"cited": ((3, 0),)}, "cited step 0 of rollout 3 does not exist"),
        ({"cited": ((0, 2),)}, "cited step 2 of rollout 0 does not exist"),
        ({"cited": ((1, 1),)}, "cited rollout 1 has full reward"),
        ({"cited": ((0, 1), (0, 0))}, "cited step 0 of rollout 0 was not made by answerer"),
        ({"contrast": ((9, 0),)}, "contrast step 0 of rollout 9 does not exist"),
        ({"contrast": ((1, 7),)}, "contrast step 7 of rollout 1 does not exist"),
        ({"contrast": ((2, 1),)}, "contrast rollout 2 does not have full reward"),
    ],
)  # fmt: skip
def test_each_broken_rule_is_named(broken: dict[str, Any], reason: str) -> None:
    found = fault(**broken)
    assert found is not None
    assert found.startswith(reason)


def test_a_group_of_full_rewards_has_nothing_to_diagnose() -> None:
    found = fault(ALL_FULL)
    assert found == "every rollout has full reward, so there is nothing to diagnose"


@pytest.mark.parametrize(
    ("cited", "contrast", "valid"),
    [
        (((0, 1),), (), True),
        (((0, 1),), ((1, 1),), True),
        (((0, 1),), ((2, 1), (3, 1)), True),
        (((2, 1),), ((0, 1),), False),
        (((0, 1), (2, 1)), ((2, 1),), False),
        (((1, 1),), ((3, 1),), False),  # equal advantages: not strictly higher
        (((1, 1),), (), True),
    ],
)
def test_without_full_reward_a_contrast_is_strictly_better_than_every_cited_rollout(
    cited: tuple[tuple[int, int], ...], contrast: tuple[tuple[int, int], ...], valid: bool
) -> None:
    found = fault(NO_FULL, cited=cited, contrast=contrast)
    assert (found is None) is valid
    if found:
        assert "is no better than the cited ones" in found


def test_the_vocabulary_can_be_extended() -> None:
    rules = constraints_of(TEAM, make_group("q", [0.0]), ("mood",))
    assert rules.failure_types == (*FAILURE_TYPES, "mood")
    assert fault(rules, failure="mood") is None


def test_a_target_is_an_agent_or_one_of_its_skills() -> None:
    assert target_fault(MIXED, "reader", None) is None
    assert target_fault(MIXED, "answerer", "units") is None
