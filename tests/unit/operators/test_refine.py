"""refine: anchored edits of one skill, each by itself; nothing else of the file changes."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.evolution import Answer, Script, make_skill, payload_of
from fakes.operating import make_context, make_tools, only_edit, only_refusal, run

from skillevo.errors import BudgetReached, CallFailed
from skillevo.library.document import parse_skill
from skillevo.operators.base import instructions, prompt_digest
from skillevo.operators.refine import build
from skillevo.types import Direction, Edit, EditDirection, Operator, Refusal, Skill

BODY = "# Units\n\n1. Find the number.\n2. Say the unit.\n\nSay the unit twice: no."
SKILL = make_skill("units", BODY)
WANTED = EditDirection(
    "answerer", "units", Direction.REFINE, 0.25, 0.4, ("q1", "q2"), "The unit is missing.", "say it"
)


def refine(
    *answers: Answer, skill: Skill = SKILL, direction: EditDirection = WANTED
) -> tuple[list[Edit | Refusal], Script]:
    script = Script(*answers)
    context = make_context(skill, directions=(direction,))
    return run(build(make_tools(script)), context), script


def edits(*items: dict[str, Any], **other: Any) -> dict[str, Any]:
    return {"edits": list(items), **other}


def replace(anchor: str, new: str, **other: str) -> dict[str, Any]:
    return {"op": "replace", "anchor": anchor, "new": new, **other}


def test_edits_of_the_body_apply_and_the_front_matter_stays() -> None:
    answer = edits(
        replace("Find the number.", "the first number", old="the number"),
        {"op": "insert_after", "anchor": "2. Say the unit.\n", "new": "3. Stop.\n"},
        summary=" find the first number ",
    )
    proposals, _ = refine(answer)
    edit = only_edit(proposals)
    after = parse_skill(edit.text or "")
    assert after.body == (
        "# Units\n\n1. Find the first number.\n2. Say the unit.\n3. Stop.\n\n"
        "Say the unit twice: no."
    )
    assert (edit.text or "").split("---")[1] == SKILL.text.split("---")[1]
    assert (edit.operator, edit.skill, edit.removes) == (Operator.REFINE, "units", ())
    assert edit.summary == "find the first number"
    assert edit.why == "2 of 2 questions: The unit is missing."
    assert (edit.support, edit.utility, edit.author) == (2, 0.25, "scripted")
    assert edit.notes == ("edit 1: applied", "edit 2: applied")
    assert edit.prompt == prompt_digest(make_tools(), "refine")


def test_an_ambiguous_or_missing_anchor_is_left_out_and_the_rest_applies() -> None:
    proposals, _ = refine(edits(replace("Say the unit", "x"), replace("absent", "y"),
                                replace("Find", "Seek")))  # fmt: skip
    edit = only_edit(proposals)
    assert parse_skill(edit.text or "").body == BODY.replace("Find", "Seek")
    assert edit.notes == ("edit 1: anchor ambiguous", "edit 2: anchor missing", "edit 3: applied")
    assert edit.summary == "follow the evidence"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (edits(), "it changes nothing"),
        (edits(replace("Find", "Find")), "it changes nothing"),
        (edits(description=SKILL.description), "it changes nothing"),
        (edits(replace("Say the unit", "x")), "no edit applied (anchor ambiguous)"),
        (
            edits(replace("absent", "x"), replace("Say the unit", "x")),
            "no edit applied (anchor missing, anchor ambiguous)",
        ),
        (edits(replace(BODY, "  ")), "it would empty the skill"),
    ],
)
def test_an_edit_that_cannot_be_made_is_refused_with_the_reason(
    answer: dict[str, Any], reason: str
) -> None:
    refused = only_refusal(refine(answer)[0])
    assert (refused.operator, refused.agent, refused.skill) == (
        Operator.REFINE,
        "answerer",
        "units",
    )
    assert refused.reason == reason


def test_a_body_may_not_grow_over_its_limit() -> None:
    # 4 characters a token: 4,700 in the body and 300 more are 1,250 tokens.
    nearly = make_skill("units", "Start. " + "word " * 940)
    refused = only_refusal(refine(edits(replace("Start.", "more " * 60)), skill=nearly)[0])
    assert refused.reason == "its body would have more than 1200 tokens"


def test_a_skill_that_is_too_long_already_may_become_shorter_but_not_longer() -> None:
    long = make_skill("units", "Start. " + "word " * 1300)
    assert isinstance(refine(edits(replace("Start.", "")), skill=long)[0][0], Edit)
    assert isinstance(refine(edits(replace("Start.", "Start now.")), skill=long)[0][0], Refusal)


def test_only_the_description_of_the_front_matter_can_change() -> None:
    proposals, _ = refine(edits(description=" Finds: the\nunit. "))
    after = parse_skill(only_edit(proposals).text or "")
    assert (after.name, after.description, after.body) == ("units", "Finds: the unit.", BODY)


@pytest.mark.parametrize(
    "description", ["---", "# x", "a: b", "'\"", "\u0000\u001b[0m", "é 😀", "&a *b"]
)
def test_no_description_breaks_the_file(description: str) -> None:
    after = parse_skill(only_edit(refine(edits(description=description))[0]).text or "")
    assert (after.description, after.body) == (description, BODY)


def test_a_front_matter_in_another_style_is_edited_as_well() -> None:
    flow = parse_skill("---\n{name: units, description: d}\n---\n\nBody.\n")
    edit = only_edit(refine(edits(description="new: one, two}"), skill=flow)[0])
    after = parse_skill(edit.text or "")
    assert (after.name, after.description, after.body) == ("units", "new: one, two}", "Body.")


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([CallFailed("busy")], "the optimizer could not be asked: busy"),
        (["no", "no"], "the optimizer's answer held no JSON object, twice"),
        (
            [{"edits": "none"}],
            "the optimizer's answer broke the rules, twice: edits: 'none' is not",
        ),
        (
            [edits({"op": "rewrite", "anchor": "x"})],
            "the optimizer's answer broke the rules, twice: ",
        ),
        (
            [edits({"op": "delete", "anchor": ""})],
            "the optimizer's answer broke the rules, twice: ",
        ),
    ],
)
def test_an_optimizer_without_a_usable_answer_is_a_refusal(
    answers: list[Answer], reason: str
) -> None:
    assert only_refusal(refine(*answers)[0]).reason.startswith(reason)


def test_a_cap_that_is_met_passes_through() -> None:
    with pytest.raises(BudgetReached):
        refine(BudgetReached("calls"))


def test_only_skills_with_the_verdict_are_asked_about() -> None:
    keep = EditDirection("answerer", "units", Direction.KEEP, 0.9, 0.9, ("q1",))
    gone = EditDirection("answerer", "gone", Direction.REFINE, 0.9, 0.9, ("q1",))
    for direction in (keep, gone):
        proposals, script = refine(AssertionError("asked"), direction=direction)
        assert (proposals, script.requests) == ([], [])


def test_the_optimizer_is_asked_with_two_thirds_of_its_cap_and_the_evidence() -> None:
    _, script = refine(edits())
    request = script.requests[0]
    assert request.max_tokens == 800
    payload = payload_of(request)
    assert payload["skill"] == {"name": "units", "description": "Says how.", "body": BODY}
    assert payload["evidence"]["questions"] == 2
    assert payload["role"] == "You are the answerer."


def test_the_environments_note_stands_in_the_instructions_and_changes_the_digest() -> None:
    noted = make_tools(note=lambda purpose: f"note for {purpose}")
    assert instructions(noted, "refine").endswith("\n\nnote for refine")
    assert prompt_digest(noted, "refine") != prompt_digest(make_tools(), "refine")


def test_without_a_summary_the_wanted_edit_is_the_reason() -> None:
    bare = EditDirection("answerer", "units", Direction.REFINE, 0, 0, ("q1",), "", "say it")
    proposals, _ = refine(edits(replace("Find", "Seek")), direction=bare)
    assert only_edit(proposals).why == "1 of 2 questions: say it"
