"""induce and consolidate: drafts made into valid skill files, or refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from fakes.evolution import Answer, Script, make_diagnosis, make_skill, payload_of
from fakes.operating import make_context, make_tools, only_edit, only_refusal, run

from skillevo.core.aggregate import induction_evidence, patterns
from skillevo.errors import BudgetReached, CallFailed
from skillevo.library.document import parse_skill
from skillevo.operators import consolidate, induce
from skillevo.types import (
    Direction,
    Edit,
    EditDirection,
    Feedback,
    InductionEvidence,
    Operator,
    Refusal,
    Resource,
    Skill,
)

DRAFT: dict[str, Any] = {
    "decision": "skill", "name": "Say Units!", "description": "Says\n the unit.",
    "steps": ["Find the  number.", "Say\nthe unit.", "Find the number."], "cautions": ["No guess."],
}  # fmt: skip
FOUND = patterns(
    [make_diagnosis("q1"), make_diagnosis("q1", n=1), make_diagnosis("q2")], {"q1": 0.5, "q2": 0.5}
)
EVIDENCE = induction_evidence(
    "answerer", FOUND, [Feedback("q1", "answerer", "said", "lacks")], structured=True
)


def induced(
    *answers: Answer,
    skills: tuple[Skill | str, ...] = (),
    evidence: InductionEvidence = EVIDENCE,
    **options: Any,
) -> tuple[list[Edit | Refusal], Script]:
    script = Script(*answers)
    context = make_context(*skills, evidence=evidence)
    return run(induce.build(make_tools(script, **options)), context), script


# --- induce ---------------------------------------------------------------------------------------


def test_a_draft_becomes_a_normalised_skill_file() -> None:
    edit = only_edit(induced(DRAFT)[0])
    assert edit.text == (
        '---\nname: say-units\ndescription: "Says the unit."\n---\n\n# Say units\n\n'
        "1. Find the number.\n2. Say the unit.\n\nAvoid:\n\n- No guess.\n"
    ).replace('"', "")
    assert (edit.operator, edit.skill, edit.removes) == (Operator.INDUCE, "say-units", ())
    assert (edit.support, edit.utility) == (2, None)
    assert edit.diagnoses == ("d-q1-0", "d-q1-1", "d-q2-0")
    assert edit.summary == "Says\n the unit."
    assert edit.why == "2 of 2 questions: format. format in q1"


def test_the_evidence_is_sent_with_its_support() -> None:
    _, script = induced(DRAFT, skills=("old",))
    payload = payload_of(script.requests[0])
    assert [skill["name"] for skill in payload["skills"]] == ["old"]
    (pattern,) = payload["patterns"]
    assert (pattern["failure_type"], pattern["questions"]) == ("format", 2)
    assert pattern["examples"] == ["format in q1", "format in q1", "format in q2"]
    assert payload["feedback"] == [{"feedback": "said", "missing_capability": "lacks"}]
    assert script.requests[0].max_tokens == 1200


def test_feedback_alone_is_evidence_without_structure() -> None:
    lacking = InductionEvidence("answerer", feedback=(Feedback("q1", "answerer", "f", "add up"),))
    edit = only_edit(induced(DRAFT, evidence=lacking)[0])
    assert (edit.support, edit.why) == (1, "1 of 2 questions: missing: add up")
    assert edit.diagnoses == ()


def test_without_evidence_nobody_is_asked() -> None:
    proposals, script = induced(AssertionError("asked"), evidence=InductionEvidence("answerer"))
    assert (proposals, script.requests) == ([], [])


def test_without_a_free_slot_nobody_is_asked() -> None:
    proposals, script = induced(AssertionError("asked"), skills=("a", "b"), library_limit=2)
    assert only_refusal(proposals).reason == "the library holds its limit of 2 skills"
    assert script.requests == []
    assert isinstance(induced(DRAFT, skills=("a",), library_limit=2)[0][0], Edit)


def test_the_optimizer_may_propose_nothing() -> None:
    assert (
        only_refusal(induced({"decision": "none"})[0]).reason == "the optimizer proposes no skill"
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": "日本"}, "no valid skill name can be made of '日本'"),
        ({"steps": [" ", "\n"]}, "the draft holds no instruction"),
        ({"description": " \n "}, "the draft has no description"),
        ({"steps": [f"{n} " + "word " * 95 for n in range(16)]}, "its body has 19"),
        ({"decision": "maybe"}, "the optimizer's answer broke the rules, twice: decision: 'maybe'"),
        ({"steps": []}, "the optimizer's answer broke the rules, twice: steps: [] "),
        (
            {"name": None},
            "the optimizer's answer broke the rules, twice: name: None is not of type",
        ),
    ],
)
def test_a_draft_that_cannot_be_a_skill_is_refused(change: dict[str, Any], reason: str) -> None:
    refused = only_refusal(induced({**DRAFT, **change}, max_tokens=4000)[0])
    assert refused.reason.startswith(reason)
    assert refused.operator is Operator.INDUCE


def test_a_draft_without_its_parts_is_sent_back_once() -> None:
    proposals, script = induced({"decision": "skill"}, DRAFT)
    assert only_edit(proposals).skill == "say-units"
    assert "'name' is a required property" in script.requests[1].messages[-1].content


def test_a_name_in_use_gets_a_number() -> None:
    assert only_edit(induced(DRAFT, skills=("say-units",))[0]).skill == "say-units-2"


@pytest.mark.parametrize("nasty", ["---", "../../etc/passwd", "a: b", "\u0000", "{{slot}} %s {0}"])
def test_hostile_text_makes_a_valid_skill_or_none(nasty: str) -> None:
    draft = {
        **DRAFT,
        "name": f"x {nasty}",
        "description": f"d {nasty}",
        "steps": [nasty],
        "cautions": [nasty],
    }
    skill = parse_skill(only_edit(induced(draft)[0]).text or "")
    assert skill.description == f"d {nasty}"
    assert set(skill.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


@pytest.mark.parametrize(
    ("answers", "reason"),
    [([CallFailed("busy")], "the optimizer could not be asked: busy"),
     (["no"], "the optimizer's answer held no JSON object, twice")],
)  # fmt: skip
def test_an_optimizer_without_an_answer_is_a_refusal(answers: list[Answer], reason: str) -> None:
    assert only_refusal(induced(*answers)[0]).reason == reason


def test_the_schema_sent_is_bounded_and_complete() -> None:
    schema = json.loads(induced(DRAFT, max_tokens=400)[1].requests[0].schema)
    assert schema["required"] == ["decision", "name", "description", "steps", "cautions"]
    assert schema["properties"]["steps"]["maxItems"] == 10
    assert schema["properties"]["steps"]["items"]["maxLength"] == 100


# --- consolidate ----------------------------------------------------------------------------------


def redundant(skill: str, *others: str, questions: tuple[str, ...] = ("q1",)) -> EditDirection:
    return EditDirection(
        "answerer", skill, Direction.REDUNDANT, 0.1, 0.1, questions, redundant_with=others
    )


def merged(
    *answers: Answer,
    skills: tuple[Skill | str, ...] = ("a", "b", "c"),
    directions: tuple[EditDirection, ...] = (redundant("a", "b"),),
) -> tuple[list[Edit | Refusal], Script]:
    script = Script(*answers)
    context = make_context(*skills, directions=directions, utilities={"a": 0.5, "b": -0.1})
    return run(consolidate.build(make_tools(script)), context), script


def test_redundant_skills_become_one_with_the_mean_of_their_utilities() -> None:
    given = (redundant("a", "b", questions=("q1", "q2")), redundant("b", questions=("q2",)))
    proposals, script = merged(DRAFT, directions=given)
    edit = only_edit(proposals)
    assert (edit.operator, edit.skill) == (Operator.CONSOLIDATE, "say-units")
    assert (edit.removes, edit.sources) == (("a", "b"), ("a", "b"))
    assert edit.utility == pytest.approx(0.2)  # (0.5 − 0.1) / 2
    assert (edit.support, edit.summary) == (2, "merge a and b")
    payload = payload_of(script.requests[0])
    assert [(s["name"], s["utility"]) for s in payload["skills"]] == [("a", 0.5), ("b", -0.1)]


def test_nothing_is_cut_from_the_inputs() -> None:
    long = make_skill("a", "word " * 2000)
    _, script = merged(DRAFT, skills=(long, "b"))
    assert payload_of(script.requests[0])["skills"][0]["body"] == long.body


def test_each_component_is_one_merge() -> None:
    given = (redundant("a", "b"), redundant("c", "d"))
    proposals, script = merged(DRAFT, skills=("a", "b", "c", "d"), directions=given)
    assert [e.sources for e in proposals if isinstance(e, Edit)] == [("a", "b"), ("c", "d")]
    assert len(script.requests) == 2


def test_a_merge_may_keep_the_name_of_a_part() -> None:
    edit = only_edit(merged({**DRAFT, "name": "b"})[0])
    assert (edit.skill, edit.removes, edit.sources) == ("b", ("a",), ("a", "b"))
    assert only_edit(merged({**DRAFT, "name": "c"})[0]).skill == "c-2"


def test_skills_with_files_are_not_merged() -> None:
    filed = replace(make_skill("a"), resources=(Resource("run.sh", "100755", "0" * 40),))
    proposals, script = merged(AssertionError("asked"), skills=(filed, "b"))
    refused = only_refusal(proposals)
    assert (refused.skill, refused.reason) == ("a + b", "a has files beside its SKILL.md")
    assert script.requests == []


def test_the_optimizer_may_keep_them_apart() -> None:
    assert only_refusal(merged({"decision": "none"})[0]).reason == "the optimizer keeps them apart"


def test_a_merge_that_cannot_be_a_skill_is_refused() -> None:
    assert only_refusal(merged({**DRAFT, "name": "日本"})[0]).reason.startswith(
        "no valid skill name"
    )
    assert only_refusal(merged("no")[0]).reason.endswith("no JSON object, twice")


def test_without_redundancy_nobody_is_asked() -> None:
    proposals, script = merged(AssertionError("asked"), directions=(redundant("a", "gone"),))
    assert (proposals, script.requests) == ([], [])


def test_a_cap_that_is_met_passes_through() -> None:
    with pytest.raises(BudgetReached):
        merged(BudgetReached("calls"))
    with pytest.raises(BudgetReached):
        induced(BudgetReached("calls"))
