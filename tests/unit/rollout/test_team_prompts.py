"""What agents are sent: order of speech, byte-stable prompts, and a history that only grows."""

from __future__ import annotations

import itertools

from fakes.evolution import make_skill, make_team

from skillevo.rollout.team import TOPOLOGIES, Sequential, exposure_trace, system_prompt
from skillevo.types import Agent, Message, Question, Step, StepKind, TraceKind, TraceRow

TEAM = make_team(reader=[make_skill("b-skill", "Body B."), make_skill("a-skill", "Body A.")],
                 answerer=[])  # fmt: skip
QUESTION = Question("q", "What is it?", ("x",), context="Line one.\n\nLine two.")
TOPOLOGY = Sequential()


def said(index: int, agent: str, output: str) -> Step:
    return Step(index, agent, StepKind.MODEL, output)


def tool(index: int, agent: str, output: str) -> Step:
    return Step(index, agent, StepKind.TOOL, output, tool="search", argument="x")


def test_the_prompt_of_an_agent_is_its_role_then_the_bodies_of_its_skills_by_name() -> None:
    system, user = TOPOLOGY.messages(TEAM, "reader", QUESTION, [])
    assert system == Message("system", "You are the reader.\n\n## Skills\n\nBody A.\n\nBody B.")
    assert user == Message("user", "Text:\nLine one.\n\nLine two.\n\nQuestion: What is it?")


def test_an_agent_without_skills_has_its_role_alone() -> None:
    assert system_prompt(Agent("x", "Role."), ()) == "Role."


def test_later_agents_see_the_notes_of_those_before() -> None:
    steps = [said(0, "reader", " A note.\n")]
    _, user = TOPOLOGY.messages(TEAM, "answerer", QUESTION, steps)
    assert user.content.endswith("\n\nQuestion: What is it?\n\nNote from reader:\nA note.")


def test_a_question_without_context_is_asked_alone() -> None:
    bare = Question("q", "What?", ("x",))
    assert TOPOLOGY.messages(TEAM, "reader", bare, [])[1].content == "Question: What?"


def test_each_agent_speaks_once_in_order() -> None:
    assert TOPOLOGY.next_agent(TEAM, []) == "reader"
    one = [said(0, "reader", "n")]
    assert TOPOLOGY.next_agent(TEAM, one) == "answerer"
    two = [*one, said(1, "answerer", "a")]
    assert TOPOLOGY.next_agent(TEAM, two) is None
    assert TOPOLOGY.answer(two) == "a"
    assert TOPOLOGY.answer([]) == ""


def test_an_agent_that_uses_tools_has_not_ended_its_turn() -> None:
    steps = [said(0, "reader", "call"), tool(1, "reader", "found")]
    assert TOPOLOGY.next_agent(TEAM, steps) == "reader"
    steps.append(said(2, "reader", "note"))
    assert TOPOLOGY.next_agent(TEAM, steps) == "answerer"


def test_the_history_of_one_agent_only_appends_messages() -> None:
    before = [said(0, "reader", "note")]
    own: list[Step] = []
    prompts = [TOPOLOGY.messages(TEAM, "answerer", QUESTION, before)]
    for turn in range(3):
        own += [said(1 + 2 * turn, "answerer", f"call {turn}"), tool(2 + 2 * turn, "answerer", "r")]
        prompts.append(TOPOLOGY.messages(TEAM, "answerer", QUESTION, [*before, *own]))
    for shorter, longer in itertools.pairwise(prompts):
        assert longer[: len(shorter)] == shorter
        assert len(longer) == len(shorter) + 2
    assert prompts[-1][2:4] == (
        Message("assistant", "call 0"), Message("user", "Result of search:\nr"),
    )  # fmt: skip


def test_prompts_do_not_depend_on_the_rollout() -> None:
    once = TOPOLOGY.messages(TEAM, "reader", QUESTION, [])
    other = make_team(answerer=[], reader=[*TEAM.library("reader").skills])
    assert TOPOLOGY.messages(other, "reader", QUESTION, []) == once


def test_the_trace_tells_exposure() -> None:
    assert exposure_trace(TEAM, QUESTION, "reader", 3) == (
        TraceRow("reader", "a-skill", TraceKind.EXPOSED, 3),
        TraceRow("reader", "b-skill", TraceKind.EXPOSED, 3),
    )
    assert exposure_trace(TEAM, QUESTION, "answerer", 1) == ()


def test_topologies_are_found_by_name() -> None:
    assert TOPOLOGIES["sequential"] == TOPOLOGY
