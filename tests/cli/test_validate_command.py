"""``skillevo validate`` on files: what it checks, prints and repairs, and how it exits."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import jsonschema
import pytest
from fakes.workshop import Outcome, assert_told, skillevo, spawn

SARIF = Path(__file__).parents[1] / "data" / "sarif-schema-2.1.0.json"
CPU_LIMIT_S = 5.0
"""For what takes a tenth of a second, and minutes when its cost grows with its square."""
KEYS = {"rule", "severity", "kind", "path", "line", "column", "message", "fix"}


def skill(name: str, *fields: str, body: str = "\n# Steps\n\nDo it.\n") -> str:
    about = f"description: Helps to {name}. Use when asked to {name}.\n"
    lines = "".join(f"{field}\n" for field in fields)
    return f"---\nname: {name}\n{about}{lines}---\n{body}"


def write(root: Path, path: str, text: str | bytes) -> Path:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text if isinstance(text, bytes) else text.encode())
    return target


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one and in no project."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def found(outcome: Outcome) -> list[tuple[str, str]]:
    return [(problem["path"], problem["rule"]) for problem in outcome.value["problems"]]


def test_valid_skills_end_with_exit_code_0(top: Path) -> None:
    write(top, "skills/a/sort/SKILL.md", skill("sort"))
    outcome = skillevo("validate")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.lines == ["1 skills checked: 0 errors, 0 warnings"]


def test_error_ends_with_exit_code_1_and_says_where(top: Path) -> None:
    write(top, "skills/a/sort/SKILL.md", skill("sort", "color: red"))
    outcome = skillevo("validate", "skills")
    assert outcome.code == 1
    assert outcome.lines[0].startswith("skills/a/sort/SKILL.md:4:1: error: ")
    assert outcome.lines[0].endswith("[unknown-field]")


@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("warning", 1)])
def test_fail_on_decides_whether_a_warning_counts(top: Path, fail_on: str, code: int) -> None:
    write(top, "sort/SKILL.md", skill("sort", body=""))
    assert skillevo("validate", "--fail-on", fail_on).code == code


def test_json_is_the_contract(top: Path) -> None:
    write(top, "b/SKILL.md", skill("other", "color: red", "license: 1"))
    write(top, "a/SKILL.md", b"\xff")
    value = skillevo("validate", "--format", "json").value
    assert set(value) == {"schema_version", "files", "problems"}
    assert (value["schema_version"], value["files"]) == (1, 2)
    assert all(set(problem) == KEYS for problem in value["problems"])
    order = [(p["path"], p["line"], p["rule"]) for p in value["problems"]]
    assert order == sorted(order)
    assert {p["path"] for p in value["problems"]} == {"a/SKILL.md", "b/SKILL.md"}


def test_output_is_the_same_every_time(top: Path) -> None:
    for name in ("b", "a", "c"):
        write(top, f"skills/x/{name}/SKILL.md", skill("sort", "color: red"))
    outputs = {spawn("validate", cwd=top, PYTHONHASHSEED=seed).out for seed in ("1", "2", "3")}
    assert len(outputs) == 1


@pytest.mark.parametrize("form", ["text", "json", "github", "sarif", "markdown"])
def test_nothing_to_check_is_a_notice_and_no_failure(top: Path, form: str) -> None:
    outcome = skillevo("validate", "--format", form)
    assert outcome.code == 0
    assert outcome.err == "no SKILL.md found: nothing to check\n"


def test_path_may_be_a_file(top: Path) -> None:
    write(top, "skills/a/sort/SKILL.md", skill("sort", "color: red"))
    write(top, "skills/a/other/SKILL.md", b"\xff")
    outcome = skillevo("validate", "skills/a/sort/SKILL.md", "--format", "json")
    assert outcome.value["files"] == 1
    assert found(outcome) == [("skills/a/sort/SKILL.md", "unknown-field")]


def test_path_may_be_absolute_and_several_may_be_given(top: Path) -> None:
    write(top, "one/SKILL.md", skill("one", "color: red"))
    write(top, "two/SKILL.md", skill("two", "color: red"))
    outcome = skillevo("validate", top / "one", "two", "--format", "json")
    assert [path for path, _ in found(outcome)] == [f"{top}/one/SKILL.md", "two/SKILL.md"]


@pytest.mark.parametrize("path", ["", "skills", "skills/a/sort"])
def test_absolute_path_gives_the_findings_of_the_relative_one(top: Path, path: str) -> None:
    # The name of an outer folder must not make the library look deeper than it is.
    root = top / "skills" / "mine"
    write(root, "skills/a/sort/SKILL.md", skill("sort", "color: red"))
    write(root, "skills/a/empty/README.md", "x")
    relative = found(skillevo("-C", root, "validate", *filter(None, [path]), "--format", "json"))
    absolute = found(skillevo("validate", root / path, "--format", "json"))
    assert [(name.removeprefix(f"{root}/"), rule) for name, rule in absolute] == relative


def test_path_counts_from_the_folder_of_the_option_c(top: Path) -> None:
    write(top, "project/skills/a/sort/SKILL.md", skill("sort", "color: red"))
    outcome = skillevo("-C", top / "project", "validate", "skills", "--format", "json")
    assert found(outcome) == [("skills/a/sort/SKILL.md", "unknown-field")]


@pytest.mark.parametrize("path", [".", "SKILL.md"])
def test_name_is_compared_with_the_folder_one_stands_in(
    top: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    write(top, "sort/SKILL.md", skill("other"))
    monkeypatch.chdir(top / "sort")
    assert found(skillevo("validate", path, "--format", "json")) == [("SKILL.md", "name-directory")]
    write(top, "sort/SKILL.md", skill("sort"))
    assert skillevo("validate", path).code == 0


def test_skill_in_the_folder_above_is_judged_by_that_folders_name(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(top, "sort/SKILL.md", skill("sort"))
    write(top, "sort/scripts/run.py", "")
    monkeypatch.chdir(top / "sort" / "scripts")
    assert skillevo("validate", "..").lines == ["1 skills checked: 0 errors, 0 warnings"]


def test_link_to_a_file_outside_of_the_paths_is_no_missing_link(top: Path) -> None:
    body = "\nSee [the guide](../guide.md), [it](../none.md) and [a folder](../other).\n"
    write(top, "skills/a/sort/SKILL.md", skill("sort", body=body))
    write(top, "skills/a/guide.md", "x")
    write(top, "skills/a/other/SKILL.md", skill("other"))
    for path in ("skills/a/sort", "skills/a/sort/SKILL.md", "skills"):
        outcome = skillevo("validate", path, "--format", "json")
        assert found(outcome) == [("skills/a/sort/SKILL.md", "missing-link")]
        assert "../none.md" in outcome.value["problems"][0]["message"]


def test_many_links_to_nowhere_are_found_in_bounded_time(top: Path) -> None:
    body = "".join(f"[x](none/{n}) " for n in range(50_000))
    write(top, "sort/SKILL.md", skill("sort", body=body))
    started = time.process_time()
    outcome = skillevo("validate", "--format", "json")
    assert time.process_time() - started < CPU_LIMIT_S
    assert [rule for _, rule in found(outcome)].count("missing-link") == 1000


@pytest.mark.parametrize("target", ["x" * 5000, "a%00b", "../" * 2000 + "x", "//x/y"])
def test_link_that_no_file_can_be_at_is_no_obstacle(top: Path, target: str) -> None:
    write(top, "sort/SKILL.md", skill("sort", body=f"\nSee [it]({target}).\n"))
    assert skillevo("validate").code == 0


@pytest.mark.parametrize("form", ["/{}", "{}/../{name}", "{}/.", "{}/sort/.."])
def test_absolute_path_may_be_spelled_in_any_way(top: Path, form: str) -> None:
    write(top, "sort/SKILL.md", skill("sort", "color: red"))
    outcome = skillevo("validate", form.format(top, name=top.name), "--format", "json")
    assert [rule for _, rule in found(outcome)] == ["unknown-field"]


def test_path_that_no_file_can_have_is_a_usage_error(top: Path) -> None:
    assert_told(skillevo("validate", "x" * 300), 2, "does not exist")


def test_link_to_a_folder_in_place_of_a_skill_is_found(top: Path) -> None:
    write(top, "shared/sort/SKILL.md", skill("sort"))
    (top / "skills" / "a").mkdir(parents=True)
    (top / "skills" / "a" / "sort").symlink_to(top / "shared" / "sort")
    outcome = skillevo("validate", "skills", "--format", "json")
    assert found(outcome) == [("skills/a/sort", "symlinked-skill")]


def test_folders_of_git_and_of_runs_are_passed_over(top: Path) -> None:
    write(top, ".git/x/SKILL.md", b"\xff")
    write(top, ".skillevo/x/SKILL.md", b"\xff")
    assert skillevo("validate", "--format", "json").value["files"] == 0


def test_profile_decides_whose_fields_count(top: Path) -> None:
    write(top, "sort/SKILL.md", skill("sort", "argument-hint: FILE"))
    assert [skillevo("validate", "--profile", p).code for p in ("spec", "claude-code")] == [1, 0]


def test_missing_skill_file_of_a_folder_is_a_finding(top: Path) -> None:
    write(top, "sort/README.md", "x")
    outcome = skillevo("validate", "sort/SKILL.md", "--format", "json")
    assert (outcome.code, outcome.value["files"]) == (1, 0)
    assert found(outcome) == [("sort/SKILL.md", "missing-skill-file")]
    assert_told(skillevo("validate", "none/SKILL.md"), 2, "none/SKILL.md does not exist")


def test_missing_path_is_a_usage_error(top: Path) -> None:
    assert_told(skillevo("validate", "nowhere"), 2, "nowhere does not exist")


def test_unreadable_folder_is_an_environment_fault(top: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    write(top, "sort/SKILL.md", skill("sort")).parent.chmod(0)
    try:
        assert_told(skillevo("validate"), 3, "sort cannot be read")
    finally:
        (top / "sort").chmod(0o755)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--rev", "HEAD", "--staged"),
        ("--rev", "HEAD", "--fix"),
        ("--staged", "--diff"),
        ("--format", "xml"),
        ("--profile", "mine"),
        ("--fail-on", "never"),
    ],
)
def test_options_that_make_no_sense_are_a_usage_error(
    top: Path, arguments: tuple[str, ...]
) -> None:
    assert_told(skillevo("validate", *arguments), 2)


@pytest.mark.parametrize("option", [("--rev", "HEAD"), ("--staged",)])
def test_git_options_outside_of_a_repository_are_an_environment_fault(
    top: Path, option: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(top.parent))
    assert_told(skillevo("validate", *option), 3, "not in the work tree of a git repository")


def test_sarif_of_real_findings_fits_the_schema(top: Path) -> None:
    write(top, "sort/SKILL.md", skill("other", "color: red", body=""))
    value = skillevo("validate", "--format", "sarif").value
    jsonschema.Draft7Validator(json.loads(SARIF.read_text())).validate(value)
    assert {result["ruleId"] for result in value["runs"][0]["results"]} == {
        "unknown-field",
        "name-directory",
        "empty-body",
    }


def test_hostile_file_cannot_begin_a_workflow_command(top: Path) -> None:
    folder = "::error file=a::b\n::add-mask::c"
    fields = ['"::error::x\\n::warning::y": "%0A::error::z"', '"##[error]k": v']
    write(top, f"{folder}/SKILL.md", skill("sort", *fields, body="\n[x](::error::.md)\n"))
    write(top, "  ::error::d/SKILL.md", skill("sort", "##[warning]k: v"))
    write(top, "##[error]e/SKILL.md", skill("sort"))
    for form in ("github", "text", "markdown"):
        outcome = skillevo("validate", "--format", form)
        commands = [line for line in outcome.lines if line.lstrip().startswith("::")]
        assert all("title=" in line for line in commands)
        assert len(commands) == (0 if form != "github" else len(outcome.lines) - 1)


def test_older_form_of_a_workflow_command_is_broken_up(top: Path) -> None:
    write(top, "##[error]e/SKILL.md", skill("sort", '"##[warning]k": v'))
    for form in ("text", "json", "sarif", "markdown"):
        assert "##[" not in skillevo("validate", "--format", form).out
    paths = [path for path, _ in found(skillevo("validate", "--format", "json"))]
    assert paths == ["##[error]e/SKILL.md"] * 2


def test_diff_of_a_hostile_file_cannot_begin_a_workflow_command(top: Path) -> None:
    body = "::error::a\n##[error]b\n\n::warning::c\r\n"
    write(top, "##[error]d/SKILL.md", skill("sort", body=body))
    for form in ("text", "json"):
        outcome = skillevo("validate", "--diff", "--format", form)
        lines = (outcome.out + outcome.err).splitlines()
        assert [line for line in lines if line.lstrip().startswith("::") or "##[" in line] == []
    assert " \\x3a:error::a" in lines


def test_summary_is_appended_to_a_file(top: Path) -> None:
    write(top, "sort/SKILL.md", skill("sort", "color: red"))
    summary = write(top, "summary.md", "# Before\n")
    outcome = skillevo("validate", "--format", "github", "--summary", summary)
    assert outcome.code == 1
    assert summary.read_text().startswith("# Before\n## Skill check\n")
    assert outcome.out.startswith("::error file=sort/SKILL.md,line=4,col=1,title=unknown-field::")


def test_summary_that_cannot_be_written_is_an_environment_fault(top: Path) -> None:
    outcome = skillevo("validate", "--summary", top / "none" / "summary.md")
    assert outcome.code == 3
    assert "summary.md cannot be written" in outcome.err


# --- repairs --------------------------------------------------------------------------------------

BROKEN = b"\xef\xbb\xbf---  \r\nname: sort\r\ndescription: Sorts: all.\r\n---\r\n\r\n# Steps\r\n"
REPAIRED = b'---\nname: sort\ndescription: "Sorts: all."\n---\n\n# Steps\n'


def test_fix_repairs_the_file_in_place_and_keeps_its_mode(top: Path) -> None:
    path = write(top, "sort/SKILL.md", BROKEN)
    path.chmod(0o640)
    outcome = skillevo("validate", "--fix")
    assert (outcome.code, outcome.lines) == (0, ["1 skills checked: 0 errors, 0 warnings"])
    assert path.read_bytes() == REPAIRED
    assert path.stat().st_mode & 0o7777 == 0o640
    assert [entry.name for entry in path.parent.iterdir()] == ["SKILL.md"]


def test_fix_leaves_a_file_without_a_safe_repair_untouched(top: Path) -> None:
    path = write(top, "sort/SKILL.md", skill("other", "color: red"))
    before = path.stat()
    assert skillevo("validate", "--fix").code == 1
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_diff_alone_shows_repairs_and_changes_nothing(top: Path) -> None:
    path = write(top, "sort/SKILL.md", skill("sort", body="\nDo it.\r\n"))
    outcome = skillevo("validate", "--diff")
    assert outcome.code == 1
    assert outcome.lines[:2] == ["--- a/sort/SKILL.md", "+++ b/sort/SKILL.md"]
    assert "-Do it.\\r" in outcome.lines
    assert "+Do it." in outcome.lines
    assert path.read_bytes().endswith(b"\r\n")


def test_diff_alone_without_a_repair_ends_with_exit_code_0(top: Path) -> None:
    write(top, "sort/SKILL.md", skill("sort"))
    assert skillevo("validate", "--diff").code == 0


def test_fix_with_diff_shows_and_writes(top: Path) -> None:
    path = write(top, "sort/SKILL.md", BROKEN)
    outcome = skillevo("validate", "--fix", "--diff")
    assert outcome.code == 0
    assert outcome.lines[0] == "--- a/sort/SKILL.md"
    assert path.read_bytes() == REPAIRED


def test_diff_stands_beside_the_output_of_programs(top: Path) -> None:
    write(top, "sort/SKILL.md", BROKEN)
    outcome = skillevo("validate", "--diff", "--format", "json")
    assert outcome.value["files"] == 1
    assert outcome.err.startswith("--- a/sort/SKILL.md\n")


def test_second_fix_finds_nothing_to_do(top: Path) -> None:
    write(top, "sort/SKILL.md", BROKEN)
    skillevo("validate", "--fix")
    assert skillevo("validate", "--diff").lines == ["1 skills checked: 0 errors, 0 warnings"]


def test_fix_works_on_the_file_that_it_read(top: Path) -> None:
    # The way up from a link leads elsewhere for the system than for the eye.
    near = write(top, "sort/SKILL.md", skill("sort"))
    far = write(top, "far/sort/SKILL.md", skill("sort", "license: x").replace("\n", "\r\n"))
    (top / "far" / "folder").mkdir()
    (top / "link").symlink_to(top / "far" / "folder")
    before = near.read_bytes(), far.read_bytes()
    assert skillevo("validate", "--fix", "link/../sort").code == 0
    assert (near.read_bytes(), far.read_bytes()) == before
