"""Addresses, keys and model lists are checked before anything depends on them."""

from __future__ import annotations

import json

import pytest

from skillevo.errors import ConfigError, ServerError
from skillevo.llm import endpoint
from skillevo.llm.wire import BrokenReply


def test_public_url_hides_credentials() -> None:
    assert endpoint.public_url("https://me:secret@h:1/v1/?key=x") == "https://h:1/v1"


@pytest.mark.parametrize(
    "url", ["", "embeded", "localhost:8000/v1", "ftp://h/v1", "http://", "http://[", "http://h:x/"]
)
def test_what_is_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="no web address") as caught:
        endpoint.public_url(url)
    assert "base_url =" in caught.value.fix


@pytest.mark.parametrize("key", ["ключ", "a\nb", "a\x00"])
def test_key_that_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ConfigError, match="cannot be sent") as caught:
        endpoint.check_key("http://h", key)
    assert key not in caught.value.what + caught.value.why + caught.value.fix


def test_key_loses_the_newline_of_its_file() -> None:
    assert endpoint.check_key("http://h", "sk-1\n") == "sk-1"


@pytest.mark.parametrize(
    ("entry", "context"),
    [
        ({"max_model_len": 65536}, 65536),
        ({"meta": {"n_ctx": 4096}}, 4096),
        ({"meta": None}, None),
        ({"max_model_len": "big"}, None),
        ({}, None),
    ],
)
def test_context_is_read_where_servers_put_it(
    entry: dict[str, object], context: int | None
) -> None:
    payload = json.dumps({"data": [{"id": "m", **entry}, {"id": "n"}]}).encode()
    found = endpoint.read_models("http://h", "m", payload)
    assert (found.models, found.context_tokens) == (("m", "n"), context)


@pytest.mark.parametrize("served", [[], ["a"], [f"m{i}" for i in range(30)]])
def test_missing_model_names_what_is_served(served: list[str]) -> None:
    payload = json.dumps({"data": [{"id": name} for name in served]}).encode()
    with pytest.raises(ServerError, match="does not serve 'm'") as caught:
        endpoint.read_models("http://h", "m", payload)
    assert all(name in caught.value.why for name in served[:10])
    assert len(caught.value.why) < 200


@pytest.mark.parametrize("payload", [b"", b"[]", b"{}", b'{"data": {}}'])
def test_list_that_is_none_is_broken(payload: bytes) -> None:
    with pytest.raises(BrokenReply, match=r"JSON|list"):
        endpoint.read_models("http://h", "m", payload)
