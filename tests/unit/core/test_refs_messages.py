"""The messages of edit commits and merge commits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skillevo.core.refs import edit_message, merge_message
from skillevo.types import (
    Candidate,
    CommittedEdit,
    Decision,
    Edit,
    Library,
    Operator,
    Verdict,
)

RUN = "20260102-030405-abcd"
EDIT = Edit(
    operator=Operator.REFINE,
    agent="retriever",
    skill="adjacent-context",
    text="new",
    removes=(),
    summary="fetch the turn after a question",
    why="7 of 24 questions: the answer stood in the next turn and was not fetched.",
    support=7,
    utility=-0.19,
    diagnoses=("d-0123", "d-0130"),
    author="some/model:free",
    prompt="sha256:ab12",
)
VERDICT = Verdict(
    agent="retriever",
    decision=Decision.ACCEPT,
    base=0.512,
    score=0.578,
    standard_error=0.0214,
    n=64,
    repeats=1,
    better=9,
    worse=3,
    policy="tolerance 0.02",
)


def message(edit: Edit, evidence: str = "") -> str:
    return edit_message(
        edit, name=f"{RUN}-0007", run=RUN, iteration=3, base="b" * 40, evidence=evidence
    )


def candidate(edits: int) -> Candidate:
    committed = tuple(CommittedEdit(f"{RUN}-{n:04d}", EDIT, "c" * 40) for n in range(edits))
    return Candidate("retriever", 3, "", "b" * 40, "c" * 40, Library("retriever"), committed)


def test_edit_message_says_what_why_and_from_where() -> None:
    assert message(EDIT, evidence="sha256:cd34") == (
        "refine(retriever/adjacent-context): fetch the turn after a question\n"
        "\n"
        "Why: 7 of 24 questions: the answer stood in the next turn and was not\n"
        "fetched.\n"
        "\n"
        f"Skillevo-Edit: {RUN}-0007\n"
        "Skillevo-Operator: refine\n"
        "Skillevo-Agent: retriever\n"
        "Skillevo-Skill: adjacent-context\n"
        f"Skillevo-Run: {RUN}\n"
        "Skillevo-Iteration: 3\n"
        f"Skillevo-Base: {'b' * 40}\n"
        "Skillevo-Diagnosis: d-0123\n"
        "Skillevo-Diagnosis: d-0130\n"
        "Skillevo-Support: 7\n"
        "Skillevo-Utility: -0.19\n"
        "Skillevo-Model: some/model:free\n"
        "Skillevo-Prompt: sha256:ab12\n"
        "Skillevo-Evidence: sha256:cd34\n"
        "Skillevo-Format: 1\n"
    )


def test_edit_message_leaves_out_what_is_not_known() -> None:
    bare = replace(EDIT, why=" ", utility=None, diagnoses=(), author="", prompt="")
    text = message(bare)
    for key in ("Why:", "Utility", "Diagnosis", "Model", "Prompt", "Evidence", "From"):
        assert key not in text


def test_consolidation_names_its_sources() -> None:
    merged = replace(EDIT, operator=Operator.CONSOLIDATE, sources=("retriever/a", "retriever/b"))
    assert "Skillevo-From: retriever/a\nSkillevo-From: retriever/b\n" in message(merged)


@pytest.mark.parametrize(("value", "text"), [(0.4, "0.40"), (-0.001, "0.00"), (1.0, "1.00")])
def test_utility_has_two_digits_and_no_negative_zero(value: float, text: str) -> None:
    assert f"Skillevo-Utility: {text}\n" in message(replace(EDIT, utility=value))


def test_subject_never_exceeds_72_characters() -> None:
    long = replace(EDIT, agent="a" * 64, skill="b" * 64, summary="c" * 500)
    assert len(message(long).split("\n")[0]) <= 72
    assert f"Skillevo-Skill: {'b' * 64}\n" in message(long)


def test_edit_without_a_summary_still_has_a_subject() -> None:
    assert message(replace(EDIT, summary="")).startswith(
        "refine(retriever/adjacent-context): no summary given\n"
    )


def test_merge_message_carries_score_and_gate() -> None:
    assert merge_message(candidate(3), VERDICT, run=RUN) == (
        "merge(retriever): accept 3 edits from iteration 3\n"
        "\n"
        "Skillevo-Decision: accept\n"
        "Skillevo-Score: 0.512 -> 0.578 (n=64, H=1)\n"
        "Skillevo-Gate: tolerance 0.02; delta=+0.066; se=0.021\n"
        f"Skillevo-Candidate: {'c' * 40}\n"
        f"Skillevo-Base: {'b' * 40}\n"
        f"Skillevo-Run: {RUN}\n"
        "Skillevo-Iteration: 3\n"
        "Skillevo-Agent: retriever\n"
        "Skillevo-Format: 1\n"
    )


def test_merge_message_says_when_the_error_is_unknown_and_the_base_moved() -> None:
    verdict = replace(VERDICT, standard_error=None, score=0.5115, reason="within the tolerance")
    text = merge_message(candidate(1), verdict, run=RUN, base_moved="d" * 40)
    assert text.startswith("merge(retriever): accept 1 edit from iteration 3\n\nWhy: within the")
    assert "delta=+0.000; se=n/a" in text or "delta=-0.001; se=n/a" in text
    assert f"Skillevo-Base-Moved: {'d' * 40}\n" in text


def test_gate_shows_a_loss_with_its_sign() -> None:
    text = merge_message(candidate(1), replace(VERDICT, score=0.5), run=RUN)
    assert "delta=-0.012;" in text
