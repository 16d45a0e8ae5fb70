"""Bounds of what a model may write, from the cap on its tokens: an answer must be able to end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MIN_TEXT = 40
TENTHS = [round(n / 10, 1) for n in range(-10, 11)]
"""Values of a score in [-1, 1]: a free number would run to ten digits in a small model."""


def text_limit(max_tokens: int, most: int) -> int:
    """Characters a string may have: a quarter of the cap in tokens, within [40, ``most``]."""
    return max(MIN_TEXT, min(most, max_tokens // 4))


def bound_strings(schema: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
    """The schema with every bounded string and list cut to what fits ``max_tokens``.

    A list may hold at most one item per 40 tokens of the cap.
    """
    out: dict[str, Any] = {
        key: bound_strings(value, max_tokens) if isinstance(value, Mapping) else value
        for key, value in schema.items()
    }
    if isinstance(out.get("maxLength"), int):
        out["maxLength"] = min(out["maxLength"], text_limit(max_tokens, out["maxLength"]))
    if isinstance(out.get("maxItems"), int):
        out["maxItems"] = max(1, min(out["maxItems"], max_tokens // 40))
    return out
