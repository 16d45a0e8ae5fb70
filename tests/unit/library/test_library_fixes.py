"""Repairs that may be made without asking, and those that may not."""

from __future__ import annotations

import pytest

from skillevo.library.fixes import safe_fixes
from skillevo.library.rules import ALL_RULES, Rule, TreeEntry, check_tree

GOOD = "---\nname: tidy-desk\ndescription: Tidies a desk.\n---\n\nGo.\n"


@pytest.mark.parametrize("rule", [r for r in ALL_RULES if r.fixable], ids=lambda rule: rule.id)
def test_fixable_rule_is_fixed_in_its_example(rule: Rule) -> None:
    [(path, entry)] = rule.bad.files.items()
    assert entry.data is not None
    fixed = safe_fixes(entry.data)
    assert fixed != entry.data
    assert check_tree({path: TreeEntry(fixed)}) == []


@pytest.mark.parametrize("rule", [r for r in ALL_RULES if not r.fixable], ids=lambda rule: rule.id)
def test_other_rule_is_left_to_the_writer(rule: Rule) -> None:
    for entry in rule.bad.files.values():
        if entry.data is not None:
            assert safe_fixes(entry.data) == entry.data


@pytest.mark.parametrize(
    ("broken", "fixed"),
    [
        (GOOD, GOOD),
        ("\ufeff" + GOOD.replace("\n", "\r\n"), GOOD),
        (GOOD.replace("\n", "\r"), GOOD),
        (GOOD.replace("---\n", "---\t \n"), GOOD),
        ("---\nname: a\n--- ", "---\nname: a\n---"),
        (
            "---\nname: on\ndescription: 10 # c\n---\n",
            '---\nname: "on"\ndescription: "10" # c\n---\n',
        ),
        (
            "---\nmetadata: {a: 1.10, b: 2024-01-01, c: x, d: , e: [1]}\n---\n",
            '---\nmetadata: {a: "1.10", b: "2024-01-01", c: x, d: , e: [1]}\n---\n',
        ),
        (
            'description: Say "a": b \\ c: d',
            'description: "Say \\"a\\": b \\\\ c: d"',
        ),
        ("a: b: c\nd: e: f", 'a: "b: c"\nd: "e: f"'),
    ],
)
def test_repair_changes_what_is_safe(broken: str, fixed: str) -> None:
    if "---" not in broken:
        broken, fixed = f"---\n{broken}\n---\n", f"---\n{fixed}\n---\n"
    assert safe_fixes(broken.encode()) == fixed.encode()


@pytest.mark.parametrize(
    "header",
    [
        "a: b: c # comment",
        "a: b: c\n  goes: on",
        "a: 'b': c",
        "- a: b: c",
        "a: @b: c",
        "license: null",
        "x: 1",
    ],
)
def test_unsafe_repair_is_not_made(header: str) -> None:
    data = f"---\n{header}\n---\n\nGo.\n".encode()
    assert safe_fixes(data) == data


def test_bytes_that_are_no_text_stay() -> None:
    assert safe_fixes(b"\xff\r\n") == b"\xff\r\n"
