"""The critic's call per group and the aggregator's call per skill, with their fallbacks."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from fakes.critique import make_seat
from fakes.evolution import (
    SAMPLED,
    Answer,
    Script,
    make_credit,
    make_group,
    make_skill,
    make_team,
    payload_of,
)

from skillevo.credit.aggregator import Aggregator
from skillevo.credit.critic import UNAVAILABLE, Critic
from skillevo.credit.payload import expand_texts
from skillevo.errors import BudgetReached, CallFailed
from skillevo.types import (
    Assessment,
    Contribution,
    Direction,
    EditDirection,
    Group,
    ModelRole,
    Question,
    Sampling,
    Team,
    Thinking,
)

TEAM = make_team(reader=[], answerer=["units"])
GROUP = make_group(
    Question("q1", "How many?", ("secret",), context="A text.", category="number"), [0.0, 1.0]
)
GOOD: dict[str, Any] = {
    "credits": [{"agent": "answerer", "skill": "units", "credit": 0.5, "verdict": "helpful"}],
    "feedback": [],
    "diagnoses": [
        {"agent": "answerer", "skill": None, "failure_type": "format", "edit_action": "induce",
         "cited_steps": [{"rollout": 0, "step": 1}], "contrast_steps": []},
    ],
}  # fmt: skip
BAD = {**GOOD, "diagnoses": [{**GOOD["diagnoses"][0], "cited_steps": [{"rollout": 1, "step": 1}]}]}


def critic(script: Script, sampling: Sampling = SAMPLED, **options: Any) -> Critic:
    return Critic(make_seat(script.model, 4000, sampling), **options)


def assess(
    *answers: Answer, team: Team = TEAM, group: Group = GROUP, **options: Any
) -> tuple[Assessment, Script]:
    script = Script(*answers)
    return asyncio.run(critic(script, **options).assess(team, group)), script


# --- critic ---------------------------------------------------------------------------------------


def test_one_call_reads_the_whole_group() -> None:
    assessment, script = assess(GOOD)
    assert (assessment.question, assessment.outcome) == ("q1", "accepted")
    assert (len(assessment.credits), len(assessment.diagnoses)) == (1, 1)
    assert (assessment.rejected, assessment.notes, len(assessment.calls)) == ((), (), 1)
    (request,) = script.requests
    assert (request.role, request.affinity, request.max_tokens) == (ModelRole.CRITIC, "q1", 4000)
    assert (request.sample, request.thinking) == (0, Thinking.OFF)


def test_the_payload_holds_what_the_critic_may_know_and_not_the_reference() -> None:
    _, script = assess(GOOD)
    payload = expand_texts(payload_of(script.requests[0]))
    assert list(payload) == [
        "task",
        "task_category",
        "libraries",
        "rollouts",
        "citation_constraints",
    ]
    assert payload["task"] == {"question": "How many?", "given": "A text."}
    assert payload["task_category"] == "not_grouped"
    assert payload["libraries"]["reader"] == []
    assert payload["libraries"]["answerer"][0]["name"] == "units"
    low, high = payload["rollouts"]
    assert (low["reward"], high["reward"], low["advantage"]) == (0.0, 1.0, -1.0)
    assert (low["full_reward"], high["full_reward"]) == (False, True)
    assert [s["agent"] for s in low["steps"]] == ["reader", "answerer"]
    assert payload["citation_constraints"] == {
        "full_reward_rollouts": [1],
        "other_rollouts": [0],
        "agent_of_step": [["reader", "answerer"]] * 2,
    }
    assert "secret" not in json.dumps(payload)


def test_the_category_is_told_only_when_asked_for() -> None:
    _, script = assess(GOOD, category_label=True)
    assert payload_of(script.requests[0])["task_category"] == "number"


def test_without_structure_there_are_no_diagnoses_and_no_constraints() -> None:
    assessment, script = assess(BAD, structured=False)
    assert (assessment.outcome, assessment.diagnoses) == ("accepted", ())
    assert "citation_constraints" not in payload_of(script.requests[0])
    assert "diagnoses" not in json.loads(script.requests[0].schema)["properties"]


def test_the_instructions_name_the_vocabulary_and_end_with_the_note() -> None:
    text = critic(Script(GOOD), failure_types=("mood",), note="Mind dates.").instructions()
    assert "instruction_conflict, other, mood" in text
    assert text.endswith("\n\nMind dates.")
    assert "mood" not in critic(Script(GOOD), structured=False).instructions()


def test_a_broken_citation_is_sent_back_once_with_the_exact_violation() -> None:
    assessment, script = assess(BAD, GOOD)
    assert (assessment.outcome, len(assessment.diagnoses), assessment.rejected) == (
        "repaired",
        1,
        (),
    )
    assert len(assessment.calls) == 2
    assert (
        "- diagnoses: cited rollout 1 has full reward\n" in script.requests[1].messages[-1].content
    )


def test_what_still_violates_is_dropped_and_kept_as_rejected() -> None:
    assessment, script = assess(BAD, BAD)
    assert len(script.requests) == 2
    assert (assessment.outcome, len(assessment.credits), assessment.diagnoses) == (
        "repaired",
        1,
        (),
    )
    (rejected,) = assessment.rejected
    assert (rejected.kind, rejected.reason) == ("diagnoses", "cited rollout 1 has full reward")
    assert json.loads(rejected.item)["failure_type"] == "format"


def test_a_second_answer_without_json_keeps_what_was_valid_in_the_first() -> None:
    assessment, _ = assess(BAD, "I am sorry.")
    assert (assessment.outcome, len(assessment.credits), len(assessment.rejected)) == (
        "repaired",
        1,
        1,
    )


def test_unusable_twice_says_nothing() -> None:
    assessment, script = assess("no", "{")
    assert (assessment.outcome, assessment.credits, assessment.rejected) == ("unusable", (), ())
    assert len(script.requests) == 2


def test_a_cut_off_answer_is_repaired_and_never_read_as_an_empty_one() -> None:
    cut = json.dumps(GOOD)[:-40]
    assessment, _ = assess(cut, GOOD)
    assert (assessment.outcome, len(assessment.credits)) == ("repaired", 1)
    assert assess(cut, cut)[0].outcome == "unusable"


@pytest.mark.parametrize("answer", ["{}", '{"agent": "answerer", "skill": "units"}'])
def test_an_object_without_any_part_of_an_answer_is_unusable(answer: str) -> None:
    assessment, script = assess(answer)
    assert assessment.outcome == "unusable"
    sent = script.requests[1].messages[-1].content
    assert "holds none of credits, feedback, diagnoses" in sent


def test_a_call_that_could_not_be_had_is_an_outcome() -> None:
    assessment, _ = assess(CallFailed("server busy"))
    assert (assessment.outcome, assessment.notes) == (UNAVAILABLE, (("server busy", 1),))


def test_a_cap_that_is_met_ends_the_run() -> None:
    with pytest.raises(BudgetReached):
        assess(BudgetReached("calls"))


def test_a_greedy_critic_carries_neither_seed_nor_sample() -> None:
    _, script = assess(GOOD, sampling=Sampling())
    assert (script.requests[0].seed, script.requests[0].sample) == (0, None)


def test_a_sampling_critic_has_a_seed_per_question() -> None:
    seeds = {assess(GOOD, group=make_group(q, [0.0, 1.0]))[1].requests[0].seed for q in "abc"}
    assert len(seeds) == 3


# --- aggregator -----------------------------------------------------------------------------------

MERGED = {"verdict": "refine", "utility_score": 0.3, "summary": "s", "suggested_edit": "e",
          "redundant_with": ["wording", "units"]}  # fmt: skip
TWO = [
    make_credit("q1", 0.5, Contribution.HELPFUL, edit="first", reason="r", redundant=("other",)),
    make_credit("q2", -0.3, Contribution.HARMFUL),
]
SKILL = make_skill("units")


def merge(*answers: Answer, credits_: Any = TWO, sampling: Sampling = SAMPLED,
          cap: int = 1200) -> tuple[EditDirection, Script]:  # fmt: skip
    script = Script(*answers)
    aggregator = Aggregator(make_seat(script.model, cap, sampling), -0.3)
    return asyncio.run(aggregator.direction(SKILL, credits_)), script


def test_a_single_credit_needs_no_call() -> None:
    direction, script = merge(AssertionError("asked"), credits_=TWO[:1])
    assert (direction.verdict, direction.mean_credit) == (Direction.REFINE, 0.5)
    assert script.requests == []


def test_the_verdict_is_the_models_and_the_mean_the_programs() -> None:
    direction, script = merge(MERGED)
    assert direction.mean_credit == pytest.approx(0.1)  # (0.5 − 0.3) / 2
    assert (direction.verdict, direction.utility_score) == (Direction.REFINE, 0.3)
    assert (direction.summary, direction.suggested_edit) == ("s", "e")
    assert direction.questions == ("q1", "q2")
    assert direction.redundant_with == ("other", "wording")
    payload = payload_of(script.requests[0])
    assert [c["credit"] for c in payload["credits"]] == [0.5, -0.3]
    assert payload["skill"]["name"] == "units"


@pytest.mark.parametrize(
    "answers",
    [
        [CallFailed("gone")],
        ["no", "no"],
        [{**MERGED, "verdict": "great"}],
        [{**MERGED, "utility_score": 1.5}],
        [{**MERGED, "utility_score": True}],
        [{**MERGED, "redundant_with": [1]}],
        [{"verdict": "keep"}],
    ],
)
def test_without_a_usable_answer_the_program_decides(answers: list[Answer]) -> None:
    direction, _ = merge(*answers)
    assert (direction.verdict, direction.suggested_edit) == (Direction.REFINE, "first")
    assert direction.utility_score == direction.mean_credit == pytest.approx(0.1)
    assert (direction.summary, direction.redundant_with) == ("r", ("other",))


def test_a_repaired_answer_is_used() -> None:
    direction, script = merge({**MERGED, "verdict": "great"}, {**MERGED, "verdict": "keep"})
    assert direction.verdict is Direction.KEEP
    assert "- verdict: 'great' is not one of" in script.requests[1].messages[-1].content


def test_optional_parts_may_be_missing() -> None:
    direction, _ = merge({"verdict": "low_utility", "utility_score": -1, "summary": ""})
    assert (direction.verdict, direction.utility_score) == (Direction.LOW_UTILITY, -1.0)
    assert (direction.suggested_edit, direction.redundant_with) == ("", ("other",))


def test_a_cap_met_while_merging_ends_the_run() -> None:
    with pytest.raises(BudgetReached):
        merge(BudgetReached("tokens"))


def test_the_request_is_bounded_and_seeded_by_its_questions() -> None:
    _, script = merge(MERGED)
    request = script.requests[0]
    schema = json.loads(request.schema)
    assert schema["title"] == "aggregate reply"
    assert 0.3 in schema["properties"]["utility_score"]["enum"]
    assert request.sample == 0
    other = merge(MERGED, credits_=[TWO[0], make_credit("q9", 0)])[1].requests[0]
    assert request.seed != other.seed
    greedy = merge(MERGED, sampling=Sampling())[1].requests[0]
    assert (greedy.seed, greedy.sample) == (0, None)
