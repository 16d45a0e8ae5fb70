"""Anchored edits of any text: what is outside the spans stays, what failed leaves no trace."""

from __future__ import annotations

import string

from hypothesis import given, settings
from hypothesis import strategies as st

from skillevo.core.edits import AnchoredEdit, EditOp, Outcome, apply_edits

LETTERS = string.ascii_letters  # a text without repeats: every anchor is unique
INSERTING = (EditOp.INSERT_AFTER, EditOp.INSERT_BEFORE)


@st.composite
def placed_edits(draw: st.DrawFn) -> list[AnchoredEdit]:
    edits = []
    for number in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(LETTERS) - 1))
        anchor = LETTERS[start : start + draw(st.integers(1, 12))]
        inner = draw(st.integers(0, len(anchor) - 1))
        old = draw(st.sampled_from(["", anchor[inner:]]))
        new = "" if draw(st.booleans()) else f"<{number}>"
        edits.append(AnchoredEdit(draw(st.sampled_from(EditOp)), anchor, old, new))
    return edits


@st.composite
def any_edits(draw: st.DrawFn) -> tuple[str, list[AnchoredEdit]]:
    text = draw(st.text("ab\né", max_size=12))
    piece = st.text("ab\né", max_size=3)
    made = st.builds(AnchoredEdit, st.sampled_from(EditOp), piece, piece, piece)
    return text, draw(st.lists(made, max_size=5))


def _span(edit: AnchoredEdit) -> str:
    return "" if edit.op in INSERTING else edit.old or edit.anchor


@settings(deadline=None)
@given(placed_edits())
def test_text_outside_the_spans_is_untouched(edits: list[AnchoredEdit]) -> None:
    applied = apply_edits(LETTERS, edits)
    done = [e for e, o in zip(edits, applied.outcomes, strict=True) if o is Outcome.APPLIED]
    gone = {letter for edit in done for letter in _span(edit)}
    assert [c for c in applied.text if c in LETTERS] == [c for c in LETTERS if c not in gone]
    put_in = {edit.new for edit in done if edit.new and edit.op is not EditOp.DELETE}
    assert {f"<{n}>" for n in range(6) if f"<{n}>" in applied.text} == put_in
    assert len(applied.text) == len(LETTERS) - len(gone) + sum(len(new) for new in put_in)


@settings(deadline=None)
@given(placed_edits())
def test_no_two_applied_spans_share_a_letter(edits: list[AnchoredEdit]) -> None:
    outcomes = apply_edits(LETTERS, edits).outcomes
    assert set(outcomes) <= {Outcome.APPLIED, Outcome.OVERLAPS}
    spans = [_span(e) for e, o in zip(edits, outcomes, strict=True) if o is Outcome.APPLIED]
    assert len("".join(spans)) == len(set("".join(spans)))


@settings(deadline=None)
@given(any_edits())
def test_edits_that_failed_leave_no_trace(given_: tuple[str, list[AnchoredEdit]]) -> None:
    text, edits = given_
    applied = apply_edits(text, edits)
    assert len(applied.outcomes) == len(edits)
    done = [e for e, o in zip(edits, applied.outcomes, strict=True) if o is Outcome.APPLIED]
    again = apply_edits(text, done)
    assert again.text == applied.text
    assert set(again.outcomes) <= {Outcome.APPLIED}
    for edit, outcome in zip(edits, applied.outcomes, strict=True):
        if outcome is Outcome.ANCHOR_MISSING:
            assert not edit.anchor or edit.anchor not in text or edit.old not in edit.anchor
        elif outcome is Outcome.APPLIED:
            assert text.count(edit.anchor) == 1


@settings(deadline=None)
@given(st.text())
def test_no_edits_give_the_same_text(text: str) -> None:
    assert apply_edits(text, []).text == text
