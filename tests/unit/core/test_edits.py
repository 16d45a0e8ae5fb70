"""Anchored edits: every outcome, and all of them against the original text."""

from __future__ import annotations

import pytest

from skillevo.core.edits import AnchoredEdit, EditOp, Outcome, apply_edits

TEXT = "one two three two-b four"
REPLACE, AFTER, BEFORE, DELETE = (
    EditOp.REPLACE, EditOp.INSERT_AFTER, EditOp.INSERT_BEFORE, EditOp.DELETE,
)  # fmt: skip


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (AnchoredEdit(REPLACE, "three", new="3"), "one two 3 two-b four"),
        (AnchoredEdit(REPLACE, "one two", old="two", new="2"), "one 2 three two-b four"),
        (AnchoredEdit(REPLACE, "three"), "one two  two-b four"),
        (AnchoredEdit(AFTER, "three", new="!"), "one two three! two-b four"),
        (AnchoredEdit(BEFORE, "three", new="!"), "one two !three two-b four"),
        (AnchoredEdit(AFTER, "three", old="hr", new="!"), "one two three! two-b four"),
        (AnchoredEdit(DELETE, " three"), "one two two-b four"),
        (AnchoredEdit(DELETE, "three two-b", old=" two-b", new="x"), "one two three four"),
        (AnchoredEdit(REPLACE, TEXT, new=""), ""),
    ],
)
def test_each_operation_does_what_it_says(edit: AnchoredEdit, text: str) -> None:
    applied = apply_edits(TEXT, [edit])
    assert (applied.text, applied.outcomes) == (text, (Outcome.APPLIED,))


@pytest.mark.parametrize(
    ("edit", "outcome"),
    [
        (AnchoredEdit(REPLACE, "five", new="5"), Outcome.ANCHOR_MISSING),
        (AnchoredEdit(REPLACE, "", new="5"), Outcome.ANCHOR_MISSING),
        (AnchoredEdit(REPLACE, "two", new="2"), Outcome.ANCHOR_AMBIGUOUS),
        (AnchoredEdit(REPLACE, "three", old="x", new="3"), Outcome.ANCHOR_MISSING),
        (AnchoredEdit(REPLACE, "three", old="e", new="3"), Outcome.ANCHOR_AMBIGUOUS),
    ],
)
def test_an_edit_that_cannot_be_placed_is_left_out_by_itself(
    edit: AnchoredEdit, outcome: Outcome
) -> None:
    good = AnchoredEdit(DELETE, " four")
    applied = apply_edits(TEXT, [edit, good])
    assert applied.outcomes == (outcome, Outcome.APPLIED)
    assert applied.text == "one two three two-b"


def test_occurrences_that_overlap_make_an_anchor_ambiguous() -> None:
    assert apply_edits("aaa", [AnchoredEdit(DELETE, "aa")]).outcomes == (Outcome.ANCHOR_AMBIGUOUS,)


def test_the_first_of_two_overlapping_edits_wins() -> None:
    edits = [
        AnchoredEdit(REPLACE, "two three", new="A"),
        AnchoredEdit(REPLACE, "three two", new="B"),
    ]
    assert apply_edits(TEXT, edits).text == "one A two-b four"
    assert apply_edits(TEXT, edits[::-1]).text == "one two B-b four"
    assert apply_edits(TEXT, edits).outcomes == (Outcome.APPLIED, Outcome.OVERLAPS)


def test_an_insertion_inside_a_replaced_span_overlaps_and_at_its_ends_does_not() -> None:
    replaced = AnchoredEdit(REPLACE, "one two three", new="123")
    inside = AnchoredEdit(AFTER, "one", new="!")
    after, before = AnchoredEdit(AFTER, "three", new=">"), AnchoredEdit(BEFORE, "one", new="<")
    for edits in ([replaced, inside], [inside, replaced]):
        assert apply_edits(TEXT, edits).outcomes == (Outcome.APPLIED, Outcome.OVERLAPS)
    applied = apply_edits(TEXT, [after, replaced, before])
    assert applied.text == "<123> two-b four"


def test_insertions_at_one_point_apply_in_order() -> None:
    edits = [AnchoredEdit(AFTER, "three", new=c) for c in "ab"]
    edits.append(AnchoredEdit(BEFORE, " two-b", new="c"))
    assert apply_edits(TEXT, edits).text == "one two threeabc two-b four"


def test_edits_see_the_original_text_and_not_each_other() -> None:
    edits = [AnchoredEdit(REPLACE, "one", new="six"), AnchoredEdit(REPLACE, "six", new="seven")]
    applied = apply_edits(TEXT, edits)
    assert applied.outcomes == (Outcome.APPLIED, Outcome.ANCHOR_MISSING)
    assert applied.text == "six two three two-b four"


def test_touching_spans_both_apply() -> None:
    edits = [AnchoredEdit(REPLACE, "two t", new="A"), AnchoredEdit(REPLACE, "hree", new="B")]
    assert apply_edits(TEXT, edits).text == "one AB two-b four"
