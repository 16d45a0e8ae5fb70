"""GRSE: groups in any order become edits of an evolving library."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from fakes.critique import make_grse, titled
from fakes.evolution import make_group, make_skill, make_team
from fakes.operating import exact_answer
from hypothesis import given, settings
from hypothesis import strategies as st

from skillevo.errors import BudgetReached, CallFailed
from skillevo.library.document import parse_skill, set_field
from skillevo.library.rule import Profile
from skillevo.library.standard import Standard
from skillevo.operators.base import OperatorContext
from skillevo.types import (
    ChatRequest,
    Edit,
    Group,
    MethodState,
    Operator,
    StepResult,
    Team,
)

ALL = {"refine": 1, "consolidate": 1, "prune": 1, "induce": 1}
UNITS = make_skill("units", "1. Find the number.\n2. Say the unit.")
TEAM = make_team(reader=[], answerer=[UNITS, "harm", "twin-a", "twin-b"])
GROUPS = [make_group(f"q{n}", [0.0, 1.0, n / 10]) for n in range(5)]


def critic(payload: dict[str, Any], request: ChatRequest) -> dict[str, Any]:
    """Credits and a diagnosis that depend on the question alone."""
    n = int(payload["task"]["question"].removesuffix("?")[-1])
    skills = {skill["name"] for skill in payload["libraries"]["answerer"]}
    said = {
        "units": (0.1 * n, "helpful", {"suggested_edit": f"edit {n}"}),
        "harm": (-0.5, "harmful", {}),
        "twin-a": (0.2, "redundant", {"redundant_with": ["twin-b"]}),
    }
    credits_ = [
        {"agent": "answerer", "skill": name, "credit": value, "verdict": verdict, **more}
        for name, (value, verdict, more) in said.items()
        if name in skills
    ]
    diagnosis = {
        "agent": "answerer", "skill": None, "failure_type": ["format", "reasoning"][n % 2],
        "edit_action": "induce", "explanation": f"in q{n}", "contrast_steps": [],
        "cited_steps": [{"rollout": 0, "step": 1}],
    }  # fmt: skip
    feedback = {"agent": "reader", "feedback": "f", "missing_capability": "quote"}
    return {"credits": credits_, "feedback": [feedback], "diagnoses": [diagnosis]}


def merge(payload: dict[str, Any], request: ChatRequest) -> dict[str, Any]:
    verdict = {"units": "refine", "harm": "low_utility"}.get(payload["skill"]["name"], "redundant")
    edits = ", ".join(entry["suggested_edit"] for entry in payload["credits"])
    return {"verdict": verdict, "utility_score": 0.0, "summary": edits, "suggested_edit": edits}


def refine(payload: dict[str, Any], request: ChatRequest) -> dict[str, Any]:
    return {"edits": [{"op": "replace", "anchor": "Find", "new": "Seek"}]}


def draft(payload: dict[str, Any], request: ChatRequest) -> dict[str, Any]:
    name = "merged" if "patterns" not in payload else "new"
    names = "+".join(skill["name"] for skill in payload["skills"])
    return {"decision": "skill", "name": name, "description": f"From {names}.", "steps": ["Do."]}


BEHAVIOUR = titled(critic=critic, aggregate=merge, refine=refine, draft=draft)


def step(
    groups: Sequence[Group] = GROUPS,
    *,
    team: Team = TEAM,
    state: MethodState | None = None,
    iteration: int = 1,
    schedule: dict[str, int] | None = None,
    behaviour: Callable[[ChatRequest], str] = BEHAVIOUR,
    pauses: Sequence[int] = (),
    **options: Any,
) -> StepResult:
    method = make_grse(behaviour, ALL if schedule is None else schedule, **options)

    async def arriving() -> AsyncIterator[Group]:
        for index, group in enumerate(groups):
            for _ in range(pauses[index] if index < len(pauses) else 0):
                await asyncio.sleep(0)
            yield group

    return asyncio.run(method.step(state or MethodState(), iteration, team, arriving()))


def done(result: StepResult) -> list[tuple[str, str]]:
    return [(edit.operator.value, edit.skill) for edit in result.edits]


# --- order ----------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.permutations(GROUPS), st.lists(st.integers(0, 5), max_size=5))
def test_the_result_does_not_depend_on_the_order_of_arrival(
    groups: list[Group], pauses: list[int]
) -> None:
    assert step(groups, pauses=pauses) == EXPECTED


def test_operators_run_in_their_order_on_the_evolving_library() -> None:
    assert done(EXPECTED) == [
        ("refine", "units"), ("consolidate", "merged"), ("prune", "harm"), ("induce", "new"),
    ]  # fmt: skip
    induced = parse_skill(EXPECTED.edits[-1].text or "")
    assert induced.description == "From merged+units."


def test_assessments_directions_and_evidence_come_by_question_and_name() -> None:
    assert [a.question for a in EXPECTED.assessments] == [f"q{n}" for n in range(5)]
    assert [d.skill for d in EXPECTED.directions] == ["harm", "twin-a", "units"]
    assert [e.agent for e in EXPECTED.evidence] == ["reader", "answerer"]
    # q0, q2 and q4 show format, q1 and q3 reasoning.
    patterns = EXPECTED.evidence[1].patterns
    assert [(p.failure_type, p.support) for p in patterns] == [("format", 3), ("reasoning", 2)]


def test_running_utilities_are_updated_even_when_nothing_is_accepted() -> None:
    # harm: 0.6·0.5 + 0.4·(−0.5) = 0.1;  units: 0.4·mean(0, .1, .2, .3, .4) = 0.4·0.2 = 0.08.
    state = MethodState({("answerer", "harm"): 0.5, ("answerer", "other"): 0.7}, frozenset({"x"}))
    after = step(state=state).state
    assert after.utilities[("answerer", "harm")] == pytest.approx(0.1)
    assert after.utilities[("answerer", "units")] == pytest.approx(0.08)
    assert after.utilities[("answerer", "other")] == 0.7
    assert after.refused == {"x"}


def test_a_free_slot_made_by_a_removal_can_be_filled() -> None:
    assert ("induce", "new") in done(EXPECTED)
    full = step(schedule={"induce": 1})
    assert (full.edits, full.refusals[-1].operator) == ((), Operator.INDUCE)
    assert "holds its limit of 4 skills" in full.refusals[-1].reason


def test_only_due_operators_run() -> None:
    schedule = {"refine": 1, "prune": 2, "induce": 0}
    assert done(step(schedule=schedule)) == [("refine", "units")]
    assert done(step(schedule=schedule, iteration=2)) == [("refine", "units"), ("prune", "harm")]


# --- refusals -------------------------------------------------------------------------------------


def test_an_edit_that_the_gate_rejected_is_not_proposed_again() -> None:
    pruned = next(edit for edit in EXPECTED.edits if edit.operator is Operator.PRUNE)
    again = step(state=MethodState({}, frozenset({pruned.digest})))
    assert ("prune", "harm") not in done(again)
    refused = next(r for r in again.refusals if r.operator is Operator.PRUNE)
    assert refused.reason == "the gate rejected the same edit earlier in this run"
    # The merge leaves harm, merged and units: there is a slot still.
    assert ("induce", "new") in done(again)


def test_a_merge_under_the_name_of_a_part_is_not_judged_by_the_parts_credit() -> None:
    def poor(payload: dict[str, Any], request: ChatRequest) -> dict[str, Any]:
        twin = {"agent": "answerer", "skill": "twin-a", "credit": -1, "verdict": "redundant",
                "redundant_with": ["twin-b"]}  # fmt: skip
        return {"credits": [twin], "feedback": [], "diagnoses": []}

    def same(payload: dict[str, Any], request: ChatRequest) -> dict[str, Any]:
        return {"decision": "skill", "name": "twin-a", "description": "d", "steps": ["Do."]}

    behaviour = titled(critic=poor, aggregate=merge, refine=refine, draft=same)
    assert done(step(behaviour=behaviour)) == [("consolidate", "twin-a")]


def test_an_edit_against_the_rules_of_the_library_is_a_refusal_and_the_rest_goes_on() -> None:
    class Broken:
        async def propose(self, context: OperatorContext) -> list[Edit]:
            if context.agent.name != "answerer":
                return []
            bad = Edit(Operator.REFINE, "answerer", "units", "no front matter", (), "s", "w", 1)
            gone = Edit(Operator.PRUNE, "answerer", "gone", None, ("gone",), "s", "w", 1)
            same = Edit(Operator.REFINE, "answerer", "units", UNITS.text, (), "s", "w", 1)
            return [bad, gone, same]

    method = make_grse(BEHAVIOUR, {"broken": 1, "induce": 1})
    method = replace(method, operators={**method.operators, "broken": Broken()})

    async def one() -> AsyncIterator[Group]:
        yield GROUPS[0]

    small = make_team(reader=[], answerer=[UNITS])
    result = asyncio.run(method.step(MethodState(), 1, small, one()))
    assert done(result) == [("induce", "new")]
    reasons = [r.reason for r in result.refusals]
    assert len(reasons) == 3
    assert "skills/answerer/units/SKILL.md" in reasons[0]
    assert "there is no such skill to remove" in reasons[1]
    assert reasons[2] == "it changes nothing"


def test_no_operator_can_fill_a_library_beyond_its_limit() -> None:
    class Eager:
        async def propose(self, context: OperatorContext) -> list[Edit]:
            if context.agent.name != "answerer":
                return []
            texts = {f"s{n}": make_skill(f"s{n}").text for n in range(6)}
            return [
                Edit(Operator.INDUCE, "answerer", name, text, (), "s", "w", 1)
                for name, text in texts.items()
            ]

    method = make_grse(BEHAVIOUR, {"eager": 1}, library_limit=4)
    method = replace(method, operators={**method.operators, "eager": Eager()})

    async def one() -> AsyncIterator[Group]:
        yield GROUPS[0]

    small = make_team(reader=[], answerer=[UNITS])
    result = asyncio.run(method.step(MethodState(), 1, small, one()))
    assert [edit.skill for edit in result.edits] == ["s0", "s1", "s2"]
    assert {r.reason for r in result.refusals} == {"the library holds its limit of 4 skills"}


# --- faults and ablations -------------------------------------------------------------------------


def test_without_a_critic_there_are_no_edits_and_the_utilities_stay() -> None:
    def gone(payload: dict[str, Any], request: ChatRequest) -> str:
        raise CallFailed("busy")

    state = MethodState({("answerer", "units"): 0.3})
    result = step(behaviour=titled(critic=gone), state=state)
    assert (result.edits, result.state) == ((), state)
    assert {a.outcome for a in result.assessments} == {"unavailable"}


def test_no_groups_give_no_edits() -> None:
    result = step([])
    assert (result.edits, result.assessments, result.state) == ((), (), MethodState())


def test_without_structure_the_missing_capability_is_the_evidence() -> None:
    result = step(structured=False, schedule={"induce": 1}, team=make_team(reader=[], answerer=[]))
    assert done(result) == [("induce", "new")]
    assert result.edits[0].agent == "reader"
    assert result.edits[0].support == 5


def test_a_cap_that_is_met_comes_out_of_the_step() -> None:
    def capped(payload: dict[str, Any], request: ChatRequest) -> str:
        raise BudgetReached("calls")

    for replies in ({"critic": capped}, {"critic": critic, "aggregate": capped},
                    {"critic": critic, "aggregate": merge, "refine": capped}):  # fmt: skip
        with pytest.raises(ExceptionGroup) as caught:
            step(behaviour=titled(**replies))
        assert caught.group_contains(BudgetReached)


def test_worked_examples_need_no_model_beside_the_critic() -> None:
    groups = [make_group("q1", [1.0], [[("reader", "n"), ("answerer", "x")]])]
    result = step(groups, schedule={"examples": 1}, team=make_team(reader=[], answerer=[]),
                  reward=exact_answer)  # fmt: skip
    assert ("induce", "worked-examples") in done(result)


def test_the_method_has_its_name() -> None:
    assert make_grse(BEHAVIOUR, ALL).name == "grse"


EXPECTED = step()


def test_an_edit_is_checked_against_the_standard_of_the_project() -> None:
    text = set_field(UNITS.text, "model", "small")

    class OwnField:
        async def propose(self, context: OperatorContext) -> list[Edit]:
            edit = Edit(Operator.REFINE, "answerer", "units", text, (), "s", "w", 1)
            return [edit] if context.agent.name == "answerer" else []

    async def one() -> AsyncIterator[Group]:
        yield GROUPS[0]

    spec = replace(make_grse(BEHAVIOUR, {"own": 1}), operators={"own": OwnField()})
    client = replace(spec, standard=Standard(Profile.CLAUDE_CODE))
    small = make_team(reader=[], answerer=[UNITS])
    results = [asyncio.run(m.step(MethodState(), 1, small, one())) for m in (spec, client)]
    assert [len(result.edits) for result in results] == [0, 1]
    assert "client-field" in results[0].refusals[0].reason
