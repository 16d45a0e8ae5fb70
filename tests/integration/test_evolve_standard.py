"""The profile and the ignores of ``[validate]`` hold for a run's start, its edits and its diff."""

from __future__ import annotations

import pytest
from fakes.workshop import Workshop, assert_told

PATH = "skills/answerer/units/SKILL.md"
SKILL = "---\nname: units\ndescription: Says the unit. Use it for sizes.\n{}\n---\n\nSay it.\n"
IGNORE = '[[validate.ignore]]\npath = "{}"\nrule = "unknown-field"\nreason = "Ours."\n'


def configure(shop: Workshop, text: str) -> None:
    path = shop.root / "skillevo.toml"
    path.write_text(path.read_text() + "\n" + text)


@pytest.mark.parametrize(
    ("field", "settings", "rule"),
    [
        ("model: small", '[validate]\nprofile = "claude-code"\n', "client-field"),
        ("color: red", '[validate]\nprofile = "codex"\n', "unknown-field"),
        ("color: red", IGNORE.format("skills/answerer/**"), "unknown-field"),
    ],
)
def test_skills_are_taken_as_the_project_is_checked(
    workshop: Workshop, field: str, settings: str, rule: str
) -> None:
    workshop.write(PATH, SKILL.format(field))
    base = workshop.save()
    assert_told(workshop.run("evolve"), 2, f"{PATH}:4: ", rule)
    assert not workshop.runs.exists()
    assert rule in workshop.run("diff", base).err

    configure(workshop, settings)
    assert workshop.run("validate").code == 0
    outcome = workshop.run("evolve", "--run-id", "one", "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    assert workshop.git("show", f"skillevo/one/main:{PATH}") == SKILL.format(field).rstrip()
    assert workshop.run("diff").code == 0


def test_ignore_of_another_path_does_not_count(workshop: Workshop) -> None:
    workshop.write(PATH, SKILL.format("color: red"))
    configure(workshop, IGNORE.format("skills/reader/**"))
    workshop.save()
    assert_told(workshop.run("evolve"), 2, "unknown-field")


def test_ignore_of_an_unknown_rule_is_told_before_a_run(workshop: Workshop) -> None:
    configure(workshop, IGNORE.format("**").replace("unknown-field", "unknown-feld"))
    assert_told(workshop.run("evolve"), 2, "no rule 'unknown-feld'", "'unknown-field'")
