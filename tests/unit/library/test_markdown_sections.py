"""Sections of a body by heading, and how they moved."""

from __future__ import annotations

import pytest

from skillevo.library.sections import compare_sections, split_sections


def changes(old: str, new: str) -> list[tuple[str, str]]:
    found = compare_sections(split_sections(old), split_sections(new))
    return [(str(change.change), change.heading) for change in found]


def test_sections_end_at_the_next_heading_of_any_level() -> None:
    body = "Intro.\n\n# A\n\ntext\n\n## B\n# A\n#tag\n```\n# code\n```\nend"
    assert [(s.heading, s.number, s.text) for s in split_sections(body)] == [
        ("", 0, "Intro."),
        ("# A", 0, "text"),
        ("## B", 0, ""),
        ("# A", 1, "#tag\n```\n# code\n```\nend"),
    ]
    assert split_sections("") == ()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("# A\nx", "# A\nx", []),
        ("# A\nx", "# A\n\nx\n\n", []),
        ("# A\nx", "# A\ny", [("edited", "# A")]),
        ("", "# A\nx", [("added", "# A")]),
        ("# A\nx", "", [("removed", "# A")]),
        ("# A\n# B\n# C", "# C\n# A\n# B", [("moved", "# C")]),
        ("# A\n# B\n# C\n# D", "# B\n# A\n# D\n# C", [("moved", "# A"), ("moved", "# C")]),
        ("# A\n1\n# B\n2", "# B\n3\n# A\n1", [("edited", "# B"), ("moved", "# A")]),
        ("# A\n1\n# B", "# C\n# B\n# A\n1\nmore", [("added", "# C"), ("edited", "# A")]),
        ("text", "other\n# A", [("edited", ""), ("added", "# A")]),
    ],
)  # fmt: skip
def test_fewest_changes_are_told(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    assert changes(old, new) == expected


def test_change_holds_both_texts() -> None:
    [change] = compare_sections(split_sections("# A\nold"), split_sections("# A\nnew"))
    assert (change.before, change.after) == ("old", "new")
