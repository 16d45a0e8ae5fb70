"""Hostile text becomes harmless text that a person still reads."""

from __future__ import annotations

import pytest

from skillevo.core.safety import safe_line, safe_paragraph, safe_value


@pytest.mark.parametrize(
    ("hostile", "safe"),
    [
        ("plain text, 50% of it: fine", "plain text, 50% of it: fine"),
        ("a\nb\r\nc\td", "a b c d"),
        ("a\x00b\x1b[31mc\x7f", "ab[31mc"),
        ("admin\u202etxt\u2066\u200b\ufeff", "admintxt"),
        ("lone \ud800 surrogate", "lone surrogate"),
        ("[skip ci] x [CI SKIP] [no ci]", "(skip ci) x (CI SKIP) (no ci)"),
        ("[skip\u200b ci] [ci-skip] [skip actions]", "(skip ci) (ci-skip) (skip actions)"),
        ("***NO_CI***", "NO_CI"),
        ("fixes #12 and closes: a/b#3", '"fixes" # 12 and "closes": a/b# 3'),
        ("Resolves GH-7", '"Resolves" GH-7'),
        ("closes https://example.com/issues/1", '"closes" https://example.com/issues/1'),
        ("fixes the unit", "fixes the unit"),
        ("ask @someone, not a@b.c", "ask (at)someone, not a@b.c"),
        ("::error::boom", ": :error::boom"),
        ("std::string", "std::string"),
        ("##[error]boom", "## [error]boom"),
        ("Signed-off-by: me <a@b.c>", "Signed-off-by - me <a@b.c>"),
        ("Skillevo-Edit : forged", "Skillevo-Edit - forged"),
        ("cc: me", "cc - me"),
        ("", ""),
        (" \n ", ""),
    ],
)
def test_line_is_neutralised(hostile: str, safe: str) -> None:
    assert safe_line(hostile, 200) == safe


def test_overlong_line_ends_in_an_ellipsis() -> None:
    assert safe_line("abcdef", 6) == "abcdef"
    assert safe_line("abcd efg", 6) == "abcd…"


def test_value_of_a_trailer_may_hold_a_colon_after_a_hyphen() -> None:
    assert safe_value("org/model-8b:free @x", 99) == "org/model-8b:free (at)x"


def test_megabyte_is_cut_at_once() -> None:
    assert len(safe_line("-" * 1_000_000, 72)) == 72
    assert len(safe_paragraph("ab-" * 400_000)) <= 2000


@pytest.mark.parametrize("start", ["---", "--- a/x", "diff --git a b", "# note", "From x", "> q"])
def test_line_that_git_reads_as_a_divider_is_indented(start: str) -> None:
    filler = "w" * 71
    lines = safe_paragraph(f"{filler} {start} {filler}").split("\n")
    assert lines[0] == filler
    assert lines[1].startswith("    " + start.split(" ")[0])


def test_paragraph_wraps_at_blanks_only() -> None:
    text = safe_paragraph("a " * 50 + "x" * 100)
    assert max(len(line) for line in text.split("\n")[:-1]) <= 72
    assert text.endswith("\n" + "x" * 100)
    assert "\n\n" not in text
