"""A run told as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from skillevo.library.diff import ChangeKind, FieldChange, SkillChange
from skillevo.report.as_json import diff_json, run_json
from skillevo.report.as_text import (
    WIDTH,
    closing_lines,
    cut,
    diff_lines,
    edit_line,
    iteration_lines,
    simulated_lines,
    verdict_line,
)
from skillevo.types import (
    AgentResult,
    CommittedEdit,
    CriticCounts,
    Decision,
    Edit,
    IterationResult,
    ModelRole,
    Operator,
    Refusal,
    RoleUsage,
    RunResult,
    Usage,
    Verdict,
)

VERDICT = Verdict(
    agent="answerer", decision=Decision.ACCEPT, base=0.25, score=0.5, standard_error=0.125,
    n=20, repeats=1, better=6, worse=1, policy="tolerance 0.02",
)  # fmt: skip
EDIT = Edit(
    operator=Operator.REFINE, agent="answerer", skill="units", text="x", removes=(),
    summary="say the unit", why="7 questions", support=7, utility=None, diagnoses=(), sources=(),
    author="m", prompt="sha256:1",
)  # fmt: skip
COMMITTED = CommittedEdit(id="one-0001", edit=EDIT, commit="c" * 40)
ITERATION = IterationResult(
    index=1, base_score=0.25, groups=8, mean_reward=0.5, contrast=6, excluded=(),
    critic=CriticCounts(accepted=8),
    agents=(
        AgentResult("reader", (), Decision.UNCHANGED),
        AgentResult("answerer", (COMMITTED,), Decision.ACCEPT, VERDICT, "m" * 40),
    ),
    refusals=(),
)  # fmt: skip
RESULT = RunResult(
    run="one", base="b" * 40, branch="skillevo/one/main", head="m" * 40, iterations=(ITERATION,),
    final_score=0.5, not_done=(),
)  # fmt: skip


def usage(*roles: RoleUsage) -> Usage:
    return Usage(roles=roles, in_flight=0, elapsed_s=0.0)


def test_verdict_is_one_line_with_everything_it_needs() -> None:
    line = verdict_line(VERDICT)
    assert line.split() == (
        "answerer ACCEPT 0.250 -> 0.500 +0.250 ± 0.125 6 better, 1 worse of 20".split()
    )
    assert len(line) <= WIDTH


def test_error_that_cannot_be_known_is_said_in_words() -> None:
    assert "± n/a" in verdict_line(replace(VERDICT, standard_error=None))


def test_indecisive_verdict_says_what_would_decide() -> None:
    verdict = replace(VERDICT, decision=Decision.INDECISIVE, reason="9 more rollouts would decide")
    assert verdict_line(verdict).endswith(": 9 more rollouts would decide")


def test_iteration_tells_each_agent_and_each_edit() -> None:
    text = "\n".join(iteration_lines(ITERATION, 4))
    assert "8 questions x 4 rollouts" in text
    assert "reader    unchanged" in text
    assert "ccccccccc refine units: say the unit" in text


def test_exclusions_and_refusals_are_told_with_a_reason() -> None:
    iteration = replace(
        ITERATION,
        excluded=(("q1", "the server was gone"), ("q2", "x")),
        refusals=(Refusal(Operator.INDUCE, "reader", "", "no pattern"),),
    )
    text = "\n".join(iteration_lines(iteration, 4))
    assert "left out: 2 (q1: the server was gone)" in text
    assert "no pattern" in text


@pytest.mark.parametrize("summary", ["word " * 100, "\x1b[31m red", "two\nlines", "‮evil"])
def test_text_of_a_model_stays_on_one_printable_line(summary: str) -> None:
    line = edit_line(replace(COMMITTED, edit=replace(EDIT, summary=summary)))
    assert line.isprintable()
    assert len(line) <= WIDTH


def test_long_text_is_cut_with_a_mark() -> None:
    assert cut("x" * 200) == "x" * 77 + "..."
    assert cut("x" * 80) == "x" * 80


def test_tokens_that_nobody_reported_are_said_in_words() -> None:
    lines = closing_lines(RESULT, usage(RoleUsage(ModelRole.ACTOR, issued=2)))
    assert "tokens: not reported by the server" in lines
    assert "tokens: none" in closing_lines(RESULT, usage())


def test_score_is_told_as_a_change_and_never_as_zero() -> None:
    assert closing_lines(RESULT, usage())[0] == "validation score: 0.250 -> 0.500 (+0.250)"
    unknown = replace(RESULT, final_score=None)
    assert closing_lines(unknown, usage())[0] == "validation score: 0.250 -> not measured"
    nothing = replace(RESULT, final_score=None, iterations=())
    assert closing_lines(nothing, usage())[0] == "validation score: not measured"
    only = replace(RESULT, iterations=())
    assert closing_lines(only, usage())[0] == "validation score: 0.500"


def test_what_was_not_done_is_told_in_short_lines() -> None:
    lines = closing_lines(replace(RESULT, not_done=("iteration 2 " + "not " * 40,)), usage())
    assert any(line.startswith("not done: iteration 2") for line in lines)
    assert max(map(len, lines)) <= WIDTH


def test_simulated_runs_are_labelled_and_others_are_not() -> None:
    assert simulated_lines(()) == []
    assert simulated_lines(("one", "two")) == ["(simulated, no language model: one, two)"]


def test_json_keeps_unknown_numbers_null() -> None:
    roles = (RoleUsage(ModelRole.ACTOR, issued=2), RoleUsage(ModelRole.CRITIC, prompt_tokens=3))
    value = run_json(replace(RESULT, final_score=None), usage(*roles), simulated=False)
    assert value["final_score"] is None
    assert value["tokens"]["actor"] == {"prompt": None, "completion": None, "cached": None}
    assert value["tokens"]["critic"]["prompt"] == 3
    reader, answerer = value["iterations"][0]["agents"]
    assert (reader["score"], reader["decision"], reader["merge"]) == (None, "unchanged", None)
    assert (answerer["score"], answerer["standard_error"]) == (0.5, 0.125)
    json.dumps(value)


CHANGE = SkillChange(
    agent="reader", skill="both", change=ChangeKind.ADDED, sources=("a", "b"),
    fields=(FieldChange("description", None, "new " * 50),), tokens_before=10, tokens_after=20,
    red_flags=("a new address",),
)  # fmt: skip


def test_diff_tells_origin_size_fields_and_flags() -> None:
    lines = diff_lines([CHANGE])
    assert lines[0] == "added reader/both (from a + b), 10 -> 20 tokens"
    assert lines[1].startswith("  description: - -> new new")
    assert lines[-1] == "  red flag: a new address"
    assert max(map(len, lines)) <= WIDTH
    assert diff_lines([]) == ["no change in any skill"]


def test_diff_as_json_keeps_whole_texts() -> None:
    (skill,) = diff_json([CHANGE])["skills"]
    assert skill["from"] == ["a", "b"]
    assert skill["fields"] == [{"field": "description", "before": None, "after": "new " * 50}]
