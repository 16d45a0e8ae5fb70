"""Sharing repeated text in a payload loses nothing and repeats nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from skillevo.credit.payload import BREAK, MIN_SHARED, expand_texts, share_texts

LONG = ["é" * MIN_SHARED, "a long sentence that stands in many places. " * 2, "\n" + "x" * 60,
        "“quoted” 😀 " * 5, "y" * (MIN_SHARED - 1)]  # fmt: skip
blocks = st.sampled_from([*LONG, "", "short", "\n"])
texts = st.lists(blocks, min_size=1, max_size=4).map(BREAK.join) | st.text(max_size=8)
leaves = texts | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
keys = st.sampled_from(["a", "b", "ref", "parts", "texts"])
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=16,
)
# What the program never builds: a mapping that reads as a reference.
payloads = st.dictionaries(st.sampled_from(["a", "b", "c"]), values, max_size=3).filter(
    lambda payload: not any(_reads_as_reference(node) for node in _nodes(payload))
)


def _nodes(value: Any) -> Iterator[Any]:
    yield value
    for item in value.values() if isinstance(value, dict) else value if _is_list(value) else ():
        yield from _nodes(item)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _reads_as_reference(node: Any) -> bool:
    if not isinstance(node, dict) or len(node) != 1:
        return False
    (key, value), *_ = node.items()
    if key == "ref":
        return isinstance(value, str)
    return key == "parts" and _is_list(value) and all(_is_part(part) for part in value)


def _is_part(node: Any) -> bool:
    return isinstance(node, str) or _reads_as_reference(node)


@settings(deadline=None)
@given(payloads)
def test_expanding_gives_the_payload_back(payload: dict[str, Any]) -> None:
    shared = share_texts(payload)
    assert expand_texts(shared) == payload
    through_json = json.loads(json.dumps(shared, ensure_ascii=False))
    assert expand_texts(through_json) == payload


@settings(deadline=None)
@given(payloads)
def test_each_shared_text_occurs_once_and_is_referred_to_at_least_twice(
    payload: dict[str, Any],
) -> None:
    shared = share_texts(payload)
    bodies = {id_: expand_texts({"shared_texts": shared["shared_texts"], "x": {"ref": id_}})["x"]
              for id_ in shared["shared_texts"]}  # fmt: skip
    assert len(set(bodies.values())) == len(bodies)
    assert all(len(body) >= MIN_SHARED for body in bodies.values())
    written = json.dumps(shared)
    for id_, body in bodies.items():
        assert written.count(json.dumps({"ref": id_})) >= 2
        plain = [node for node in _nodes(shared) if isinstance(node, str)]
        occurrences = sum(text == body or body in text.split(BREAK) for text in plain)
        assert occurrences == (0 if isinstance(shared["shared_texts"][id_], dict) else 1)


@settings(deadline=None)
@given(st.lists(st.sampled_from(LONG), min_size=2, max_size=6))
def test_sharing_never_repeats_a_long_block(parts: list[str]) -> None:
    payload = {"first": BREAK.join(parts), "second": [BREAK.join(parts[::-1]), parts[0]]}
    written = json.dumps(share_texts(payload), ensure_ascii=False)
    for part in set(parts):
        if len(part) >= MIN_SHARED:
            assert written.count(json.dumps(part, ensure_ascii=False)[1:-1]) == 1
