"""The simulated world: skills change what its actor does, its critic sees only the payload."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import pytest
from fakes.critique import make_seat
from fakes.evolution import SAMPLED, behaving, make_credit, make_group, make_skill, make_team

from skillevo.core.advantage import advantages
from skillevo.credit.aggregator import Aggregator
from skillevo.credit.citations import constraints_of
from skillevo.credit.critic import Critic
from skillevo.credit.payload import group_payload, share_texts
from skillevo.credit.read import read_answer
from skillevo.schemas import violations
from skillevo.sim.actor import Effects, act, answer, phrase, read
from skillevo.sim.critic import aggregate, behaviour_effect, criticise
from skillevo.sim.optimizer import THIN, draft, refine
from skillevo.sim.world import behave
from skillevo.types import (
    ChatRequest,
    Contribution,
    Direction,
    Group,
    Message,
    ModelRole,
    Operator,
    Question,
    Sampling,
)

TEXT = "The harbor opened in 1921. Mira Olsen built the red boat. Fish live in the sea."
PLAIN = Effects(careful=False, rambling=False, concise=False, verbose=False)


def request(
    user: str, *, system: str = "You read.", seed: int = 1, sampling: Sampling = SAMPLED
) -> ChatRequest:
    messages = (Message("system", system), Message("user", user))
    return ChatRequest(ModelRole.ACTOR, messages, sampling, 256, seed=seed)


# --- actor ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("skill", "effect"),
    [
        ("Quote the sentence that holds the answer.", "careful"),
        ("Describe the background of the text.", "rambling"),
        ("Use as few words as you can.", "concise"),
        ("Reply with only those words.", "concise"),
        ("Answer in a full, polite sentence.", "verbose"),
        ("Be kind.", ""),
    ],
)
def test_skills_work_through_cues_and_roles_do_not(skill: str, effect: str) -> None:
    effects = Effects.of(f"Role.\n\n## Skills\n\n{skill}")
    assert {name for name in Effects.__slots__ if getattr(effects, name)} == ({effect} - {""})
    assert Effects.of(skill) == PLAIN


@pytest.mark.parametrize(
    ("sentence", "question", "words"),
    [
        ("Mira Olsen built the red boat.", "Who built the red boat?", "Olsen"),
        ("The boat was built by Mira Olsen.", "Who built the boat?", "Mira Olsen"),
        ("There are three boats.", "How many boats are there?", "three"),
        ("It has 14 rooms.", "How much room has it?", "14"),
        ("The harbor opened in 1921.", "When did the harbor open?", "1921"),
        ("The and of.", "What?", "The and of."),
        ("", "", ""),
    ],
)
def test_a_phrase_is_cut_out_by_the_question_word(sentence: str, question: str, words: str) -> None:
    assert phrase(sentence, question) == words


def test_a_concise_answer_is_a_phrase_and_others_repeat_the_sentence() -> None:
    note, question = "The harbor opened in 1921. More.", "When did the harbor open?"
    concise = Effects(careful=False, rambling=False, concise=True, verbose=False)
    verbose = Effects(careful=False, rambling=False, concise=True, verbose=True)
    assert answer(note, question, concise, lucky=False) == "1921"
    assert answer(note, question, PLAIN, lucky=True) == "1921"
    assert (
        answer(note, question, verbose, lucky=True)
        == "According to the text, The harbor opened in 1921."
    )


def test_a_careful_reader_never_misreads_and_a_plain_one_sometimes_does() -> None:
    question = "When did the harbor open?"
    careful = Effects(careful=True, rambling=False, concise=False, verbose=False)
    rambling = Effects(careful=True, rambling=True, concise=False, verbose=False)
    seen = {read(TEXT, question, PLAIN, random.Random(n)) for n in range(40)}
    assert len(seen) == 2
    assert "The harbor opened in 1921." in seen
    assert {read(TEXT, question, careful, random.Random(n)) for n in range(40)} == {
        "The harbor opened in 1921.",
    }  # fmt: skip
    assert "1921" not in read(TEXT, question, rambling, random.Random(1))
    assert read("One sentence.", question, PLAIN, random.Random(1)) == "One sentence."


def test_the_first_agent_writes_a_note_and_the_next_an_answer() -> None:
    ask = f"Text:\n{TEXT}\n\nQuestion: When did the harbor open?"
    assert act(request(ask)) in TEXT
    note = f"{ask}\n\nNote from reader:\nThe harbor opened in 1921."
    concise = "R.\n\n## Skills\n\nUse as few words as possible."
    assert act(request(note, system=concise)) == "1921"
    assert act(request("Something else")) == ""
    assert act(request("Question: Only this?")) == "Only this?"


def test_draws_follow_the_seed_when_sampling_and_the_question_when_greedy() -> None:
    ask = f"Text:\n{TEXT}\n\nQuestion: When did the harbor open?"
    assert len({act(request(ask, seed=n)) for n in range(30)}) == 2
    assert len({act(request(ask, seed=n, sampling=Sampling())) for n in range(30)}) == 1


# --- critic ---------------------------------------------------------------------------------------

SHORT = make_skill("shortest-answer", "Reply in the shortest form.")
LONG = make_skill("polite", "Answer in whole sentences.")
TEAM = make_team(reader=[], answerer=[SHORT, LONG])
WORDY = "According to the text, the harbor of the town opened in 1921."


def group(answers: list[tuple[str, float]], notes: list[str] | None = None) -> Group:
    notes = notes or ["n"] * len(answers)
    layouts = [[("reader", n), ("answerer", a)] for n, (a, _) in zip(notes, answers, strict=True)]
    return make_group("q", [r for _, r in answers], layouts)


def criticised(of: Group, **options: Any) -> dict[str, Any]:
    rules = constraints_of(TEAM, of, ())
    payload = group_payload(TEAM, of, rules.full, category=False, constraints=True)
    said = criticise(share_texts(payload))
    assert violations(said, "critic") == []
    reading = read_answer(said, "q", rules, structured=True)
    assert reading.rejected == []
    return {"credits": {c.skill: c for c in reading.credits}, "diagnoses": reading.diagnoses}


def test_brevity_that_pays_is_credited_and_wordiness_diagnosed() -> None:
    said = criticised(group([("1921", 1.0), (WORDY, 0.2), (WORDY, 0.2), ("1921", 1.0)]))
    # brief rollouts have mean 1, wordy ones 0.2: the effect is 0.8.
    short = said["credits"]["shortest-answer"]
    assert (short.credit, short.verdict) == (0.8, Contribution.HELPFUL)
    # The skill that asks for sentences: mean reward 0.6 − 0.8 = −0.2.
    long = said["credits"]["polite"]
    assert (long.credit, long.verdict) == (-0.2, Contribution.HARMFUL)
    (diagnosis,) = said["diagnoses"]
    assert (diagnosis.agent, diagnosis.failure_type) == ("answerer", "format")
    assert (diagnosis.skill, diagnosis.edit_action) == (None, Operator.INDUCE)
    assert [c.rollout for c in diagnosis.cited_steps] == [1]
    assert [c.rollout for c in diagnosis.contrast_steps] == [0]


def test_an_earlier_agent_is_blamed_for_the_note_that_misled() -> None:
    said = criticised(group([("1921", 1.0), ("boat", 0.0)], notes=["right", "wrong"]))
    (diagnosis,) = said["diagnoses"]
    assert (diagnosis.agent, diagnosis.failure_type) == ("reader", "retrieval")


def test_a_group_of_full_rewards_has_no_diagnosis() -> None:
    assert criticised(group([("1921", 1.0)] * 2))["diagnoses"] == []


def test_behaviour_that_is_alike_in_all_rollouts_has_no_effect() -> None:
    of = group([("1921", 1.0), ("1999", 0.0)])
    payload = group_payload(TEAM, of, frozenset(), category=False, constraints=False)
    assert behaviour_effect(payload, "answerer") == 0.0
    assert criticise(payload)["diagnoses"] == []


@pytest.mark.parametrize(
    ("credits_", "edit", "verdict", "score"),
    [((-0.5, -0.3), "", "low_utility", -0.4), ((0.5, 0.3), "e", "refine", 0.4),
     ((0.1, 0.3), "", "keep", 0.2)],
)  # fmt: skip
def test_the_aggregate_is_the_mean_with_its_verdict(
    credits_: tuple[float, ...], edit: str, verdict: str, score: float
) -> None:
    given = [{"credit": c, "reason": "r", "suggested_edit": edit} for c in credits_]
    said = aggregate({"credits": given})
    assert (said["verdict"], said["utility_score"]) == (verdict, score)
    assert violations(said, "aggregate") == []


# --- optimizer ------------------------------------------------------------------------------------


def drafted(failure: str, questions: int, *present: str) -> Any:
    payload = {"skills": [{"name": name} for name in present],
               "patterns": [{"failure_type": failure, "questions": questions}]}  # fmt: skip
    said = draft(payload)
    assert violations(said, "skill_draft") == []
    return said.get("name")


def test_the_optimizer_errs_on_thin_evidence_only() -> None:
    assert drafted("format", 1) == "shortest-answer"
    assert drafted("retrieval", THIN) == "quote-evidence"
    assert drafted("retrieval", THIN - 1) == "background-first"
    assert drafted("format", 9, "shortest-answer") is None
    assert draft({"skills": []}) == {"decision": "none"}


def test_the_optimizer_does_not_reword_skills() -> None:
    assert violations(refine({}), "refine") == []
    assert refine({})["edits"] == []


# --- behind the port ------------------------------------------------------------------------------


def test_the_world_answers_every_role_through_the_real_requests() -> None:
    model = behaving(behave)
    of = Group(
        Question("q", "Q?", ("x",)),
        group([("1921", 1.0), (WORDY, 0.0)]).trajectories, advantages([1.0, 0.0]), 2,
    )  # fmt: skip
    critic = Critic(make_seat(model, 4000))
    assessment = asyncio.run(critic.assess(TEAM, of))
    assert (assessment.outcome, len(assessment.credits)) == ("accepted", 2)
    aggregator = Aggregator(make_seat(model, 1200), -0.3)
    given = [make_credit("q1", -0.6), make_credit("q2", -0.8)]
    direction = asyncio.run(aggregator.direction(SHORT, given))
    assert (direction.verdict, direction.utility_score) == (Direction.LOW_UTILITY, -0.7)


@pytest.mark.parametrize(("title", "key"), [("refine reply", "edits"), ("skill draft", "decision")])
def test_the_schema_asked_for_decides_who_answers(title: str, key: str) -> None:
    messages = (Message("system", "s"), Message("user", 'INPUT:\n{"skills": []}'))
    asked = ChatRequest(
        ModelRole.OPTIMIZER, messages, SAMPLED, 99, schema=json.dumps({"title": title})
    )
    assert key in json.loads(behave(asked))
