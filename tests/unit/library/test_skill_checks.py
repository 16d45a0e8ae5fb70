"""What the checker says of one file: the rule, the place, and what it does not say."""

from __future__ import annotations

import pytest

from skillevo.errors import ConfigError
from skillevo.library.rules import check_skill

NAME = "name: tidy-desk\n"
ABOUT = "description: Tidies a desk. Use on Fridays.\n"
BODY = "\n# Steps\n\nPut things away.\n"


def found(
    header: str, *, body: str = BODY, profile: str = "spec", path: str = "tidy-desk/SKILL.md"
) -> list[tuple[str, int, int]]:
    data = f"---\n{header}---\n{body}".encode()
    return [(p.rule, p.line, p.column) for p in check_skill(path, data, profile=profile)]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (NAME + ABOUT, []),
        ("{name: tidy-desk, description: 'Tidies: a desk.'}\n", []),
        ("", [("missing-field", 2, 1), ("missing-field", 2, 1)]),
        ("# only a comment\n", [("missing-field", 2, 1), ("missing-field", 2, 1)]),
        ("just text\n", [("not-a-mapping", 2, 1)]),
        ("~\n", [("not-a-mapping", 2, 1)]),
        (NAME + "description: >-\n  Tidies\n  a desk.\n", []),
        (NAME + "description: |\n  Tidies a desk.\n", []),
        (NAME + "description:\n", [("null-value", 3, 13)]),
        (NAME + "description: null\n", [("null-value", 3, 14)]),
        (NAME + "description: 'null'\n", []),
        (NAME + "description: [a]\n", [("wrong-type", 3, 14)]),
        (NAME + "description: {a: b}\n", [("wrong-type", 3, 14)]),
        (NAME + "description: 2024-01-01\n", [("quote-value", 3, 14)]),
        (NAME + "description: 010\n", [("quote-value", 3, 14)]),
        (NAME + "description: '010'\n", []),
        (NAME + "description: 3 > 2 # no\n", [("comment-cuts-value", 3, 19)]),
        (NAME + 'description: "a" # fine\n', []),
        (NAME + "description: a#b\n", []),
        (NAME + "description: a < b and c > d\n", []),
        (NAME + "description: ends </b> here\n", [("tag-like-text", 3, 14)]),
        (NAME + "description: first\n  second\n", [("wrapped-plain-value", 3, 14)]),
        (NAME + "description:\n  next line\n", [("wrapped-plain-value", 4, 3)]),
        (NAME + ABOUT + "license:\n", [("null-value", 4, 9)]),
        (NAME + ABOUT + "license: 2.0\n", [("quote-value", 4, 10)]),
        (NAME + ABOUT + "compatibility: ''\n", [("compatibility-length", 4, 16)]),
        (NAME + ABOUT + f"compatibility: {'x' * 500}\n", []),
        (NAME + ABOUT + "metadata:\n", [("null-value", 4, 10)]),
        (NAME + ABOUT + "metadata: text\n", [("wrong-type", 4, 11)]),
        (NAME + ABOUT + "metadata: [a]\n", [("wrong-type", 4, 11)]),
        (NAME + ABOUT + "metadata: {a: b, c: 1}\n", [("metadata-value", 4, 21)]),
        (NAME + ABOUT + "metadata: {a: , c: [x]}\n", [
            ("metadata-value", 4, 15), ("metadata-value", 4, 20)]),
        (NAME + ABOUT + "metadata:\n  a: b\n  a: c\n", [("duplicate-key", 6, 3)]),
        (NAME + ABOUT + "allowed-tools:\n", [("null-value", 4, 15)]),
        (NAME + ABOUT + "allowed-tools: {a: b}\n", [("wrong-type", 4, 16)]),
        (NAME + ABOUT + "allowed-tools: [[a]]\n", [("wrong-type", 4, 16)]),
        (NAME + ABOUT + "allowed-tools: Bash(git add, git rm) Read\n", []),
        (NAME + ABOUT + "1: x\n", [("key-not-text", 4, 1), ("unknown-field", 4, 1)]),
        (NAME + ABOUT + "<<: {a: b}\n", [("key-not-text", 4, 1), ("unknown-field", 4, 1)]),
        (NAME + ABOUT + "? [a]\n: b\n", [("key-not-text", 4, 3), ("unknown-field", 4, 3)]),
        ("name: a\nname: b\n" + ABOUT, [
            ("name-directory", 2, 7), ("duplicate-key", 3, 1), ("name-directory", 3, 7)]),
        ("name: tidy--desk\n" + ABOUT, [("name-directory", 2, 7), ("name-format", 2, 7)]),
        ("name: ''\n" + ABOUT, [("name-directory", 2, 7), ("name-format", 2, 7)]),
        ("name: -desk\n" + ABOUT, [("name-directory", 2, 7), ("name-format", 2, 7)]),
    ],
)  # fmt: skip
def test_fields_are_judged_as_written(header: str, expected: list[tuple[str, int, int]]) -> None:
    assert found(header) == expected


@pytest.mark.parametrize(
    ("header", "rule", "line", "column"),
    [
        ("a: 'open\n", "yaml-syntax", 2, 4),
        ("a: b: c\n", "unquoted-colon", 2, 5),
        ("a: b\n  c: d\n", "yaml-syntax", 3, 4),
        ("a: `x`\n", "yaml-syntax", 2, 4),
        ("a: b\n...\n", "yaml-syntax", 3, 1),
        ("--- a: b\n", "yaml-syntax", 2, 1),
        ("%YAML 1.1\n--- # x\na: b\n", "yaml-syntax", 2, 1),
        ("a: [b\n", "yaml-syntax", 2, 4),
        ("a: >-#b\n  c\n", "yaml-syntax", 2, 4),
        ("a: |#b\n  c\n", "yaml-syntax", 2, 4),
        ("a: *b\n", "anchor-or-alias", 2, 4),
        ("&a a: b\n", "anchor-or-alias", 2, 1),
        ("a: &x {b: c}\n", "anchor-or-alias", 2, 4),
        ("a: ! b\n", "yaml-tag", 2, 4),
        ("!!map {a: b}\n", "yaml-tag", 2, 1),
        ("a: !!python/object:os.system x\n", "yaml-tag", 2, 4),
        ("a:\n\tb: c\n", "tab-in-header", 3, 1),
        ("a: b\u2028c: d\n", "control-character", 2, 5),
        ("a: b\rc: d\n", "control-character", 2, 5),
        ("\ufeffa: b\n", "control-character", 2, 1),
        ("a: \x1b[31m\n", "control-character", 2, 4),
    ],
)
def test_yaml_that_is_refused_gets_one_finding(
    header: str, rule: str, line: int, column: int
) -> None:
    others = {"mixed-line-endings"}
    assert [item for item in found(header) if item[0] not in others] == [(rule, line, column)]


@pytest.mark.parametrize(
    ("line", "tab"),
    [
        ("license:\tMIT\n", True),
        ("license: a\tb\n", True),
        ("license: MIT\t\n", True),
        ("license: 'a\tb'\n", False),
        ('license: "a\tb"\n', False),
        ("license: MIT # a\tb\n", False),
        ("# a\tb\nlicense: MIT\n", False),
        ("license: MIT # 'q'\nmetadata: {a: 'b'\t}\n", True),
        ("license: |\n  a\tb\n", False),
        ("metadata:\n  a: 'b'\n  c: ['d',\t'e']\n", True),
    ],
)
def test_tab_is_data_only_inside_quotes_blocks_and_comments(line: str, tab: bool) -> None:
    assert ("tab-in-header" in {rule for rule, *_ in found(NAME + ABOUT + line)}) is tab


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        ("", ["empty-body"]),
        ("\n \n\t\n", ["empty-body"]),
        ("One.", []),
        ("\n---\nname: other\n---\n", []),
        ("\n" + "a\n" * 500, []),
        ("\n" + "a\n" * 501, ["body-too-long"]),
        ("\n" + "wörd " * 3500, ["body-too-long"]),
        ("\nEscape \x1b[31m.\n", ["control-character"]),
        ("\nSee [a](b/c/d.md) and [again](b/c/d.md).\n", ["deep-reference"]),
        (
            "\nSee [a](../b/c/d.md), [b](./b/c.md), [c](https://x/y/z), [d](#a/b/c), [e](/a/b).\n",
            [],
        ),
        ("\n`[a](b/c/d.md)`\n\n```\n[a](b/c/e.md)\n```\n", []),
        ("\n~~~\n```\n[a](b/c/e.md)\n~~~\n[a](b/c/f.md)\n", ["deep-reference"]),
    ],
)
def test_body_is_judged_by_what_a_reader_gets(body: str, rules: list[str]) -> None:
    assert [rule for rule, *_ in found(NAME + ABOUT, body=body)] == rules


@pytest.mark.parametrize(("character", "fits"), [("a", 65_000), ("é", 32_000), ("🙂", 16_000)])
def test_front_matter_is_measured_in_bytes(character: str, fits: int) -> None:
    for count, rules in ((fits, []), (fits + 1000, ["header-too-large"])):
        assert [rule for rule, *_ in found(f"{NAME}{ABOUT}# {character * count}\n")] == rules


def test_only_the_first_thousand_links_are_followed() -> None:
    body = "\n".join(f"[a](b/c/{number}.md)" for number in range(1200))
    assert found(NAME + ABOUT, body=body).count(("deep-reference", 5, 5)) == 1
    assert [rule for rule, *_ in found(NAME + ABOUT, body=body)].count("deep-reference") == 1000


def test_long_body_of_few_lines_counts_by_tokens() -> None:
    [problem] = check_skill(
        "tidy-desk/SKILL.md", f"---\n{NAME}{ABOUT}---\n\n{'word ' * 5000}".encode()
    )
    assert problem.rule == "body-too-long"
    assert "6,250 tokens" in problem.message


@pytest.mark.parametrize(
    ("line", "spec", "claude_code", "codex"),
    [
        ("argument-hint: '[file]'\n", ["client-field"], [], []),
        ("argument-hint: [file]\n", ["client-field"], ["wrong-type"], []),
        ("disable-model-invocation: true\n", ["client-field"], [], []),
        ("disable-model-invocation: 'true'\n", ["client-field"], ["wrong-type"], []),
        ("paths: [src]\n", ["client-field"], [], []),
        ("paths: {a: b}\n", ["client-field"], ["wrong-type"], []),
        ("hooks: {Stop: []}\n", ["client-field"], [], []),
        ("hooks: x\n", ["client-field"], ["wrong-type"], []),
        ("model: opus\n", ["client-field"], [], []),
        ("model:\n", ["client-field"], ["wrong-type"], []),
        ("allowed-tools: [Read, Grep]\n", ["allowed-tools-list"], [], ["allowed-tools-list"]),
        ("skill_id: 7\n", ["unknown-field"], ["unknown-field"], []),
        ("license: [MIT]\n", ["wrong-type"], ["wrong-type"], ["wrong-type"]),
    ],
)
def test_profile_decides_about_fields_of_clients(
    line: str, spec: list[str], claude_code: list[str], codex: list[str]
) -> None:
    for profile, rules in (("spec", spec), ("claude-code", claude_code), ("codex", codex)):
        assert [rule for rule, *_ in found(NAME + ABOUT + line, profile=profile)] == rules


def test_unknown_profile_is_the_callers_error() -> None:
    with pytest.raises(ConfigError, match="unknown profile 'cursor'") as caught:
        check_skill("a/SKILL.md", b"", profile="cursor")
    assert "claude-code" in caught.value.why


@pytest.mark.parametrize(
    ("data", "rules"),
    [
        (b"", ["no-front-matter"]),
        (b"---", ["closing-fence"]),
        (b"---\n", ["closing-fence"]),
        (b"---\n---", ["missing-field", "missing-field", "empty-body"]),
        (b"--- \n---\t\n", ["fence-trailing-blanks", "missing-field", "missing-field"]),
        (b"----\n", ["opening-fence"]),
        (b"\n\n# Title\n", ["no-front-matter"]),
        (b"\xef\xbb\xbf", ["byte-order-mark", "no-front-matter"]),
        (b"\xef\xbb\xbf\n---\n", ["byte-order-mark", "opening-fence"]),
        (b"a\n\xff", ["not-utf8"]),
        (b"\xed\xa0\x80", ["not-utf8"]),
        (b"---\r---\r", ["opening-fence", "mixed-line-endings"]),
    ],
)
def test_bytes_and_fences_come_first(data: bytes, rules: list[str]) -> None:
    problems = [problem.rule for problem in check_skill("x/SKILL.md", data)]
    assert [rule for rule in dict.fromkeys(problems) if rule in rules] == list(dict.fromkeys(rules))
    assert problems[0] in rules


def test_not_utf8_is_located() -> None:
    [problem] = check_skill("x/SKILL.md", b"---\nname: caf\xe9\n---\n")
    assert (problem.line, problem.column, problem.message) == (2, 10, "byte 0xe9 is not UTF-8")


def test_directory_argument_replaces_the_parent() -> None:
    data = f"---\n{NAME}{ABOUT}---\n{BODY}".encode()
    assert check_skill("SKILL.md", data) == []
    assert check_skill("elsewhere/SKILL.md", data, directory="tidy-desk") == []
    assert [p.rule for p in check_skill("elsewhere/SKILL.md", data)] == ["name-directory"]


def test_hostile_text_in_a_message_is_escaped_and_short() -> None:
    name = "x\u202e" + "y" * 300
    messages = [
        problem.message
        for problem in check_skill("x/SKILL.md", f'---\nname: "{name}"\n---\n'.encode())
    ]
    assert all(message.isprintable() and len(message) < 250 for message in messages)


def test_line_numbers_count_crlf_lines() -> None:
    data = f"---\r\n{NAME}author: me\r\n{ABOUT}---\r\n{BODY}".replace("\r\n", "\n")
    data = data.replace("\n", "\r\n")
    lines = {p.rule: p.line for p in check_skill("tidy-desk/SKILL.md", data.encode())}
    assert lines == {"crlf-line-endings": 1, "unknown-field": 3}
