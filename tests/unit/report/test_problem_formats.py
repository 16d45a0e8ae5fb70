"""Findings in every format: the shapes programs rely on, and text from files that stays text."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillevo.library.catalog import RULES
from skillevo.report.problems.as_json import problems_json
from skillevo.report.problems.as_text import problem_lines
from skillevo.report.problems.github import github_lines
from skillevo.report.problems.markdown import markdown_text
from skillevo.report.problems.sarif import sarif_json
from skillevo.types import Problem, Severity

SCHEMA = Path(__file__).parents[2] / "data" / "sarif-schema-2.1.0.json"
HOSTILE = [
    "::error::pwned",
    "a\n::add-mask::b",
    "a\r\n::set-output name=x::y",
    "%0A::error::pwned",
    "x,line=9,col=9::pwned",
    "##[error]pwned",
    "a\u2028::stop-commands::t",
    "\x1b]0;title\x07",
    "| a | b |\n|---|",
    "<script>alert(1)</script>",
    "![x](http://example.com/x.png) @someone #1",
]
texts = st.text(max_size=40) | st.sampled_from(HOSTILE)


def problem(
    path: str = "skills/a/b/SKILL.md",
    message: str = "the description is blank",
    severity: Severity = Severity.ERROR,
    rule: str = "blank-description",
    line: int = 3,
) -> Problem:
    return Problem(rule, severity, RULES[rule].kind, path, line, 14, message, "Say what it does.")


WARNING = problem(severity=Severity.WARNING, rule="empty-body", message="the skill has no body")


def unescaped(text: str) -> str:
    """As a runner reads the value of a property or a message."""
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ",")):
        text = text.replace(code, character)
    return text.replace("%25", "%")


def test_json_has_the_keys_that_programs_rely_on() -> None:
    assert json.loads(json.dumps(problems_json(2, [problem()]))) == {
        "schema_version": 1,
        "files": 2,
        "problems": [
            {
                "rule": "blank-description",
                "severity": "error",
                "kind": "spec",
                "path": "skills/a/b/SKILL.md",
                "line": 3,
                "column": 14,
                "message": "the description is blank",
                "fix": "Say what it does.",
            }
        ],
    }


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("::error::x", "./::error::x"),
        ("  ::error::x", "./  ::error::x"),
        ("##[error]x", "\\x23#[error]x"),
        ("a::b", "a::b"),
    ],
)
def test_text_begins_no_workflow_command(path: str, shown: str) -> None:
    assert problem_lines(1, [problem(path)])[0].startswith(f"{shown}:3:14: error: ")


def test_text_has_a_line_per_finding_and_the_count() -> None:
    assert problem_lines(1, [WARNING, problem()]) == [
        "skills/a/b/SKILL.md:3:14: warning: the skill has no body [empty-body]",
        "skills/a/b/SKILL.md:3:14: error: the description is blank [blank-description]",
        "1 skills checked: 1 errors, 1 warnings",
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_line_is_no_command_whatever_the_path(text: str) -> None:
    first, last = problem_lines(1, [problem(path=text, message=text)])
    assert not first.startswith("::")
    assert first.isprintable()
    assert last.startswith("1 skills checked")


def test_annotations_come_errors_first_with_place_rule_and_fix() -> None:
    assert github_lines(1, [WARNING, problem()]) == [
        "::error file=skills/a/b/SKILL.md,line=3,col=14,title=blank-description"
        "::the description is blank%0ASay what it does.",
        "::warning file=skills/a/b/SKILL.md,line=3,col=14,title=empty-body"
        "::the skill has no body%0ASay what it does.",
        "1 skills checked: 1 errors, 1 warnings",
    ]


@given(path=texts, message=texts)
def test_annotation_is_one_command_whatever_the_file_holds(path: str, message: str) -> None:
    lines = "\n".join(github_lines(1, [problem(path=path, message=message)]))
    annotation, count = re.split(r"\r\n|\r|\n", lines)
    command = re.fullmatch(r"::error ([^:]*)::(.*)", annotation, re.DOTALL)
    assert command is not None
    assert "##[" not in command[2]
    properties = [part.partition("=") for part in command[1].split(",")]
    assert [name for name, _, _ in properties] == ["file", "line", "col", "title"]
    assert unescaped(properties[0][2]) == path
    assert count == "1 skills checked: 1 errors, 0 warnings"


@given(paths=st.lists(texts, max_size=5), message=texts)
def test_sarif_fits_the_official_schema(paths: list[str], message: str) -> None:
    found = [problem(path=path, message=message) for path in paths]
    validator().validate(sarif_json([*found, WARNING]))


def test_sarif_names_rule_level_place_and_text() -> None:
    run = sarif_json([WARNING, problem(path="skills/a b/ü/SKILL.md")])["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [
        "blank-description",
        "empty-body",
    ]
    assert [(r["ruleId"], r["ruleIndex"], r["level"]) for r in run["results"]] == [
        ("empty-body", 1, "warning"),
        ("blank-description", 0, "error"),
    ]
    place = run["results"][1]["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "skills/a%20b/%C3%BC/SKILL.md", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3, "startColumn": 14},
    }


def test_sarif_keeps_the_bytes_of_a_path_that_is_no_utf8() -> None:
    results = sarif_json([problem(path="a\udcff/SKILL.md")])["runs"][0]["results"]
    location = results[0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location["uri"] == "a%FF/SKILL.md"


def test_sarif_gives_an_absolute_path_as_a_file_address() -> None:
    results = sarif_json([problem(path="/a/SKILL.md")])["runs"][0]["results"]
    location = results[0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "file:///a/SKILL.md"}


def test_markdown_is_a_table_with_errors_first() -> None:
    lines = markdown_text(1, [WARNING, problem()]).splitlines()
    assert lines[:3] == ["## Skill check", "", "1 skills checked: 1 errors, 1 warnings."]
    assert [line.split(" | ")[0] for line in lines[6:]] == ["| error", "| warning"]


def test_markdown_without_findings_has_no_table() -> None:
    assert "|" not in markdown_text(3, [])


@given(path=texts, message=texts)
def test_markdown_cells_hold_text_only(path: str, message: str) -> None:
    row = markdown_text(1, [problem(path=path, message=message)]).splitlines()[6:]
    assert len(row) == 1
    cells = re.findall(r"<code>(.*?)</code>", row[0])
    assert len(cells) == 2
    for cell in cells:
        assert re.fullmatch(r"(?:[^\W_]|[ /.-]|&#\d+;)*", cell), cell
    assert html.unescape(cells[0]).endswith(":3:14")


def test_markdown_stays_below_its_limit_and_points_to_the_rest() -> None:
    found = [problem(message="<" * 300, line=n) for n in range(1, 2001)]
    text = markdown_text(1, found)
    assert 890_000 < len(text.encode()) <= 900_000
    rows = text.count("| error |")
    assert f"{2000 - rows:,} more findings: `skillevo validate --format json`" in text


def validator() -> jsonschema.Draft7Validator:
    return jsonschema.Draft7Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_sarif_schema_refuses_what_is_wrong() -> None:
    wrong = sarif_json([problem()])
    wrong["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError, match="'fatal' is not one of"):
        validator().validate(wrong)
