"""The grammar of names, and names made from what a model wrote."""

from __future__ import annotations

import pytest

from skillevo.library.tree import normalise_name, valid_name


@pytest.mark.parametrize("name", ["a", "7", "tidy-desk", "a1-2b", "a" * 64])
def test_name_of_the_grammar_is_valid(name: str) -> None:
    assert valid_name(name)


@pytest.mark.parametrize(
    "name", ["", "A", "a_b", "-a", "a-", "a--b", "a b", "é", "a\n", "a/b", "..", "a" * 65, "٣"]
)
def test_other_name_is_not_valid(name: str) -> None:
    assert not valid_name(name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Tidy Desk!", "tidy-desk"),
        ("  --Überprüfe_Größe-- ", "uberprufe-groe"),
        ("../../etc/passwd", "etc-passwd"),
        ("ﬁnd №5", "find-no5"),
        ("half \ud800 pair", "half-pair"),
        ("整理", None),
        ("", None),
        ("x" * 100, "x" * 64),
        ("tidy " * 20, "tidy-" * 12 + "tidy"),
    ],
)
def test_name_is_made_of_what_ascii_text_there_is(text: str, name: str | None) -> None:
    made = normalise_name(text, ())
    assert made == name
    assert made is None or valid_name(made)


def test_long_name_is_cut_at_a_word() -> None:
    assert normalise_name("tidy-the-desk-" * 4 + "everything", ()) == "tidy-the-desk-" * 3 + (
        "tidy-the-desk"
    )


def test_taken_name_gets_the_first_free_number_whatever_the_case() -> None:
    assert normalise_name("tidy desk", ["Tidy-Desk", "tidy-desk-2"]) == "tidy-desk-3"
    long = normalise_name("x" * 80, ["x" * 64])
    assert long == "x" * 62 + "-2"
