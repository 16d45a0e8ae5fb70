"""examples: worked examples from the best rollouts, without a language model."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from fakes.evolution import make_group
from fakes.operating import make_context, make_tools, only_edit, only_refusal, run

from skillevo.envs.metrics import token_f1
from skillevo.library.document import parse_skill
from skillevo.operators.examples import (
    INSTRUCTION,
    MOST_CHARS,
    TRIM_LENGTH,
    TRIM_WORDS,
    build,
    choose_examples,
    trim,
)
from skillevo.types import Group, Operator, Question, Trajectory


def f1(question: Question, trajectory: Trajectory) -> float:
    return token_f1(trajectory.answer, question.answers)


def group(id_: str, rewards: Sequence[float], answers: Sequence[str], note: str = "n") -> Group:
    question = Question(id_, f"What\nis  {id_}?", ("Ada Lovelace",))
    layouts = [[("reader", f"{note} {a}"), ("answerer", a)] for a in answers]
    return make_group(question, rewards, layouts)


def chosen(*groups: Group, agent: str = "answerer") -> list[tuple[str, str, float, int]]:
    return [(e.question, e.output, e.reward, e.support) for e in choose_examples(groups, agent, f1)]


@pytest.mark.parametrize(
    ("answer", "best", "reward"),
    [
        ("It was Ada Lovelace, of course.", "Ada Lovelace", 1.0),
        ("Ada Lovelace", "Ada Lovelace", 1.0),
        ("Lovelace", "Lovelace", 2 / 3),
        ("nobody knows", "nobody knows", 0.0),
        ("", "", 0.0),
        ("Ada said Ada Lovelace and Ada Lovelace", "Ada Lovelace", 1.0),
    ],
)
def test_an_answer_is_trimmed_to_the_words_that_earn_its_reward(
    answer: str, best: str, reward: float
) -> None:
    got = trim(answer, lambda text: token_f1(text, ["Ada Lovelace"]))
    assert got == (best, pytest.approx(reward))


def test_a_stretch_has_at_most_eight_words_of_the_first_sixty() -> None:
    long = " ".join(f"w{n}" for n in range(20))
    wanted = " ".join(f"w{n}" for n in range(10))
    stretch, _ = trim(long, lambda text: token_f1(text, [wanted]))
    assert stretch == " ".join(f"w{n}" for n in range(TRIM_LENGTH))
    late = "x " * TRIM_WORDS + "Ada"
    assert trim(late, lambda text: token_f1(text, ["Ada"]))[0] == late


def test_the_best_pair_of_each_question_by_reward_then_support_then_question_order() -> None:
    found = chosen(
        group("q1", [0.4, 0.0], ["Ada of Byron", "no"]),
        group("q2", [1.0, 1.0, 0.0], ["Ada Lovelace", "Ada Lovelace.", "no"]),
        group("q3", [1.0, 0.0], ["Ada Lovelace", "no"]),
        group("q4", [1.0, 0.0], ["Ada Lovelace", "no"]),
    )
    # q1: the word "Ada" alone has F1 2·1/(1 + 2) = 2/3, behind three full rewards.
    assert [(q, round(r, 2), s) for q, _, r, s in found] == [
        ("q2", 1.0, 1),
        ("q3", 1.0, 1),
        ("q4", 1.0, 1),
    ]
    assert chosen(group("q1", [0.4], ["Ada of Byron"])) == [("q1", "Ada", pytest.approx(2 / 3), 1)]


def test_of_equal_rewards_the_most_frequent_shortest_output_is_shown() -> None:
    answers = ["lovelace ada", "Ada Lovelace", "Ada Lovelace", "ADA LOVELACE"]
    assert chosen(group("q", [1.0] * 4, answers)) == [("q", "Ada Lovelace", 1.0, 2)]


def test_a_low_reward_is_no_example() -> None:
    assert chosen(group("q", [0.0, 0.0], ["no", "never"])) == []


def test_other_agents_show_their_whole_output_with_the_rollouts_reward() -> None:
    found = chosen(group("q", [0.5, 0.4], ["Ada", "x"], note="Note\n  of"), agent="reader")
    assert found == [("q", "Note of Ada", 0.5, 1)]
    long = group("q", [1.0], ["Ada Lovelace"], note="w" * MOST_CHARS)
    assert chosen(long, agent="reader") == []
    assert chosen(long, agent="nobody") == []


def test_the_skill_has_a_fixed_form_with_at_most_three_examples() -> None:
    groups = tuple(group(f"q{n}", [1.0], ["Ada Lovelace"]) for n in range(5))
    edit = only_edit(run(build(make_tools(reward=f1)), make_context(groups=groups)))
    assert (edit.operator, edit.skill, edit.support) == (Operator.INDUCE, "worked-examples", 3)
    assert (edit.summary, edit.author) == ("show 3 worked examples", "program")
    assert edit.why == "3 of 5 questions: their best rollouts, mean reward 1.00, serve as examples."
    assert parse_skill(edit.text or "").body == f"{INSTRUCTION}\n\n## Examples\n\n" + "\n".join(
        f"- Input: What is q{n}?\n  Output: Ada Lovelace" for n in range(3)
    )


def test_an_existing_skill_is_left_alone() -> None:
    context = make_context("worked-examples", groups=(group("q", [1.0], ["Ada Lovelace"]),))
    assert run(build(make_tools(reward=f1)), context) == []


def test_without_a_good_rollout_the_reason_is_told() -> None:
    refused = only_refusal(run(build(make_tools(reward=f1)), make_context(groups=())))
    assert refused.reason == "no rollout has a reward of 0.5 or more"


def test_a_full_library_is_a_refusal() -> None:
    context = make_context("a", groups=(group("q", [1.0], ["Ada Lovelace"]),))
    refused = only_refusal(run(build(make_tools(reward=f1, library_limit=1)), context))
    assert refused.reason == "the library holds its limit of 1 skills"
