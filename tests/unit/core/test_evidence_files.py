"""The files of a run's evidence: their shapes, their limits, and what they do not depend on."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from fakes.evolution import make_skill

from skillevo.core.evidence import dump, row_digest, trajectory_row
from skillevo.core.evidence_edit import EXCERPTS_BYTES, edit_file
from skillevo.core.evidence_iteration import Seen, decision_files, later_events, learning_files
from skillevo.schemas import load_schema, violations
from skillevo.types import (
    Assessment,
    Candidate,
    Citation,
    CommittedEdit,
    Contribution,
    Credit,
    Decision,
    Diagnosis,
    Edit,
    Feedback,
    Group,
    Library,
    Message,
    MethodState,
    Operator,
    Outcome,
    Question,
    Rejected,
    Score,
    Step,
    StepKind,
    StepResult,
    StopReason,
    Trajectory,
    Verdict,
)

OID = "0" * 40


def assert_valid(kind: str, text: str) -> Any:
    value = json.loads(text)
    assert value["kind"] == kind
    schema = {"$defs": load_schema("evidence")["$defs"], "$ref": f"#/$defs/{kind}"}
    assert violations(value, schema) == []
    assert violations(value, "evidence") == []
    return value


def trajectory(sample: int, output: str = "out", question: str = "q1") -> Trajectory:
    steps = tuple(
        Step(n, "reader", StepKind.MODEL, f"{output} {n}", (Message("user", "hello"),), "k" * 64)
        for n in range(30)
    )
    return Trajectory(question, sample, steps, "yes", StopReason.FINISHED, 1.0)


def group(output: str = "out") -> Group:
    # Sample 1 could not be had.
    return Group(
        Question("q1", "?", ("yes",)),
        (trajectory(0, output), trajectory(2, output)),
        (0.5, -0.5),
        3,
    )


def assessment(*steps: Citation) -> Assessment:
    return Assessment(
        "q1",
        "accepted",
        credits=(
            Credit("q1", "reader", "deep", -0.5, Contribution.HARMFUL, "r", (Citation(0, 1),)),
            Credit("q1", "reader", "other", 0.5, Contribution.HELPFUL, "r", (Citation(0, 2),)),
        ),
        feedback=(Feedback("q1", "reader", "f", "m"),),
        diagnoses=(
            Diagnosis("d-1", "q1", "reader", "deep", "format", steps, (Citation(0, 0),),
                      Operator.REFINE, "e"),
            Diagnosis("d-2", "q1", "reader", None, "format", (Citation(1, 9),), (),
                      Operator.INDUCE),
        ),
        rejected=(Rejected("q1", "diagnosis", "no such step", "{}"),),
        notes=(("cut", 1),),
        calls=("c" * 64,),
    )  # fmt: skip


EDIT = Edit(
    Operator.REFINE, "reader", "deep", make_skill("deep").text, (), "shorter", "Because.", 3, -0.5,
    diagnoses=("d-1",), author="m", prompt="sha256:1",
)  # fmt: skip


def written(output: str = "out", *steps: Citation) -> Any:
    seen = Seen(1)
    for one in group(output).trajectories:
        seen.rollout("training", one)
    text = edit_file(
        "run-0001",
        EDIT,
        1,
        None,
        [group(output)],
        [assessment(*(steps or (Citation(1, 5),)))],
        seen,
    )
    return assert_valid("edit", text)


def test_edit_quotes_the_steps_of_its_diagnoses_and_of_the_credits_of_its_skills() -> None:
    value = written()
    quoted = [(c["rollout"], c["sample"], c["step"], c["excerpt"]) for c in value["citations"]]
    assert quoted == [(1, 2, 5, "out 5"), (0, 0, 0, "out 0"), (0, 0, 1, "out 1")]
    assert [c["uses"][0] for c in value["citations"]] == [
        {"use": "cited", "source": "d-1"},
        {"use": "contrast", "source": "d-1"},
        {"use": "credit", "source": "reader/deep"},
    ]
    assert all(c["whole"] for c in value["citations"])
    (used,) = value["inputs"]["groups"]
    assert used["trajectories"] == [row_digest(trajectory_row(t)) for t in group().trajectories]
    assert value["inputs"]["before"] is None
    assert value["why"] == "Because."


def test_step_that_is_cited_twice_is_quoted_once() -> None:
    value = written("out", Citation(0, 1))
    uses = {c["step"]: [u["use"] for u in c["uses"]] for c in value["citations"]}
    assert uses == {1: ["cited", "credit"], 0: ["contrast"]}


@pytest.mark.parametrize("output", ["x" * 5000, "é" * 5000, "🙂" * 5000, "half \ud83d " * 600])
def test_excerpts_hold_sixteen_kibibytes_at_most(output: str) -> None:
    value = written(output, *(Citation(1, n) for n in range(30)))
    assert len(value["citations"]) == 32
    assert sum(len(c["excerpt"].encode()) for c in value["citations"]) <= EXCERPTS_BYTES
    assert not any(c["whole"] for c in value["citations"])
    assert value["citations"][0]["excerpt"]


def test_digest_of_a_trajectory_covers_everything_but_its_place() -> None:
    one = trajectory(0)
    digest = row_digest(trajectory_row(one))
    row = {key: trajectory_row(one)[key] for key in reversed(trajectory_row(one))}
    assert row_digest(row) == digest
    prompted = replace(one.steps[0], messages=(Message("user", "other"),))
    for other in (
        replace(one, answer="no"),
        replace(one, reward=0.5),
        replace(one, sample=1),
        replace(one, steps=(prompted, *one.steps[1:])),
    ):
        assert row_digest(trajectory_row(other)) != digest


def test_first_step_keeps_its_index() -> None:
    assert [step["index"] for step in trajectory_row(trajectory(0))["steps"][:2]] == [0, 1]


def test_events_do_not_depend_on_the_order_of_arrival() -> None:
    rollouts = [
        (phase, trajectory(sample, question=question))
        for phase in ("validation:reader", "training", "validation:base")
        for question in ("q2", "q1")
        for sample in (1, 0)
    ]
    texts = []
    for order in (rollouts, rollouts[::-1]):
        seen = Seen(1)
        for phase, one in order:
            seen.rollout(phase, one)
        texts.append(seen.events([{"event": "last"}]))
    assert texts[0] == texts[1]
    rows = [json.loads(line) for line in texts[0].splitlines()]
    assert [row.get("phase") for row in rows[::4]] == [
        "validation:base", "training", "validation:reader", None,
    ]  # fmt: skip


def test_files_of_an_iteration_keep_to_the_schema() -> None:
    step = StepResult((EDIT,), MethodState({("reader", "deep"): 0.25}, frozenset({"x", "a"})),
                      (assessment(Citation(1, 5)),))  # fmt: skip
    candidate = Candidate(
        "reader", 1, "b", OID, "1" * 40, Library("reader"), (CommittedEdit("run-0001", EDIT, OID),)
    )
    verdict = Verdict("reader", Decision.ACCEPT, 0.5, 0.75, None, 1, 1, 1, 0, "strict")
    outcome = Outcome(candidate, verdict, Decision.STALE, reason="moved")
    before, after = Score((("v1", 0.5), ("v2", 1.0)), 1), Score((("v1", 0.75),), 1)
    files = {
        **learning_files(1, step),
        **decision_files(1, before, [(after, outcome)], step.state),
    }
    kinds = {"credits", "diagnoses", "aggregate", "decision"}
    for kind in kinds:
        assert_valid(kind, files[f"iterations/001/{kind}.json"])
    state = assert_valid("method_state", files["iterations/001/state.json"])
    assert (state["utilities"], state["refused"]) == ({"reader/deep": 0.25}, ["a", "x"])
    scores = assert_valid("scores", files["iterations/001/scores/reader.json"])
    assert scores["questions"] == [
        {"question": "v1", "before": 0.5, "after": 0.75},
        {"question": "v2", "before": 1.0, "after": None},
    ]
    (told,) = json.loads(files["iterations/001/decision.json"])["agents"]
    assert (told["decision"], told["verdict"], told["reason"]) == ("stale", "accept", "moved")
    assert [e["event"] for e in later_events(1, [("q", "r")], step, [outcome])] == [
        "excluded", "assessed", "edit", "decision",
    ]  # fmt: skip


def test_file_says_what_it_is() -> None:
    assert json.loads(dump("run", {"run": "é"})) == {
        "schema_version": 1, "kind": "run", "run": "é",
    }  # fmt: skip
