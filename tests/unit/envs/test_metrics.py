"""Every metric over a table of cases, and metrics found by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillevo.envs.metrics import METRICS, metric, normalise
from skillevo.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Eiffel\tTower!", "eiffel tower"),
        ("a an the", ""),
        ("Another theory", "another theory"),
        ("U.S.A.", "usa"),
        ("ÉCOLE Straße", "école straße"),
        ("", ""),
        ("東京", "東京"),
    ],
)
def test_normalising(text: str, expected: str) -> None:
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("name", "answer", "references", "expected"),
    [
        ("exact", "The Eiffel Tower.", ["eiffel tower"], 1),
        ("exact", "Eiffel", ["eiffel tower", "Eiffel!"], 1),
        ("exact", "Eiffel tower is it", ["eiffel tower"], 0),
        ("exact", "É", ["é"], 1),
        ("exact", "", ["x"], 0),
        ("contains", "It is the Eiffel Tower, yes", ["Eiffel Tower"], 1),
        ("contains", "towering", ["tower"], 0),
        ("contains", "anything", ["the", ""], 0),
        ("contains", "in 東京 today", ["東京"], 1),
        ("contains", "", ["x"], 0),
        # shared 2 of 3 and 2 tokens: 2·2/(3 + 2) = 0.8
        ("token_f1", "big Eiffel Tower", ["eiffel tower"], 0.8),
        ("token_f1", "the the Eiffel", ["eiffel"], 1),
        # multiset: one of two "na" is wanted: 2·1/(2 + 1)
        ("token_f1", "na na", ["na"], 2 / 3),
        ("token_f1", "x", ["y", "x z", "x"], 1),
        ("token_f1", "x", ["y"], 0),
        ("token_f1", "", ["x"], 0),
        ("token_f1", "", ["the"], 0),
        ("number", "It costs $1,234.50 in all", ["1234.5"], 1),
        ("number", "first 3, then 12,000,000.", ["12000000"], 1),
        ("number", "12 000", ["12000"], 0),
        ("number", "-5", ["5"], 0),
        ("number", "minus: -5", ["-5.0"], 1),
        ("number", "1e3", ["1000"], 1),
        ("number", ".5", ["0.5"], 1),
        ("number", "from 2019-2020", ["2020"], 1),
        ("number", "COVID-19", ["19"], 1),
        ("number", "2-3", ["3"], 1),
        ("number", "x = -2", ["-2"], 1),
        ("number", "+7", ["7"], 1),
        ("number", "1.0000001", ["1"], 1),
        ("number", "1.00001", ["1"], 0),
        ("number", "0", ["0.0"], 1),
        ("number", "none", ["1"], 0),
        ("number", "3", ["none"], 0),
        ("number", "3", ["four", "three: 3"], 1),
        ("number", "٣", ["3"], 1),
        ("number", "1" * 400, ["1"], 0),
        ("json", '{"a": [1, 2]}', ['{"a":[1,2.0]}'], 1),
        ("json", 'Here:\n```json\n{"a": 1}\n```\nDone.', ['{"a": 1}'], 1),
        ("json", "```\n[1]\n```", ["[2]", "[1]"], 1),
        ("json", '{"b": 1, "a": 2}', ['{"a": 2, "b": 1}'], 1),
        ("json", "[1, 2]", ["[2, 1]"], 0),
        ("json", '"é"', ['"\\u00e9"'], 1),
        ("json", "no json", ["1"], 0),
        ("json", "", ["1"], 0),
        ("json", "true", ["1"], 0),
        ("json", "[false]", ["[0]", "[false]"], 1),
        ("json", '"x"', ["x"], 1),
        ("json", "[2]", ["no json", "[2.0]"], 1),
        ("json", "[" * 99_999, ["1"], 0),
    ],
)
def test_a_metric(name: str, answer: str, references: list[str], expected: float) -> None:
    assert metric(name)(answer, references) == pytest.approx(expected)


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=30, deadline=None)
@given(
    answer=st.text(max_size=30), references=st.lists(st.text(max_size=20), min_size=1, max_size=3)
)
def test_a_metric_is_in_range_and_never_raises(
    name: str, answer: str, references: list[str]
) -> None:
    assert 0.0 <= METRICS[name](answer, references) <= 1.0


# --- by name --------------------------------------------------------------------------------------

MODULE = """
def half(answer, references):
    return 0.5

constant = 3
"""


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "own_metric_for_test.py").write_text(MODULE)
    (tmp_path / "broken_metric_for_test.py").write_text("def (:\n")
    (tmp_path / "unbound_metric_for_test.py").write_text("nothing_of_this_name\n")
    (tmp_path / "raising_metric_for_test.py").write_text("1 / 0\n")
    (tmp_path / "leaving_metric_for_test.py").write_text("raise SystemExit(0)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return "own_metric_for_test"


def test_a_function_of_ones_own_can_be_named(own_module: str) -> None:
    assert metric(f"python:{own_module}:half")("x", ["y"]) == 0.5


@pytest.mark.parametrize(
    "name", ["f1", "", "python", "python:", "python:module", "python::f", "py:a:b"]
)
def test_an_unknown_name_lists_what_there_is(name: str) -> None:
    with pytest.raises(ConfigError, match="there is no metric") as caught:
        metric(name)
    assert "token_f1" in caught.value.why


@pytest.mark.parametrize(
    "target",
    ["no_such_module_here:f", "own_metric_for_test:absent", "broken_metric_for_test:f",
     "unbound_metric_for_test:f", "raising_metric_for_test:f", "leaving_metric_for_test:f",
     ".relative:f", "..:f"],
)  # fmt: skip
def test_a_function_that_cannot_be_loaded_is_the_users_to_mend(
    own_module: str, target: str
) -> None:
    with pytest.raises(ConfigError, match="cannot be loaded") as caught:
        metric(f"python:{target}")
    assert caught.value.why
    assert caught.value.fix


def test_a_name_that_is_no_function_is_told(own_module: str) -> None:
    with pytest.raises(ConfigError, match="is no function"):
        metric(f"python:{own_module}:constant")
