"""Whatever JSON a critic sends, reading it gives checked values and never raises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.evolution import make_group, make_team
from hypothesis import given, settings
from hypothesis import strategies as st

from skillevo.ask.structured import parse_object
from skillevo.credit.citations import Constraints, constraints_of, diagnosis_fault
from skillevo.credit.narrow import critic_schema
from skillevo.credit.read import Reading, read_answer
from skillevo.schemas import violations

TEAM = make_team(reader=["quote"], answerer=["units", "wording"])
RULES = constraints_of(TEAM, make_group("q", [0.0, 1.0, 0.5]), ())

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
    | st.sampled_from([10**400, "9" * 400, "nan", "1e999", "answerer", "units", "induce", "null"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["rollout", "step", "agent", "x"]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
FIELDS = (
    "agent", "skill", "credit", "verdict", "reason", "evidence", "suggested_edit",
    "redundant_with", "feedback", "missing_capability", "failure_type", "edit_action",
    "cited_steps", "contrast_steps", "explanation",
)  # fmt: skip
citation = st.fixed_dictionaries({
    "rollout": st.integers(-1, 3) | anything, "step": st.integers(-1, 3) | anything,
})  # fmt: skip
plausible = {
    "agent": st.sampled_from(["reader", "ANSWERER", "answerer", "x"]),
    "skill": st.sampled_from(["units", "Quote", "wording", None, "null"]),
    "credit": st.floats(-2, 2) | st.sampled_from(["0.5", "-3"]),
    "verdict": st.sampled_from(["helpful", "harmful", "x"]),
    "failure_type": st.sampled_from(["format", "retrieval", "x"]),
    "edit_action": st.sampled_from(["induce", "refine", "x"]),
    "cited_steps": st.lists(citation, max_size=2),
    "contrast_steps": st.lists(citation, max_size=2),
    "feedback": st.text(max_size=4),
    "redundant_with": st.lists(st.sampled_from(["units", "wording", "x"]), max_size=3),
}
items = st.fixed_dictionaries(
    {}, optional={name: plausible.get(name, anything) | anything for name in FIELDS}
)
answers = st.fixed_dictionaries(
    {}, optional={k: st.lists(items, max_size=3) | anything
                  for k in ("credits", "feedback", "diagnoses")},
)  # fmt: skip


def check(reading: Reading) -> None:
    pairs = [(c.agent, c.skill) for c in reading.credits]
    assert len(set(pairs)) == len(pairs)
    assert all(skill in RULES.skills[agent] for agent, skill in pairs)
    assert all(-1 <= c.credit <= 1 for c in reading.credits)
    assert all(f.agent in RULES.skills for f in reading.feedback)
    for d in reading.diagnoses:
        assert not diagnosis_fault(
            RULES, d.agent, d.skill, d.failure_type, d.edit_action, d.cited_steps, d.contrast_steps
        )
    assert all(len(r.reason) <= 300 and r.reason for r in reading.rejected)


@settings(deadline=None)
@given(answers, st.booleans())
def test_reading_any_value_gives_only_checked_items(
    value: dict[str, Any], structured: bool
) -> None:
    check(read_answer(value, "q", RULES, structured=structured))


@settings(deadline=None)
@given(st.text(max_size=60) | answers.map(json.dumps) | anything.map(json.dumps))
def test_parsing_any_text_never_raises(text: str) -> None:
    value = parse_object(text)
    assert value is None or isinstance(value, dict)
    if value is not None:
        check(read_answer(value, "q", RULES, structured=True))


# --- the narrowed schema --------------------------------------------------------------------------

TALK = [("reader", "n"), ("answerer", "a")]
TOOLS = [("reader", "n"), ("reader", "tool"), ("reader", "n"), ("answerer", "a")]
SOLO = [("solo", "a")]
GROUPS = {
    "mixed": (TEAM, [0.0, 1.0, 0.5], [TALK] * 3),
    "uneven steps": (TEAM, [0.0, 1.0, 0.5, 1.0], [TALK, TOOLS, TOOLS, TALK]),
    "uneven without full": (TEAM, [0.1, 0.9, 0.9], [TOOLS, TALK, TOOLS]),
    "no full reward": (TEAM, [0.0, 0.8, 0.5, 0.8], [TALK] * 4),
    "equal and poor": (TEAM, [0.4, 0.4], [TALK] * 2),
    "all full": (TEAM, [1.0, 1.0], [TALK] * 2),
    "one rollout": (TEAM, [0.5], [TALK]),
    "an agent that never speaks": (TEAM, [0.0, 1.0], [[("answerer", "a")]] * 2),
    "no steps at all": (TEAM, [0.0, 1.0], [[], []]),
    "single agent": (make_team(solo=["one"]), [0.0, 1.0], [SOLO] * 2),
    "empty libraries": (make_team(solo=[]), [0.0, 0.3], [SOLO] * 2),
    "many skills": (
        make_team(solo=[f"skill-{n}" for n in range(12)], other=[f"s-{n}" for n in range(12)]),
        [0.0, 1.0], [[*SOLO, ("other", "b")]] * 2,
    ),
}  # fmt: skip


def rules_of(name: str) -> Constraints:
    team, rewards, layouts = GROUPS[name]
    return constraints_of(team, make_group("q", rewards, layouts), ("mood",))


def values_of(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a narrowed schema admits, its bounds included."""
    if "anyOf" in schema:
        return st.one_of([values_of(inner) for inner in schema["anyOf"]])
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "object":
            return st.fixed_dictionaries({k: values_of(v) for k, v in schema["properties"].items()})
        case "array":
            if schema["maxItems"] == 0:
                return st.just([])
            inner = values_of(schema["items"])
            return st.lists(inner, min_size=schema.get("minItems", 0), max_size=schema["maxItems"])
        case "string":
            longest = "x" * schema["maxLength"]
            return st.sampled_from(["a", longest] + ([] if schema.get("minLength") else [""]))
    assert schema["type"] == "null"
    return st.none()


@pytest.mark.parametrize("cap", [300, 4000])
@pytest.mark.parametrize("name", GROUPS)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_what_the_narrowed_schema_admits_is_read_without_a_rejection(
    data: st.DataObject, name: str, cap: int
) -> None:
    rules = rules_of(name)
    schema = critic_schema(rules, cap, structured=True)
    value = data.draw(values_of(schema))
    assert violations(value, schema) == []
    reading = read_answer(value, "q", rules, structured=True)
    assert reading.faults == []
    assert len(reading.diagnoses) == len(value.get("diagnoses", []))
    assert len(reading.feedback) == len(value.get("feedback", []))


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("structured", [True, False])
def test_a_narrowed_schema_is_a_valid_schema_without_empty_choices(
    name: str, structured: bool
) -> None:
    rules = rules_of(name)
    schema = critic_schema(rules, 4000, structured=structured)
    assert '"anyOf": []' not in json.dumps(schema)
    assert '"enum": []' not in json.dumps(schema)
    assert schema["title"] == "critic reply"
    assert ("credits" in schema["properties"]) is any(rules.skills.values())
    silent = name in ("all full", "no steps at all")
    assert ("diagnoses" in schema["properties"]) is (structured and not silent)


def test_rollouts_of_one_layout_share_an_entry() -> None:
    rules = rules_of("mixed")
    entries = critic_schema(rules, 4000, structured=True)["properties"]["diagnoses"]["items"]
    cited = entries["anyOf"][0]["properties"]["cited_steps"]["items"]
    assert cited["properties"] == {"rollout": {"enum": [0, 2]}, "step": {"enum": [0]}}
