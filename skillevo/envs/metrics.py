"""Metrics of one answer against its references; each gives a reward in [0, 1], higher is better."""

from __future__ import annotations

import importlib
import json
import math
import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from skillevo.errors import ConfigError

Metric = Callable[[str, Sequence[str]], float]

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
# A hyphen after a word or a number is no sign: 2019-2020.
_NUMBER = re.compile(r"(?:(?<!\w)[-+])?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?")


def normalise(text: str) -> str:
    """Lower case without punctuation and English articles, single spaces (the SQuAD convention)."""
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact(answer: str, references: Sequence[str]) -> float:
    """1 when the normalised answer equals a normalised reference."""
    return float(any(normalise(answer) == normalise(reference) for reference in references))


def contains(answer: str, references: Sequence[str]) -> float:
    """1 when a normalised reference stands in the normalised answer as whole words."""
    words = f" {normalise(answer)} "
    return float(any(f" {normalise(r)} " in words for r in references if normalise(r)))


def token_f1(answer: str, references: Sequence[str]) -> float:
    """The best multiset F1 of normalised tokens over the references; 0 when nothing is shared."""
    return max(_token_f1(answer, reference) for reference in references)


def _token_f1(answer: str, reference: str) -> float:
    given, wanted = Counter(normalise(answer).split()), Counter(normalise(reference).split())
    shared = (given & wanted).total()
    return 2 * shared / (given.total() + wanted.total()) if shared else 0.0


def number(answer: str, references: Sequence[str]) -> float:
    """1 when the last number of the answer equals the number of a reference, to 1e-6 relative."""
    given = _last_number(answer)
    wanted = [value for r in references if (value := _last_number(r)) is not None]
    if given is None:
        return 0.0
    return float(any(math.isclose(given, value, rel_tol=1e-6, abs_tol=1e-9) for value in wanted))


def _last_number(text: str) -> float | None:
    found = _NUMBER.findall(text)
    return float(found[-1].replace(",", "")) if found else None


def json_equal(answer: str, references: Sequence[str]) -> float:
    """1 when the answer, read as JSON (a code fence around it is allowed), equals a reference.

    Numbers are equal by value (1 and 1.0), but true is no 1. A reference that is no JSON counts as
    the string it is.
    """
    fenced = re.search(r"```(?:json)?\s*\n(.*?)```", answer, re.DOTALL)
    try:
        given = json.loads(fenced[1] if fenced else answer)
    except (ValueError, RecursionError):
        return 0.0
    return float(any(_same(given, _json_or_text(reference)) for reference in references))


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b)


METRICS: dict[str, Metric] = {
    "exact": exact,
    "contains": contains,
    "token_f1": token_f1,
    "number": number,
    "json": json_equal,
}


def metric(name: str) -> Metric:
    """The metric of that name, or the function that ``python:module:function`` names.

    Raises ConfigError when there is none.
    """
    if name in METRICS:
        return METRICS[name]
    scheme, _, target = name.partition(":")
    module, _, function = target.partition(":")
    if scheme != "python" or not module or not function:
        raise ConfigError(
            f"task.metric: there is no metric {name!r}",
            why=f"known metrics: {', '.join(METRICS)}, python:module:function",
            fix='set metric = "token_f1" in [task]',
        )
    try:
        found = getattr(importlib.import_module(module), function)
    except (Exception, SystemExit) as error:
        # The module runs when it is imported: anything may come out of it.
        raise ConfigError(
            f"task.metric: {name!r} cannot be loaded",
            why=f"{type(error).__name__}: {error}",
            fix=f"put {module}.py beside skillevo.toml or install it, and see that it imports",
        ) from error
    if not callable(found):
        raise ConfigError(f"task.metric: {name!r} is no function", fix="name a function")
    scored: Metric = found
    return scored
