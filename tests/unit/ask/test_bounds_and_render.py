"""Prompts filled by name, and schemas cut to what a cap allows."""

from __future__ import annotations

import hashlib
from importlib import resources

import pytest

from skillevo.ask.bounds import TENTHS, bound_strings, text_limit
from skillevo.ask.render import compact_json, digest, prompt, render, with_note
from skillevo.schemas import load_schema, violations

PROMPTS = sorted(
    path.name.removesuffix(".md")
    for path in (resources.files("skillevo.ask") / "prompts").iterdir()
    if path.name.endswith(".md")
)


@pytest.mark.parametrize("name", PROMPTS)
def test_every_prompt_starts_with_its_instructions_and_not_with_its_purpose_line(name: str) -> None:
    text = prompt(name)
    assert text == text.strip()
    assert len(text) > 100
    assert "<!--" not in text


def test_values_with_slots_are_never_expanded() -> None:
    text = render("repair", violations="- {{violations}} and {{other}}")
    assert "- {{violations}} and {{other}}" in text


def test_a_backslash_in_a_value_is_kept() -> None:
    assert r"\1 \g<0>" in render("repair", violations=r"\1 \g<0>")


def test_a_slot_without_a_value_is_a_bug() -> None:
    with pytest.raises(KeyError, match="violations"):
        render("repair")


def test_a_note_stands_after_the_prompt() -> None:
    assert with_note("text", " note\n") == "text\n\nnote"
    assert with_note("text", " \n") == "text"


def test_json_for_a_model_is_compact_and_keeps_text_and_order() -> None:
    assert compact_json({"b": "é", "a": [1, None]}) == '{"b":"é","a":[1,null]}'


def test_a_digest_is_that_of_the_text() -> None:
    assert digest("é") == "sha256:" + hashlib.sha256("é".encode()).hexdigest()


@pytest.mark.parametrize(
    ("cap", "most", "limit"), [(4000, 600, 600), (800, 600, 200), (100, 600, 40), (100, 30, 40)]
)
def test_a_string_may_have_a_quarter_of_the_cap(cap: int, most: int, limit: int) -> None:
    assert text_limit(cap, most) == limit


def test_bounds_are_cut_at_every_depth_and_never_raised() -> None:
    schema = {
        "properties": {
            "short": {"maxLength": 20},
            "long": {"maxLength": 9000},
            "list": {"maxItems": 50, "items": {"properties": {"x": {"maxLength": 900}}}},
            "few": {"maxItems": 2},
        }
    }
    cut = bound_strings(schema, 400)["properties"]
    assert cut["short"]["maxLength"] == 20
    assert cut["long"]["maxLength"] == 100
    assert cut["list"]["maxItems"] == 10
    assert cut["list"]["items"]["properties"]["x"]["maxLength"] == 100
    assert cut["few"]["maxItems"] == 2
    assert schema["properties"]["long"]["maxLength"] == 9000


@pytest.mark.parametrize("name", ["refine", "aggregate", "skill_draft"])
@pytest.mark.parametrize("cap", [1, 100, 1200])
def test_a_bounded_schema_stays_a_valid_schema(name: str, cap: int) -> None:
    bounded = bound_strings(load_schema(name), cap)
    assert violations({}, bounded)
    for inner in bounded["properties"].values():
        assert inner.get("minItems", 0) <= inner.get("maxItems", 99)
        assert inner.get("minLength", 0) <= inner.get("maxLength", 9999)


def test_scores_are_tenths() -> None:
    assert len(TENTHS) == 21
    assert (TENTHS[0], TENTHS[10], TENTHS[13], TENTHS[20]) == (-1.0, 0.0, 0.3, 1.0)
