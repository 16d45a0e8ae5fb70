"""docs/config.md tells every key and default of the schema, and tells them truly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes.golden import assert_golden
from tools.config_page import MODEL_DEFAULTS, page

from skillevo.config import load_config
from skillevo.schemas import load_schema
from skillevo.types import ModelRole

PAGE = Path(__file__).parents[3] / "docs" / "config.md"
MINIMAL = """
[team]
agents = [{name = "one", role = "role.md"}]
[task]
train = "t"
validation = "v"
[models.actor]
base_url = "URL"
model = "m"
"""


def keys(schema: dict[str, Any], at: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for key, sub in schema.get("properties", {}).items():
        yield f"{at}{key}", sub
        yield from keys(sub, f"{at}{key}.")
        yield from keys(sub.get("items", {}), f"{at}{key}.")


def every_key() -> list[tuple[str, dict[str, Any]]]:
    schema = load_schema("config")
    return [*keys(schema), *keys(schema["$defs"]["model"], "model.")]


def test_page_is_made_from_the_schema() -> None:
    assert_golden(PAGE, page())


def test_every_key_has_a_description() -> None:
    for name, sub in every_key():
        assert "$ref" in sub or sub.get("description", "").endswith("."), name


def test_every_key_is_on_the_page() -> None:
    text = page()
    for name, sub in every_key():
        if name == "models":
            continue
        key = name.rpartition(".")[2]
        if "properties" in sub or "$ref" in sub or "properties" in sub.get("items", {}):
            assert f"{key}]" in text, name
        else:
            assert f"| `{key}` |" in text, name


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "embedded"])
def test_defaults_of_models_on_the_page_are_those_that_apply(tmp_path: Path, url: str) -> None:
    (tmp_path / "skillevo.toml").write_text(MINIMAL.replace("URL", url))
    (tmp_path / "role.md").write_text("Answer.")
    models = load_config(tmp_path).models
    remote = url != "embedded"
    for role, table in models.items():
        assert str(table.max_tokens) in told("max_tokens", role)
        assert table.context_tokens == int(pick("context_tokens", remote))
        assert table.in_flight == int(pick("in_flight", remote))
        assert f'"{table.thinking}"' == pick("thinking", remote)
        assert table.timeout_s == float(MODEL_DEFAULTS["timeout_s"])
        for key in ("temperature", "top_p", "top_k"):
            assert getattr(table.sampling, key) == float(told(key, role).split()[-1]), key
        for key in ("min_p", "presence_penalty", "frequency_penalty", "repetition_penalty"):
            assert getattr(table.sampling, key) == float(MODEL_DEFAULTS[key]), key


def pick(key: str, remote: bool) -> str:
    server, _, embedded = MODEL_DEFAULTS[key].partition("; embedded ")
    return server if remote else embedded


def told(key: str, role: ModelRole) -> str:
    parts = MODEL_DEFAULTS[key].replace(";", ",").split(", ")
    named = [part for part in parts if part.startswith(role.value)]
    return named[0] if named else next(part for part in parts if part.startswith("others"))
