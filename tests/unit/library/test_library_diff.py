"""The structural difference of libraries."""

from __future__ import annotations

from dataclasses import replace

from skillevo.library.characters import estimate_tokens
from skillevo.library.diff import SkillChange, compare_libraries
from skillevo.library.document import parse_skill, render_skill, set_field
from skillevo.types import Library, Resource, Skill


def skill(name: str, body: str = "# Steps\n\nGo.", description: str = "") -> Skill:
    return parse_skill(render_skill(name, description or f"Knows {name}.", body))


def compare(
    old: list[Skill], new: list[Skill], merged: dict[str, tuple[str, ...]] | None = None
) -> tuple[SkillChange, ...]:
    pairs = {("keeper", name): sources for name, sources in (merged or {}).items()}
    return compare_libraries(
        {"keeper": Library("keeper", tuple(old))}, {"keeper": Library("keeper", tuple(new))}, pairs
    )


def told(changes: tuple[SkillChange, ...]) -> list[tuple[str, str]]:
    return [(change.skill, str(change.change)) for change in changes]


def test_equal_libraries_have_no_changes() -> None:
    assert compare([skill("a"), skill("b")], [skill("a"), skill("b")]) == ()
    assert compare_libraries({}, {}) == ()


def test_each_skill_is_told_once_in_order() -> None:
    changes = compare(
        [skill("b"), skill("c"), skill("d")], [skill("a"), skill("b", "Other."), skill("d")]
    )
    assert told(changes) == [("a", "added"), ("b", "edited"), ("c", "removed")]
    assert {change.agent for change in changes} == {"keeper"}


def test_agents_may_come_and_go() -> None:
    changes = compare_libraries(
        {"x": Library("x", (skill("a"),))}, {"w": Library("w", (skill("a"),))}
    )
    assert [(c.agent, str(c.change)) for c in changes] == [("w", "added"), ("x", "removed")]


def test_added_and_removed_skills_show_everything() -> None:
    new = skill("a", "Intro.\n\n# Steps\n\nGo.")
    [added] = compare([], [new])
    assert [(f.field, f.before, f.after) for f in added.fields] == [
        ("name", None, "a"),
        ("description", None, "Knows a."),
    ]
    assert [(s.change, s.heading) for s in added.sections] == [("added", ""), ("added", "# Steps")]
    assert (added.tokens_before, added.tokens_after) == (0, estimate_tokens(new.text))
    [removed] = compare([new], [])
    assert ("name", "a", None) in [(f.field, f.before, f.after) for f in removed.fields]
    assert {str(s.change) for s in removed.sections} == {"removed"}
    assert (removed.tokens_before, removed.tokens_after) == (added.tokens_after, 0)
    assert removed.red_flags == ()


def test_edit_shows_fields_sections_and_files() -> None:
    old = replace(
        skill("a", "# A\n\nx\n\n# B\n\ny"),
        resources=(Resource("run.py", "100644", "1"), Resource("gone.md", "100644", "2")),
    )
    text = set_field(skill("a", "# A\n\nz\n\n# B\n\ny").text, "license", "MIT")
    new = parse_skill(text, (Resource("run.py", "100644", "3"),))
    [change] = compare([old], [new])
    assert [(f.field, f.before, f.after) for f in change.fields] == [
        ("license", None, "MIT"),
        ("file:run.py", "1", "3"),
        ("file:gone.md", "2", None),
    ]
    assert [(s.change, s.heading, s.before, s.after) for s in change.sections] == [
        ("edited", "# A", "x", "z")
    ]
    assert change.red_flags == ("changed-file: run.py",)


def test_merge_names_its_sources_and_swallows_their_removal() -> None:
    old = [skill("a", "# A\n\nx"), skill("b", "# B\n\ny"), skill("c")]
    new = [skill("ab", "# A\n\nx\n\n# B\n\nmore"), skill("c")]
    [change] = compare(old, new, {"ab": ("a", "b")})
    assert (change.skill, str(change.change), change.sources) == ("ab", "merged", ("a", "b"))
    assert [(f.field, f.before, f.after) for f in change.fields] == [
        ("name", "a\nb", "ab"),
        ("description", "Knows a.\nKnows b.", "Knows ab."),
    ]
    assert [(s.change, s.heading) for s in change.sections] == [("edited", "# B")]
    assert change.tokens_before == sum(estimate_tokens(s.text) for s in old[:2])


def test_merge_into_one_of_its_sources_is_one_change() -> None:
    changes = compare([skill("a"), skill("b")], [skill("a", "Both.")], {"a": ("a", "b")})
    assert told(changes) == [("a", "merged")]


def test_merge_that_did_not_happen_hides_nothing() -> None:
    changes = compare([skill("a"), skill("b")], [], {"ab": ("a", "b")})
    assert told(changes) == [("a", "removed"), ("b", "removed")]
    kept = compare([skill("a"), skill("b")], [skill("a", "New."), skill("ab")], {"ab": ("a", "b")})
    assert told(kept) == [("a", "edited"), ("ab", "merged")]


def test_text_that_is_no_skill_is_compared_without_fields() -> None:
    broken = Skill("a", "b", "c", "no front matter")
    [change] = compare([], [broken])
    assert change.fields == ()
