"""Credits and diagnoses merged over questions, against numbers worked by hand."""

from __future__ import annotations

import random

import pytest
from fakes.evolution import make_credit, make_diagnosis

from skillevo.core.aggregate import (
    credits_by_skill,
    fold_single,
    fold_without_model,
    induction_evidence,
    mean_credit,
    patterns,
    update_utilities,
)
from skillevo.types import (
    Assessment,
    Contribution,
    Diagnosis,
    Direction,
    EditDirection,
    Feedback,
    Operator,
)

PAIR = ("answerer", "units")


def direction(mean: float, skill: str = "units") -> EditDirection:
    return EditDirection("answerer", skill, Direction.KEEP, mean, mean, ("q1",))


def test_credits_are_gathered_per_skill_in_the_order_of_the_questions() -> None:
    first = Assessment("q1", "accepted", (make_credit("q1", 0.5), make_credit("q1", 1, skill="a")))
    second = Assessment(
        "q2", "accepted", (make_credit("q2", -0.5, agent="a"), make_credit("q2", 0))
    )
    found = credits_by_skill([first, Assessment("q3", "unusable"), second])
    assert list(found) == [("a", "units"), ("answerer", "a"), PAIR]
    assert [c.question for c in found[PAIR]] == ["q1", "q2"]


def test_the_batch_utility_is_the_mean_credit() -> None:
    # (0.5 − 0.2 + 0.9) / 3 = 1.2 / 3 = 0.4
    assert mean_credit([make_credit("q", c) for c in (0.5, -0.2, 0.9)]) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("verdict", "edit", "expected"),
    [
        (Contribution.HELPFUL, "say the unit", Direction.REFINE),
        (Contribution.HELPFUL, "", Direction.KEEP),
        (Contribution.NEUTRAL, "say the unit", Direction.REFINE),
        (Contribution.NEUTRAL, "", Direction.KEEP),
        (Contribution.REDUNDANT, "say the unit", Direction.REDUNDANT),
        (Contribution.HARMFUL, "say the unit", Direction.LOW_UTILITY),
    ],
)
def test_a_single_credit_is_folded_without_a_call(
    verdict: Contribution, edit: str, expected: Direction
) -> None:
    credit = make_credit("q9", -0.4, verdict, edit=edit, redundant=("other",), reason="because")
    folded = fold_single(credit)
    assert folded == EditDirection(
        "answerer", "units", expected, -0.4, -0.4, ("q9",), "because", edit, ("other",)
    )


@pytest.mark.parametrize(
    ("credits_", "edit", "expected"),
    [
        ((-0.2, -0.3), "shorter", Direction.REFINE),  # mean −0.25
        ((-0.2, -0.4), "shorter", Direction.LOW_UTILITY),  # mean −0.3, the threshold itself
        ((-0.7, -0.7, -0.6, 0.1, 0.4), "", Direction.LOW_UTILITY),  # −1.5/5 = −0.3, in floats above
        ((0.2, 0.4), "", Direction.KEEP),
        ((0.2, 0.4), "shorter", Direction.REFINE),
    ],
)
def test_without_an_aggregator_the_mean_and_the_first_edit_decide(
    credits_: tuple[float, ...], edit: str, expected: Direction
) -> None:
    given = [
        make_credit(f"q{n}", c, edit=edit if n else "", reason=f"r{n}" if n else "",
                    redundant=("b", "a")[n % 2 :])
        for n, c in enumerate(credits_)
    ]  # fmt: skip
    folded = fold_without_model(given, -0.3)
    assert folded.verdict is expected
    assert folded.mean_credit == folded.utility_score == pytest.approx(sum(credits_) / len(given))
    assert (folded.suggested_edit, folded.summary) == (edit, "r1")
    assert folded.redundant_with == ("a", "b")
    assert folded.questions == tuple(f"q{n}" for n in range(len(given)))


def test_momentum_over_four_iterations() -> None:
    # β = 0.4, means 1, −0.5, (no credit), 0.25, from 0:
    # 0.6·0 + 0.4·1 = 0.4;  0.6·0.4 − 0.2 = 0.04;  unchanged 0.04;  0.6·0.04 + 0.1 = 0.124.
    utilities: dict[tuple[str, str], float] = {}
    seen = []
    for mean in (1.0, -0.5, None, 0.25):
        given = [] if mean is None else [direction(mean)]
        utilities = update_utilities(utilities, given, 0.4)
        seen.append(utilities[PAIR])
    assert seen == pytest.approx([0.4, 0.04, 0.04, 0.124])


def test_momentum_of_one_forgets_the_past_and_others_keep_theirs() -> None:
    before = {PAIR: 0.9, ("answerer", "other"): -0.2}
    after = update_utilities(before, [direction(-0.5)], 1.0)
    assert after == {PAIR: -0.5, ("answerer", "other"): -0.2}
    assert before[PAIR] == 0.9


def test_several_diagnoses_of_one_question_count_once() -> None:
    given = [make_diagnosis("q1", n=n) for n in range(4)] + [make_diagnosis("q2")]
    (found,) = patterns(given, {"q1": 0.25, "q2": 0.5})
    assert (found.support, found.questions) == (2, ("q1", "q2"))
    assert found.loss == pytest.approx(1.25)  # (1 − 0.25) + (1 − 0.5)
    assert len(found.examples) == 5


def test_patterns_differ_by_agent_failure_skill_and_action() -> None:
    given = [
        make_diagnosis("q1"),
        make_diagnosis("q1", agent="reader"),
        make_diagnosis("q1", "reasoning"),
        make_diagnosis("q1", skill="units", action=Operator.REFINE),
        make_diagnosis("q1", skill="units", action=Operator.PRUNE),
    ]
    assert len(patterns(given, {"q1": 0.0})) == 5


def ties() -> list[Diagnosis]:
    return [
        make_diagnosis("easy", "tool_use"),
        *(make_diagnosis(q, "reasoning") for q in ("easy", "hard")),
        make_diagnosis("hard", "retrieval"),
        make_diagnosis("hard", "format"),
        make_diagnosis("hard", "format", agent="aaa"),
        make_diagnosis("hard", "format", skill="b", action=Operator.REFINE),
        make_diagnosis("hard", "format", skill="b", action=Operator.PRUNE),
        make_diagnosis("hard", "format", skill="a", action=Operator.REFINE),
    ]


@pytest.mark.parametrize("seed", range(6))
def test_patterns_are_ordered_by_support_then_loss_then_key_whatever_the_order_of_arrival(
    seed: int,
) -> None:
    given = ties()
    random.Random(seed).shuffle(given)
    found = patterns(given, {"easy": 0.9, "hard": 0.1})
    assert [(p.support, p.agent, p.failure_type, p.skill, p.action.value) for p in found] == [
        (2, "answerer", "reasoning", None, "induce"),
        (1, "aaa", "format", None, "induce"),  # loss 0.9 each, down to the last one with 0.1
        (1, "answerer", "format", None, "induce"),
        (1, "answerer", "format", "a", "refine"),
        (1, "answerer", "format", "b", "prune"),
        (1, "answerer", "format", "b", "refine"),
        (1, "answerer", "retrieval", None, "induce"),
        (1, "answerer", "tool_use", None, "induce"),
    ]


def test_induction_evidence_is_the_top_three_patterns_with_six_examples_each() -> None:
    kinds = ("format", "retrieval", "reasoning", "tool_use")
    given = [
        make_diagnosis(f"q{n}", kind)
        for rank, kind in enumerate(kinds)
        for n in range(9 - rank)
    ]  # fmt: skip
    given += [make_diagnosis(f"q{n}", skill="s", action=Operator.PRUNE) for n in range(12)]
    given += [make_diagnosis(f"q{n}", "handoff", agent="reader") for n in range(12)]
    feedback = [Feedback("q8", "answerer", "in"), Feedback("q8", "reader", "other agent"),
                Feedback("q11", "answerer", "of no supporting question")]  # fmt: skip
    found = patterns(given, {f"q{n}": 0.0 for n in range(12)})
    evidence = induction_evidence("answerer", found, feedback, structured=True)
    assert [p.failure_type for p in evidence.patterns] == ["format", "retrieval", "reasoning"]
    assert [p.support for p in evidence.patterns] == [9, 8, 7]
    assert [len(p.examples) for p in evidence.patterns] == [6, 6, 6]
    assert [f.feedback for f in evidence.feedback] == ["in"]
    assert evidence.questions == tuple(f"q{n}" for n in range(9))


def test_without_structure_the_evidence_is_feedback_that_names_a_missing_capability() -> None:
    feedback = [
        Feedback("q1", "answerer", "a", "convert units"),
        Feedback("q1", "answerer", "a second of the same question", "add numbers"),
        Feedback("q2", "answerer", "b", "add numbers"),
        Feedback("q3", "answerer", "c", "add numbers"),
        Feedback("q4", "answerer", "names nothing"),
        Feedback("q5", "reader", "another agent", "add numbers"),
    ]
    evidence = induction_evidence("answerer", (), feedback, structured=False)
    assert [(f.question, f.missing_capability) for f in evidence.feedback] == [
        ("q2", "add numbers"), ("q3", "add numbers"), ("q1", "convert units"),
    ]  # fmt: skip
    assert evidence.patterns == ()
    assert induction_evidence("nobody", (), feedback, structured=False).questions == ()
