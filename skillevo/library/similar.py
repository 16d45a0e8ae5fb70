"""Finds nearly equal descriptions without comparing every pair."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

SIMILARITY = 0.8
_MAX_COMPARED = 20
_MIN_WORDS = 4
_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> frozenset[str]:
    """The distinct words of a text, case ignored."""
    return frozenset(_WORD.findall(text.casefold()))


def nearly_equal(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """True when the word sets overlap by a Jaccard index of at least 0.8, or are both the same."""
    if mine == theirs:
        return bool(mine)
    if min(len(mine), len(theirs)) < _MIN_WORDS:
        return False
    common = len(mine & theirs)
    return common >= SIMILARITY * (len(mine) + len(theirs) - common)


def similar_pairs(descriptions: Mapping[str, str]) -> list[tuple[str, str]]:
    """(later, earlier) for each key whose description is nearly that of an earlier key.

    Prefix filtering: two sets that overlap enough share one of their rarest words, so each set is
    compared only with those that do, and with at most 20 of them for each such word.
    """
    sets = {key: words_of(text) for key, text in descriptions.items()}
    frequency = Counter(word for words in sets.values() for word in words)
    first_with: dict[frozenset[str], str] = {}
    by_word: defaultdict[str, list[str]] = defaultdict(list)
    pairs = []
    for key, words in sets.items():
        if words in first_with:
            pairs.append((key, first_with[words]))
            continue
        if not words:
            continue
        first_with[words] = key
        rare = sorted(words, key=lambda word: (frequency[word], word))
        prefix = rare[: len(rare) - int(SIMILARITY * len(rare)) + 1]
        others = {other for word in prefix for other in by_word[word][-_MAX_COMPARED:]}
        match = _first(others, words, sets)
        if match is not None:
            pairs.append((key, match))
        for word in prefix:
            by_word[word].append(key)
    return pairs


def _first(
    others: set[str], words: frozenset[str], sets: Mapping[str, frozenset[str]]
) -> str | None:
    return next((key for key in sorted(others) if nearly_equal(words, sets[key])), None)
