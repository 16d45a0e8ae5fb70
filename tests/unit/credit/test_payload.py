"""The critic's payload: steps, tools, skill use, and texts that stand once."""

from __future__ import annotations

from dataclasses import replace

from fakes.evolution import make_group, make_team, make_trajectory

from skillevo.core.advantage import advantages
from skillevo.credit.payload import BREAK, MIN_SHARED, expand_texts, group_payload, share_texts
from skillevo.types import Group, Message, Question, Step, StepKind, TraceKind, TraceRow

TEAM = make_team(solo=["units"])
PROMPT = "You are the solo agent, and these are your instructions in full."


def test_tool_steps_and_model_steps_are_told_apart() -> None:
    steps = (
        Step(0, "solo", StepKind.MODEL, "look", (Message("system", "s"), Message("user", "u"))),
        Step(1, "solo", StepKind.TOOL, "found", tool="search", argument="x"),
        Step(2, "solo", StepKind.MODEL, "done", truncated=True),
    )
    trajectory = replace(
        make_trajectory("q", 1 / 3, []),
        steps=steps,
        answer="done",
        trace=(TraceRow("solo", "units", TraceKind.EXPOSED, 0),),
    )
    group = Group(Question("q", "Q", ("x",)), (trajectory,), advantages([1 / 3]), 1)
    (rollout,) = group_payload(TEAM, group, frozenset(), category=True, constraints=False)[
        "rollouts"
    ]
    assert rollout["steps"] == [
        {"step": 0, "agent": "solo", "input": ["s", "u"], "output": "look", "cut_off": False},
        {"step": 1, "agent": "solo", "tool": "search", "argument": "x", "result": "found"},
        {"step": 2, "agent": "solo", "input": [], "output": "done", "cut_off": True},
    ]
    assert rollout["skill_use"] == [
        {"agent": "solo", "skill": "units", "kind": "exposed", "step": 0}
    ]
    assert (rollout["reward"], rollout["final_answer"]) == (0.3333, "done")


def test_a_question_without_a_category_is_not_grouped() -> None:
    payload = group_payload(TEAM, make_group("q", [1.0]), frozenset({0}), category=True,
                            constraints=True)  # fmt: skip
    assert payload["task_category"] == "not_grouped"


def test_a_repeated_text_stands_once_and_a_short_one_stays() -> None:
    short = "x" * (MIN_SHARED - 1)
    shared = share_texts({"a": [PROMPT, PROMPT, short, short], "n": [1, None, True]})
    assert shared == {
        "shared_texts": {"t1": PROMPT},
        "a": [{"ref": "t1"}, {"ref": "t1"}, short, short],
        "n": [1, None, True],
    }


def test_blocks_of_different_texts_are_shared_and_others_stay_in_place() -> None:
    first, second = f"Q1{BREAK}{PROMPT}{BREAK}a{BREAK}b", f"{PROMPT}{BREAK}c"
    shared = share_texts({"a": first, "b": second})
    assert shared["shared_texts"] == {"t1": PROMPT}
    assert shared["a"] == {"parts": ["Q1", {"ref": "t1"}, f"a{BREAK}b"]}
    assert shared["b"] == {"parts": [{"ref": "t1"}, "c"]}
    assert expand_texts(shared) == {"a": first, "b": second}


def test_a_text_repeated_whole_is_not_cut_into_its_blocks() -> None:
    whole = BREAK.join([PROMPT, "z" * MIN_SHARED])
    assert share_texts({"a": [whole] * 3}) == {
        "shared_texts": {"t1": whole}, "a": [{"ref": "t1"}] * 3,
    }  # fmt: skip


def test_a_skill_inside_a_repeated_prompt_stands_once_in_all() -> None:
    body = "Reply with the shortest words that answer the question."
    prompt = BREAK.join([PROMPT, "## Skills", body])
    shared = share_texts({"libraries": [body], "inputs": [prompt, prompt]})
    assert shared["libraries"] == [{"ref": "t1"}]
    assert shared["shared_texts"]["t2"] == {"parts": [f"{PROMPT}{BREAK}## Skills", {"ref": "t1"}]}
    assert expand_texts(shared) == {"libraries": [body], "inputs": [prompt, prompt]}


def test_agents_may_be_called_like_the_marks() -> None:
    for name in ("ref", "parts"):
        for skills in ([], ["units"]):
            team = make_team(**{name: skills})
            group = make_group("q", [0.0, 1.0], [[(name, "a")]] * 2)
            payload = group_payload(team, group, frozenset({1}), category=False, constraints=True)
            assert expand_texts(share_texts(payload)) == payload


def test_nothing_repeated_gives_no_shared_texts() -> None:
    assert share_texts({"a": "b"}) == {"shared_texts": {}, "a": "b"}
