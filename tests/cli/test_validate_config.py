"""``[validate]`` of skillevo.toml: what it sets, what wins over it, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.workshop import assert_told, skillevo

SKILL = "---\nname: {}\ndescription: Helps to {}. Use when asked to {}.\n{}---\n\nDo it.\n"


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose skill ``sort`` has an unknown field and whose skill ``name`` is valid."""
    monkeypatch.chdir(tmp_path)
    for name, field in (("sort", "color: red\n"), ("name", "")):
        folder = tmp_path / "skills" / "a" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(SKILL.format(name, name, name, field))
    return tmp_path


def configure(top: Path, *lines: str) -> None:
    (top / "skillevo.toml").write_text("\n".join(lines) + "\n")


def ignore(path: str, rule: str = "unknown-field", reason: str = "Read by our loader.") -> str:
    return f'ignore = [{{path = "{path}", rule = "{rule}", reason = "{reason}"}}]'


@pytest.mark.parametrize(
    "path",
    [
        "skills/a/sort/SKILL.md",
        "skills/*/sort/*.md",
        "**/SKILL.md",
        "**",
        "skills/**",
        "**/s?rt/**",
    ],
)
def test_ignore_leaves_a_finding_out(top: Path, path: str) -> None:
    configure(top, "[validate]", ignore(path))
    outcome = skillevo("validate", "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.value["problems"] == []


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("skills/*/SKILL.md", "unknown-field"),
        ("sort/SKILL.md", "unknown-field"),
        ("skills/a/sort/SKILL.md", "empty-body"),
        ("SKILLS/a/sort/SKILL.md", "unknown-field"),
    ],
)
def test_ignore_that_fits_nothing_is_told(top: Path, path: str, rule: str) -> None:
    configure(top, "[validate]", ignore(path, rule))
    outcome = skillevo("validate")
    assert outcome.code == 1
    assert outcome.err == (f"warning: {top}/skillevo.toml: nothing to ignore: {rule} in {path}\n")


def test_ignore_counts_from_the_folder_of_the_file(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(top, "[validate]", ignore("skills/a/sort/SKILL.md"))
    monkeypatch.chdir(top / "skills" / "a")
    assert skillevo("validate", "sort").code == 0
    assert skillevo("validate", "sort/SKILL.md").code == 0
    monkeypatch.chdir("/")
    assert skillevo("validate", top / "skills").code == 0
    assert skillevo("-C", top, "validate").code == 0


def test_check_of_one_file_says_nothing_about_other_ignores(top: Path) -> None:
    configure(top, "[validate]", ignore("skills/a/sort/SKILL.md"))
    assert skillevo("validate", "skills/a/name/SKILL.md").err == ""


def test_fix_leaves_a_file_alone_where_a_repair_is_ignored(top: Path) -> None:
    path = top / "skills" / "a" / "name" / "SKILL.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    configure(top, "[validate]", ignore("**/name/SKILL.md", "crlf-line-endings"))
    skillevo("validate", "--fix")
    assert b"\r\n" in path.read_bytes()


def test_profile_and_fail_on_are_settings_that_options_win_over(top: Path) -> None:
    path = top / "skills" / "a" / "sort" / "SKILL.md"
    path.write_text(path.read_text().replace("color: red", "model: small").replace("Do it.\n", ""))
    configure(top, "[validate]", 'profile = "claude-code"', 'fail_on = "warning"')
    assert skillevo("validate").code == 1
    assert skillevo("validate", "--fail-on", "error").code == 0
    assert skillevo("validate", "--fail-on", "error", "--profile", "spec").code == 1


def test_library_limit_of_the_method_counts_too(top: Path) -> None:
    configure(top, "[evolve]", "library_limit = 1")
    rules = [p["rule"] for p in skillevo("validate", "--format", "json").value["problems"]]
    assert "library-size" in rules


def test_other_tables_may_be_wrong_or_absent(top: Path) -> None:
    configure(top, "[team]", "agents = 7", "[evolve]", 'library_limit = "x"', "[validate]")
    assert skillevo("validate", "skills/a/name").code == 0


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["[validate"], ["broken TOML"]),
        (["validate = 3"], ["[validate]", "3 is not of type 'object'"]),
        (["validate = false"], ["[validate]", "False is not of type 'object'"]),
        (["validate = []"], ["[validate]", "[] is not of type 'object'"]),
        (["[validate]", 'profile = "mine"'], ["skillevo.toml:2", "profile", "'mine'"]),
        (["[validate]", "fail-on = 1"], ["[validate]", "'fail-on' was unexpected"]),
        (
            ["[[validate.ignore]]", 'path = "**"', 'rule = "empty-body"'],
            ["'reason' is a required property"],
        ),
        (["[validate]", ignore("**", reason="  ")], ["ignore[0].reason"]),
        (["[validate]", ignore("**", "empty-bdy")], ["no rule 'empty-bdy'", "'empty-body'"]),
    ],
)
def test_wrong_settings_are_a_usage_error(top: Path, lines: list[str], words: list[str]) -> None:
    configure(top, *lines)
    assert_told(skillevo("validate"), 2, *words)


def test_settings_that_are_no_utf8_are_a_usage_error(top: Path) -> None:
    (top / "skillevo.toml").write_bytes(b"name = '\xff'\n")
    assert_told(skillevo("validate"), 2, "skillevo.toml: broken TOML")


def test_hostile_settings_cannot_begin_a_workflow_command(top: Path) -> None:
    configure(top, "[validate]", ignore("##[error]x"))
    told = skillevo("validate").err
    assert "nothing to ignore: unknown-field in \\x23#[error]x" in told
    configure(top, "[validate]", 'profile = "##[add-mask]x"')
    assert "##[" not in skillevo("validate").err
