"""Rules about how skills lie in folders, and their neighbors."""

from __future__ import annotations

import pytest

from skillevo.library.document import render_skill
from skillevo.library.rules import TreeEntry, check_tree
from skillevo.library.similar import nearly_equal, similar_pairs, words_of


def skill(name: str, description: str = "", body: str = "Go.") -> TreeEntry:
    about = description or f"Knows {name} and {name[::-1]}."
    return TreeEntry(render_skill(name, about, body).encode())


def found(files: dict[str, TreeEntry], limit: int | None = None) -> list[tuple[str, str]]:
    return [(p.rule, p.path) for p in check_tree(files, library_limit=limit)]


OTHER = TreeEntry()


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, []),
        ({"README.md": OTHER, "src/skills/x/y/z.py": OTHER}, []),
        ({"a/SKILL.md": skill("a"), "a/scripts/run.py": OTHER}, []),
        ({"SKILL.md": skill("any-name")}, []),
        ({"SKILL.md": skill("a"), "b/SKILL.md": skill("b")}, [("nested-skill", "b/SKILL.md")]),
        ({"a/SKILL.md": TreeEntry()}, [("missing-skill-file", "a/SKILL.md")]),
        ({"a/skill.md": TreeEntry()}, [("missing-skill-file", "a/skill.md")]),
        ({"a/SKILL.md": TreeEntry(symlink=True)}, [("symlinked-skill", "a/SKILL.md")]),
        ({"skills/x/a": TreeEntry(symlink=True)}, [("symlinked-skill", "skills/x/a")]),
        ({"skills/x/a/scripts/b": TreeEntry(symlink=True), "skills/x/a/SKILL.md": skill("a")}, []),
        ({"skills/x/.git/config": OTHER, "skills/x/README.md": OTHER}, []),
        ({"skills/x/a/b.md": OTHER}, [("missing-skill-file", "skills/x/a/SKILL.md")]),
        ({"lib/skills/x/a/b.py": OTHER}, []),
        (
            {"lib/skills/x/a/b.py": OTHER, "lib/skills/x/c/SKILL.md": skill("c")},
            [("missing-skill-file", "lib/skills/x/a/SKILL.md")],
        ),
        ({"skills/a/SKILL.md": skill("a"), "skills/a/scripts/run/x.py": OTHER}, []),
        ({"skills/x/a/skill.md": skill("a")}, [("skill-file-name", "skills/x/a/skill.md")]),
        ({"skills/x/g/a/SKILL.md": skill("a")}, [("skill-depth", "skills/x/g/a/SKILL.md")]),
        (
            {"skills/x/a/SKILL.md": skill("a"), "skills/x/a/b/c/SKILL.md": skill("c")},
            [("nested-skill", "skills/x/a/b/c/SKILL.md")],
        ),
        (
            {"skills/y/a/SKILL.md": skill("a"), "skills/x/a/SKILL.md": skill("a")},
            [("duplicate-skill-name", "skills/y/a/SKILL.md")],
        ),
        ({"p/skills/x/a/SKILL.md": skill("a"), "q/skills/y/a/SKILL.md": skill("a")}, []),
        (
            {"a/SKILL.md": skill("a"), "A/x.md": OTHER, "A/y.md": OTHER},
            [("case-collision", "a/SKILL.md")],
        ),
        (
            {"a/SKILL.md": skill("a"), "a/skill.md": skill("a")},
            [("case-collision", "a/skill.md"), ("skill-file-name", "a/skill.md")],
        ),
    ],
)
def test_place_decides(files: dict[str, TreeEntry], expected: list[tuple[str, str]]) -> None:
    assert found(files) == expected


def test_limit_counts_the_skills_of_each_agent() -> None:
    files = {f"skills/{agent}/{agent}-{n}/SKILL.md": skill(f"{agent}-{n}") for agent in "xy"
             for n in range(3 if agent == "x" else 2)}  # fmt: skip
    assert found(files) == []
    assert found(files, 3) == []
    assert found(files, 2) == [("library-size", "skills/x")]


def test_problems_of_all_files_come_in_one_order() -> None:
    files = {
        "b/SKILL.md": TreeEntry(b"---\nname: b\n---\n"),
        "a/SKILL.md": TreeEntry(b"---\nx: 1\nname: c\n---\n"),
    }
    assert [(p.path, p.line, p.rule) for p in check_tree(files)] == [
        ("a/SKILL.md", 2, "missing-field"),
        ("a/SKILL.md", 2, "unknown-field"),
        ("a/SKILL.md", 3, "name-directory"),
        ("a/SKILL.md", 4, "empty-body"),
        ("b/SKILL.md", 2, "missing-field"),
        ("b/SKILL.md", 3, "empty-body"),
    ]


@pytest.mark.parametrize(
    ("body", "missing"),
    [
        ("[a](notes.md) [b](scripts) [c](scripts/) [d](./notes.md#part) [e](notes.md?x)", []),
        ("[a](my%20notes.md) [b](<notes.md>) [c](../a/notes.md) [d](../../outside.md)", []),
        ("[a](https://x.org/y) [b](mailto:x@y.z) [c](#top) [d](/root.md) [e]({file}) [f]()", []),
        ("`[a](gone.md)` and\n\n```\n[a](gone.md)\n```", []),
        ("[a](gone.md), again [a](gone.md)\n\n![i](img/gone.png)", ["gone.md", "img/gone.png"]),
        ("[a](Notes.md)", ["Notes.md"]),
        ("[a](../b/SKILL.md)", ["../b/SKILL.md"]),
    ],
)
def test_links_point_to_files_that_exist(body: str, missing: list[str]) -> None:
    files = {
        "a/SKILL.md": skill("a", body=body),
        "a/notes.md": OTHER,
        "a/my notes.md": OTHER,
        "a/scripts/run.py": OTHER,
    }
    problems = check_tree(files)
    assert [(p.rule, p.message) for p in problems] == [
        ("missing-link", f"there is no file {target!r}") for target in missing
    ]
    assert all(p.line >= 6 and p.column > 1 for p in problems)


def test_near_equal_descriptions_are_found_within_one_agent() -> None:
    text = "Sorts the photos of a folder by the date they were taken on, oldest first, always."
    files = {
        "skills/x/one/SKILL.md": skill("one", text),
        "skills/x/two/SKILL.md": skill("two", text.replace("always", "ever")),
        "skills/y/three/SKILL.md": skill("three", text),
        "skills/x/four/SKILL.md": skill("four", "Renames files after a pattern that is given."),
    }
    assert found(files) == [("similar-descriptions", "skills/x/two/SKILL.md")]


@pytest.mark.parametrize(
    ("mine", "theirs", "equal"),
    [
        ("Same words", "words, SAME", True),
        ("", "", False),
        ("one two three", "one two four", False),
        ("a b c d e f g h i", "a b c d e f g h i j", True),
        ("a b c d e f g h i", "a b c d e f g x y z", False),
    ],
)
def test_nearness_is_a_share_of_common_words(mine: str, theirs: str, equal: bool) -> None:
    assert nearly_equal(words_of(mine), words_of(theirs)) is equal


def test_pairs_of_many_equal_descriptions_stay_linear() -> None:
    same = {f"s{n}": "always the very same words here" for n in range(2000)}
    assert similar_pairs(same) == [(f"s{n}", "s0") for n in range(1, 2000)]
    assert similar_pairs({"a": "", "b": "?!", "c": "x"}) == []


def test_an_absolute_path_is_checked_like_any_other() -> None:
    good = b"---\nname: tidy\ndescription: Tidies a desk. Use it on Fridays.\n---\n\nClear it.\n"
    inner = b"---\nname: deep\ndescription: Sorts a drawer. Use it weekly.\n---\n\nSort it.\n"
    files = {
        "/home/skills/agent/tidy/SKILL.md": TreeEntry(good),
        "/home/skills/agent/tidy/deep/SKILL.md": TreeEntry(inner),
    }
    assert {problem.rule for problem in check_tree(files)} >= {"nested-skill"}
