"""Every seed comes from the run's one seed and what the call is for."""

from __future__ import annotations

import inspect
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillevo.core.seeds import Phase, call_seed, derive_seed, draw

ids = st.lists(st.text(st.characters(codec="utf-8"), max_size=6), unique=True, max_size=20)


def test_a_seed_is_the_first_31_bits_of_a_sha256_and_stays_the_same_for_ever() -> None:
    # sha256 of the JSON text [7, "a", 1], first four bytes, shifted right by one.
    assert derive_seed(7, "a", 1) == 1727489321
    assert derive_seed(7, "a", "1") != derive_seed(7, "a", 1)
    assert derive_seed(7, "ab", "c") != derive_seed(7, "a", "bc")


@given(st.integers(), st.lists(st.text(st.characters(codec="utf-8")) | st.integers(), max_size=4))
def test_seeds_fit_a_signed_32_bit_integer(seed: int, parts: list[str | int]) -> None:
    assert 0 <= derive_seed(seed, *parts) < 2**31


def test_no_seed_of_a_rollout_can_depend_on_the_library() -> None:
    assert list(inspect.signature(call_seed).parameters) == [
        "run_seed", "phase", "iteration", "question", "sample", "agent", "step",
    ]  # fmt: skip


def test_every_part_of_a_training_call_matters() -> None:
    base = (1, Phase.TRAINING, 1, "q", 0, "reader", 0)
    others = [
        (2, Phase.TRAINING, 1, "q", 0, "reader", 0),
        (1, Phase.VALIDATION, 1, "q", 0, "reader", 0),
        (1, Phase.TRAINING, 2, "q", 0, "reader", 0),
        (1, Phase.TRAINING, 1, "r", 0, "reader", 0),
        (1, Phase.TRAINING, 1, "q", 1, "reader", 0),
        (1, Phase.TRAINING, 1, "q", 0, "answerer", 0),
        (1, Phase.TRAINING, 1, "q", 0, "reader", 1),
    ]
    assert len({call_seed(*call) for call in [base, *others]}) == 8


@pytest.mark.parametrize("phase", [p for p in Phase if p is not Phase.TRAINING])
def test_the_iteration_counts_in_training_only(phase: Phase) -> None:
    assert call_seed(1, phase, 1, "q", 0, "a", 0) == call_seed(1, phase, 9, "q", 0, "a", 0)


@given(ids, st.integers(0, 25), st.randoms())
def test_a_draw_depends_on_the_set_of_ids_alone(
    names: list[str], size: int, shuffler: random.Random
) -> None:
    drawn = draw(3, "batch 1", names, size)
    shuffled = list(names)
    shuffler.shuffle(shuffled)
    assert draw(3, "batch 1", shuffled, size) == drawn
    assert len(set(drawn)) == len(drawn) == min(size, len(names))
    assert set(drawn) <= set(names)


def test_a_smaller_draw_is_the_beginning_of_a_larger_one() -> None:
    names = [f"q{n}" for n in range(30)]
    assert draw(3, "batch 1", names, 20)[:5] == draw(3, "batch 1", names, 5)
    assert draw(3, "batch 1", names, 30) != draw(3, "batch 2", names, 30)
    assert draw(3, "batch 1", names, 30) != draw(4, "batch 1", names, 30)
