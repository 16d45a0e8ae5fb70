"""Files of one agent's folder and edits of its library."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skillevo.errors import LibraryError
from skillevo.library.document import render_skill
from skillevo.library.rule import Profile
from skillevo.library.standard import FORGIVABLE, Ignore, Standard
from skillevo.library.tree import apply_edit, library_from_files, skill_path
from skillevo.types import Edit, Library, Operator, Resource

OLD = render_skill("tidy-desk", "Tidies a desk.", "Go.")
NEW = render_skill("tidy-desk", "Tidies a desk. Use on Fridays.", "Go on.")
OTHER = render_skill("water-plants", "Waters plants.", "Pour.")
SCRIPT = ("100755", "b" * 40, None)


def skill_file(text: str) -> tuple[str, str, bytes | None]:
    return ("100644", "a" * 40, text.encode())


def library() -> Library:
    return library_from_files(
        "keeper",
        {
            "water-plants/SKILL.md": skill_file(OTHER),
            "tidy-desk/scripts/run.py": SCRIPT,
            "tidy-desk/SKILL.md": skill_file(OLD),
            "README.md": ("100644", "c" * 40, None),
            ".drafts/notes.md": ("100644", "d" * 40, None),
        },
    )


def edit(
    skill: str, text: str | None, removes: tuple[str, ...] = (), agent: str = "keeper"
) -> Edit:
    return Edit(Operator.REFINE, agent, skill, text, removes, "summary", "why", 3)


def test_library_is_sorted_and_carries_other_files_by_blob() -> None:
    made = library()
    assert made.agent == "keeper"
    assert made.names == ("tidy-desk", "water-plants")
    assert made.skills[0].text == OLD
    assert made.skills[0].resources == (Resource("scripts/run.py", "100755", "b" * 40),)


def test_no_files_are_an_empty_library() -> None:
    assert library_from_files("keeper", {}) == Library("keeper")


@pytest.mark.parametrize(
    ("files", "match"),
    [
        ({"x/notes.md": SCRIPT}, "skills/keeper/x/SKILL.md: the file does not exist"),
        ({"x/SKILL.md": ("120000", "a" * 40, b"../y")}, "skills/keeper/x/SKILL.md: not a regular"),
        ({"x/SKILL.md": ("100644", "a" * 40, None)}, "skills/keeper/x/SKILL.md: not a regular"),
        ({"x/SKILL.md": skill_file(OLD)}, r"skills/keeper/x/SKILL.md:2: .*\(name-directory\)"),
        ({"x/SKILL.md": skill_file("---\na: b\n---\n")}, r"SKILL.md:2: .*, and 2 more"),
        ({"x/SKILL.md": ("100644", "a" * 40, b"\xff")}, r"SKILL.md:1: .*\(not-utf8\)"),
    ],
)
def test_broken_skill_is_named_with_path_and_line(
    files: dict[str, tuple[str, str, bytes | None]], match: str
) -> None:
    with pytest.raises(LibraryError, match=match) as caught:
        library_from_files("keeper", files)
    assert caught.value.why
    assert caught.value.fix


def test_warning_does_not_keep_a_skill_out() -> None:
    text = OLD.replace("\n", "\r\n")
    made = library_from_files("keeper", {"tidy-desk/SKILL.md": skill_file(text)})
    assert made.skills[0].text == text


def test_profile_of_the_user_counts() -> None:
    text = OLD.replace("---\n\n", "model: opus\n---\n\n")
    files = {"tidy-desk/SKILL.md": skill_file(text)}
    standard = Standard(Profile.CLAUDE_CODE)
    assert library_from_files("keeper", files, standard=standard).names == ("tidy-desk",)
    with pytest.raises(LibraryError, match="client-field"):
        library_from_files("keeper", files)


def ignoring(rule: str, path: str = "skills/keeper/**") -> Standard:
    return Standard(ignores=(Ignore(path, rule, "Our loader reads it."),))


def test_ignore_of_the_user_counts_for_files_and_edits_that_it_fits() -> None:
    text = OLD.replace("---\n\n", "color: red\n---\n\n")
    files = {"tidy-desk/SKILL.md": skill_file(text)}
    for standard in (ignoring("unknown-field"), ignoring("unknown-field", "**/tidy-*/SKILL.md")):
        made = library_from_files("keeper", files, standard=standard)
        changed = edit("tidy-desk", text.replace("Go.", "Go on."))
        assert apply_edit(made, changed, standard=standard).skills[0].body == "Go on."
        with pytest.raises(LibraryError, match="unknown-field"):
            apply_edit(made, changed)
    for standard in (ignoring("client-field"), ignoring("unknown-field", "skills/other/**")):
        with pytest.raises(LibraryError, match="unknown-field"):
            library_from_files("keeper", files, standard=standard)


def test_page_names_the_rules_that_an_ignore_lifts() -> None:
    page = (Path(__file__).parents[3] / "docs" / "validate.md").read_text(encoding="utf-8")
    listed = page.partition("Of the ignores, those of ")[2].partition(" count there")[0]
    assert re.findall("`([a-z-]+)`", listed) == sorted(FORGIVABLE)


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (OLD.replace("tidy-desk", "other").encode(), "name-directory"),
        (OLD.encode() + b"\xff", "not-utf8"),
        (b"\xef\xbb\xbf" + OLD.encode(), "byte-order-mark"),
        (OLD.replace("---\n", "--- \n", 1).encode(), "fence-trailing-blanks"),
        (OLD.encode() + b"x" * 1024 * 1024, "file-too-large"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_no_ignore_lets_in_what_a_library_cannot_hold(data: bytes, rule: str) -> None:
    files = {"tidy-desk/SKILL.md": ("100644", "a" * 40, data)}
    with pytest.raises(LibraryError, match=rf"skills/keeper/tidy-desk/SKILL\.md:1?.*{rule}"):
        library_from_files("keeper", files, standard=ignoring(rule))


def test_refined_skill_keeps_its_files_and_the_others_stay() -> None:
    before = library()
    after = apply_edit(before, edit("tidy-desk", NEW))
    assert after.skills[0].text == NEW
    assert after.skills[0].description == "Tidies a desk. Use on Fridays."
    assert after.skills[0].resources == before.skills[0].resources
    assert after.skills[1] is before.skills[1]


def test_merged_skills_go_with_their_files() -> None:
    merged = render_skill("keep-house", "Keeps a house.", "Tidy, then water.")
    after = apply_edit(library(), edit("keep-house", merged, ("tidy-desk", "water-plants")))
    assert after.names == ("keep-house",)
    rewritten = apply_edit(library(), edit("tidy-desk", NEW, ("tidy-desk", "water-plants")))
    assert rewritten.names == ("tidy-desk",)
    assert rewritten.skills[0].resources == ()


def test_removal_and_induction_keep_the_order() -> None:
    new = render_skill("air-room", "Airs a room.", "Open.")
    assert apply_edit(library(), edit("air-room", new)).names == (
        "air-room",
        "tidy-desk",
        "water-plants",
    )
    assert apply_edit(library(), edit("tidy-desk", None, ("tidy-desk",))).names == ("water-plants",)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (edit("x", None, ("x",)), "skills/keeper/x/SKILL.md: there is no such skill"),
        (edit("tidy-desk", OTHER), r"tidy-desk/SKILL.md:2: .*name-directory"),
        (edit("tidy-desk", "no skill"), r"tidy-desk/SKILL.md:1: .*no-front-matter"),
        (edit("Tidy", OLD.replace("tidy-desk", "Tidy")), r"name-format"),
        (edit("tidy-desk", OLD + "\ud800"), r"SKILL.md:\d+: .*not-utf8"),
        (edit("tidy-desk", NEW, agent="cook"), "skills/keeper: the edit is for the agent 'cook'"),
    ],
)
def test_edit_that_breaks_the_library_is_refused(wrong: Edit, match: str) -> None:
    with pytest.raises(LibraryError, match=match) as caught:
        apply_edit(library(), wrong)
    assert caught.value.fix


def test_path_of_a_skill() -> None:
    assert skill_path("keeper", "tidy-desk") == "skills/keeper/tidy-desk/SKILL.md"
