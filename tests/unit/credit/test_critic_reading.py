"""A critic's answer read leniently: put right where that is safe, else rejected with the reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.evolution import make_group, make_team

from skillevo.credit.citations import constraints_of
from skillevo.credit.read import KEPT_ITEM, Reading, read_answer
from skillevo.types import Citation, Contribution, Operator

TEAM = make_team(reader=["quote"], answerer=["units", "wording"])
RULES = constraints_of(TEAM, make_group("q1", [0.0, 1.0, 0.5]), ())


def credit(**other: Any) -> dict[str, Any]:
    return {"agent": "answerer", "skill": "units", "credit": 0.5, "verdict": "helpful", **other}


def diagnosis(**other: Any) -> dict[str, Any]:
    return {
        "agent": "answerer", "skill": None, "failure_type": "format", "edit_action": "induce",
        "cited_steps": [{"rollout": 0, "step": 1}], "contrast_steps": [], **other,
    }  # fmt: skip


def read(structured: bool = True, **value: Any) -> Reading:
    return read_answer(value, "q1", RULES, structured=structured)


def reasons(reading: Reading) -> list[str]:
    return [item.reason for item in reading.rejected]


def test_a_whole_answer_is_read() -> None:
    reading = read(
        credits=[credit(reason="why", suggested_edit=" shorter ", redundant_with=["wording"],
                        evidence=[{"rollout": 2, "step": 0}])],
        feedback=[{"agent": "reader", "feedback": "f", "missing_capability": "m"}],
        diagnoses=[diagnosis(contrast_steps=[{"rollout": 1, "step": 1}], explanation="e")],
    )  # fmt: skip
    (given,), (said,), (found,) = reading.credits, reading.feedback, reading.diagnoses
    assert (given.question, given.agent, given.skill, given.credit) == (
        "q1",
        "answerer",
        "units",
        0.5,
    )
    assert given.verdict is Contribution.HELPFUL
    assert (given.reason, given.suggested_edit, given.redundant_with) == (
        "why",
        "shorter",
        ("wording",),
    )
    assert given.evidence == (Citation(2, 0),)
    assert (said.question, said.agent, said.feedback, said.missing_capability) == (
        "q1",
        "reader",
        "f",
        "m",
    )
    assert (found.id, found.skill, found.edit_action) == ("d-q1-0", None, Operator.INDUCE)
    assert (found.cited_steps, found.contrast_steps) == ((Citation(0, 1),), (Citation(1, 1),))
    assert found.explanation == "e"
    assert (reading.rejected, reading.notes, reading.faults) == ([], {}, [])


@pytest.mark.parametrize(
    ("item", "credit_", "note"),
    [
        (credit(credit="0.25"), 0.25, "number written as text"),
        (credit(credit=" -1 "), -1.0, "number written as text"),
        (credit(credit=7), 1.0, "credit out of range"),
        (credit(credit=-1.0001), -1.0, "credit out of range"),
        (credit(credit="1e308"), 1.0, "credit out of range"),
        (credit(credit=float("inf")), 1.0, "credit out of range"),
        (credit(credit=10**400), 1.0, "credit out of range"),
        (credit(credit=-(10**400)), -1.0, "credit out of range"),
        (credit(agent=" Answerer ", skill="UNITS"), 0.5, "name in another case"),
    ],
)
def test_what_is_put_right_is_counted(item: dict[str, Any], credit_: float, note: str) -> None:
    reading = read(credits=[item])
    assert [(c.agent, c.skill, c.credit) for c in reading.credits] == [
        ("answerer", "units", credit_)
    ]
    assert reading.notes[note] >= 1
    assert reading.rejected == []


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (credit(credit="high"), "credit: 'high' is not of type 'number'"),
        (credit(credit="nan"), "credit: 'nan' is not of type 'number'"),
        (credit(credit="inf"), "credit: 'inf' is not of type 'number'"),
        (credit(credit=True), "credit: True is not of type 'number'"),
        (credit(credit=None), "credit: None is not of type 'number'"),
        (credit(credit=[0.5]), "credit: [0.5] is not of type 'number'"),
        (credit(verdict="great"), "verdict: 'great' is not one of"),
        (credit(verdict=None), "verdict: None is not one of"),
        (credit(agent="critic"), "there is no agent 'critic'"),
        (credit(agent=1), "agent: 1 is not of type 'string'"),
        (credit(agent={"x": 1}), "agent: {'x': 1} is not of type 'string'"),
        (credit(skill="gone"), "agent 'answerer' has no skill 'gone'"),
        (credit(skill="quote"), "agent 'answerer' has no skill 'quote'"),
        (credit(skill=None), "skill: None is not of type 'string'"),
        (credit(skill=["units"]), "skill: ['units'] is not of type 'string'"),
        (credit(reason=3), "reason: 3 is not of type 'string'"),
        (credit(reason="x" * 601), "reason: 'xxx"),
        (credit(evidence="step 1"), "evidence: 'step 1' is not of type 'array'"),
        (credit(evidence=["step 1"]), "evidence[0]: 'step 1' is not of type 'object'"),
        (credit(redundant_with="units"), "redundant_with: 'units' is not of type 'array'"),
        ({"agent": "answerer"}, "the value: 'credit' is a required property"),
        ("units", "is no object"),
        (None, "is no object"),
        ([credit()], "is no object"),
    ],
)
def test_a_credit_that_cannot_be_used_is_rejected_by_itself(item: Any, reason: str) -> None:
    reading = read(credits=[item, credit(skill="wording")])
    assert [c.skill for c in reading.credits] == ["wording"]
    (found,) = reasons(reading)
    assert found.startswith(reason)
    assert reading.faults[0] == f"credits: {found}"
    assert reading.rejected[0].question == "q1"


def test_of_duplicates_the_first_is_kept() -> None:
    reading = read(
        credits=[credit(), credit(credit=-1, verdict="harmful"), credit(skill="wording")]
    )
    assert [(c.skill, c.credit) for c in reading.credits] == [("units", 0.5), ("wording", 0.5)]
    assert (reading.notes["duplicate credit"], reading.rejected) == (1, [])


def test_redundancy_names_other_skills_of_the_same_agent_only() -> None:
    reading = read(credits=[credit(redundant_with=["wording", "quote", "units", "x", "wording"])])
    assert reading.credits[0].redundant_with == ("wording",)


def test_evidence_that_does_not_exist_is_left_out_of_a_credit() -> None:
    steps = [{"rollout": 9, "step": 0}, {"rollout": "0", "step": 1.0}, {"rollout": 0, "step": 2}]
    assert read(credits=[credit(evidence=steps)]).credits[0].evidence == (Citation(0, 1),)


@pytest.mark.parametrize("word", ["", "null", "none", "None"])
def test_a_word_for_null_is_null_in_a_diagnosis(word: str) -> None:
    reading = read(diagnoses=[diagnosis(skill=word)])
    assert reading.diagnoses[0].skill is None
    assert reading.notes["skill written as a word for null"] == 1


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (diagnosis(cited_steps=[{"rollout": -1, "step": 0}]), "cited_steps[0].rollout: -1 is less"),
        (
            diagnosis(cited_steps=[{"rollout": 0.5, "step": 0}]),
            "cited_steps[0].rollout: 0.5 is not",
        ),
        (diagnosis(cited_steps=[{"rollout": 0}]), "cited_steps[0]: 'step' is a required property"),
        (diagnosis(cited_steps=[{"rollout": 10**400, "step": 0}]), "cited step 0 of rollout 1000"),
        (
            diagnosis(cited_steps=[{"rollout": "9" * 400, "step": 0}]),
            "cited step 0 of rollout 9999",
        ),
        (
            diagnosis(cited_steps=[{"rollout": "9" * 9999, "step": 0}]),
            "cited_steps[0].rollout: '999",
        ),
        (diagnosis(cited_steps=None), "cited_steps: None is not of type 'array'"),
        (diagnosis(edit_action="rewrite"), "edit_action: 'rewrite' is not one of"),
        (diagnosis(failure_type=3), "failure_type: 3 is not of type 'string'"),
        (diagnosis(failure_type="mood"), "failure_type 'mood' is none of"),
        (diagnosis(cited_steps=[{"rollout": 1, "step": 1}]), "cited rollout 1 has full reward"),
    ],
)
def test_a_diagnosis_that_breaks_a_rule_is_rejected_by_itself(item: Any, reason: str) -> None:
    reading = read(diagnoses=[item, diagnosis()])
    assert len(reading.diagnoses) == 1
    (found,) = reasons(reading)
    assert found.startswith(reason)
    assert len(found) <= 300


def test_indices_written_as_text_are_read() -> None:
    reading = read(diagnoses=[diagnosis(cited_steps=[{"rollout": "2", "step": " 1 "}])])
    assert reading.diagnoses[0].cited_steps == (Citation(2, 1),)
    assert reading.notes["number written as text"] == 2


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"agent": "critic", "feedback": "f"}, "there is no agent 'critic'"),
        ({"agent": "reader", "feedback": ""}, "feedback: '' "),
        ({"agent": "reader"}, "the value: 'feedback' is a required property"),
        ({"agent": "reader", "feedback": "f", "missing_capability": 1}, "missing_capability: 1 is"),
    ],
)
def test_feedback_that_cannot_be_used_is_rejected(item: dict[str, Any], reason: str) -> None:
    reading = read(feedback=[item])
    assert reading.feedback == []
    assert reasons(reading)[0].startswith(reason)


def test_a_lone_item_counts_as_a_list_of_one() -> None:
    assert len(read(credits=credit()).credits) == 1


def test_diagnoses_are_not_read_unless_asked_for() -> None:
    reading = read(structured=False, diagnoses=[diagnosis()], credits=[credit()])
    assert (reading.diagnoses, len(reading.credits), reading.rejected) == ([], 1, [])


def test_a_rejected_item_is_kept_as_bounded_json() -> None:
    (small,) = read(credits=[{"agent": "é"}]).rejected
    assert json.loads(small.item) == {"agent": "é"}
    (large,) = read(credits=["x" * 9000]).rejected
    assert len(large.item) == KEPT_ITEM


def test_the_answer_itself_is_not_changed() -> None:
    value = {"credits": [credit(agent="ANSWERER", credit="9")]}
    before = json.dumps(value)
    read(**value)
    assert json.dumps(value) == before
