"""Reading and editing one SKILL.md."""

from __future__ import annotations

import pytest
import yaml

from skillevo.errors import LibraryError
from skillevo.library import document
from skillevo.library.compose import Refused
from skillevo.library.nodes import Value
from skillevo.types import Resource

TEXT = """---
# who
name: tidy-desk   # the name
description: >-
  Tidies
  a desk.

metadata:
  version: "1.10"
  # tags
  tags: [a, b]
---

# Steps

name: fake
---
"""


def test_skill_holds_what_the_text_says() -> None:
    script = Resource("scripts/run.py", "100755", "b" * 40)
    skill = document.parse_skill(TEXT, (script,))
    assert (skill.name, skill.description) == ("tidy-desk", "Tidies a desk.")
    assert skill.body == "# Steps\n\nname: fake\n---"
    assert skill.text == TEXT
    assert skill.resources == (script,)


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ("", ""),
        ("\n\n", ""),
        ("text", "text"),
        ("\n \n  indented\n\n", "  indented"),
        ("\r\na\r\n\r\nb\r\n", "a\n\nb"),
    ],
)
def test_body_has_no_blank_edges_and_plain_line_feeds(body: str, read: str) -> None:
    assert document.parse_skill(f"---\nname: a\ndescription: b\n---\n{body}").body == read


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("# no fence\n", r"SKILL\.md:1: the file has no front matter"),
        ("---\nname: a\n", r"SKILL\.md:1: .*no closing"),
        ("---\nname: a\n---\n", r"SKILL\.md:2: .*'description' is absent"),
        ("---\nname: a\ndescription:\n---\n", r"SKILL\.md:3: .*'description' is empty"),
        ("---\nname: a\ndescription: ' '\n---\n", r"SKILL\.md:3: .*'description' is empty"),
        ("---\nname: [a]\ndescription: b\n---\n", r"SKILL\.md:2: 'name' is not a text"),
        ("---\nname: a\ndescription: b: c\n---\n", r"SKILL\.md:3: .*colon"),
        ("---\nname: a\nname: b\n---\n", r"SKILL\.md:3: .*given twice"),
        ("\ufeff---\nname: a\ndescription: b\n---\n", r"SKILL\.md:1: "),
        ("---\nname: a\ndescription: b\n---\n\nhalf \ud800\n", r"SKILL\.md:6: .*surrogate"),
    ],
)
def test_text_that_is_no_skill_is_refused_with_its_line(text: str, match: str) -> None:
    with pytest.raises(LibraryError, match=match) as caught:
        document.parse_skill(text)
    assert caught.value.why
    assert caught.value.fix


def test_new_file_is_canonical() -> None:
    text = document.render_skill("tidy-desk", "Tidies: a desk", "\n\n# Steps\r\n\r\nGo.  \n\n")
    assert text == '---\nname: tidy-desk\ndescription: "Tidies: a desk"\n---\n\n# Steps\n\nGo.\n'


@pytest.mark.parametrize(
    ("description", "written"),
    [
        ("Plain words, (commas) and <signs> [too].", "Plain words, (commas) and <signs> [too]."),
        ("Ünïcode words", "Ünïcode words"),
        ("two\nlines", '"two\\nlines"'),
        ("a: b", '"a: b"'),
        ("ends:", '"ends:"'),
        ("a #b", '"a #b"'),
        ("- item", '"- item"'),
        ("1.10", '"1.10"'),
        ("Yes", '"Yes"'),
        ('say "x" \\', 'say "x" \\'),
        ('"x" \\', '"\\"x\\" \\\\"'),
        ("tab\there", '"tab\\there"'),
        ("bell\x07 line\u2028 mark\ufeff", '"bell\\x07 line\\u2028 mark\\uFEFF"'),
    ],
)
def test_description_is_quoted_only_in_doubt(description: str, written: str) -> None:
    text = document.render_skill("tidy-desk", description, "Go.")
    assert text.split("\n")[2] == f"description: {written}"
    assert document.parse_skill(text).description == description


@pytest.mark.parametrize(("name", "description"), [("", "b"), ("a", "  "), ("a", "\ud800")])
def test_file_that_could_not_be_read_back_is_not_written(name: str, description: str) -> None:
    with pytest.raises(LibraryError, match=r"SKILL\.md:"):
        document.render_skill(name, description, "Go.")


def test_set_field_replaces_the_value_and_keeps_comments() -> None:
    edited = document.set_field(TEXT, "name", "clear-desk")
    assert edited == TEXT.replace("name: tidy-desk  ", "name: clear-desk  ")


def test_set_field_replaces_a_block_without_its_blank_line() -> None:
    edited = document.set_field(TEXT, "description", "Clears a desk.")
    block = "description: >-\n  Tidies\n  a desk.\n"
    assert edited == TEXT.replace(block, 'description: "Clears a desk."\n')


def test_set_field_replaces_a_map() -> None:
    edited = document.set_field(TEXT, "metadata", "none")
    assert "\nmetadata: none\n---\n" in edited


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("name: a\ndescription: b\n", "name: a\ndescription: b\nlicense: MIT-0 x\n"),
        ("  name: a\n  description: b\n", "  name: a\n  description: b\n  license: MIT-0 x\n"),
        ("{name: a, description: b}\n", "{name: a, description: b, license: MIT-0 x}\n"),
        ("{name: a, description: b,}\n", "{name: a, description: b, license: MIT-0 x,}\n"),
        (
            "name: a\ndescription: |+\n  b\n\n",
            "name: a\ndescription: |+\n  b\n\nlicense: MIT-0 x\n",
        ),
        ("", "license: MIT-0 x\n"),
        ("# none\n", "# none\nlicense: MIT-0 x\n"),
        ("? name\n: a\ndescription: b\n", "? name\n: a\ndescription: b\nlicense: MIT-0 x\n"),
        ("{}\n", "{license: MIT-0 x}\n"),
    ],
)
def test_new_field_goes_last(header: str, expected: str) -> None:
    expected = expected.replace("MIT-0 x", '"MIT-0 x"')
    text = f"---\n{header}---\n\nGo.\n"
    assert document.set_field(text, "license", "MIT-0 x") == f"---\n{expected}---\n\nGo.\n"


@pytest.mark.parametrize(
    ("header", "key", "expected"),
    [
        ("name: a\nx: y # c\ndescription: b\n", "x", "name: a\ndescription: b\n"),
        ("name: a\nx:\n- y\n- z\ndescription: b\n", "x", "name: a\ndescription: b\n"),
        ("name: a\nx:\ndescription: b\n", "x", "name: a\ndescription: b\n"),
        (
            "name: a\ndescription: |+\n  b\nx: y\n\nz: w\n",
            "x",
            "name: a\ndescription: |+\n  b\nz: w\n",
        ),
        ("{x: y, name: a, description: b}\n", "x", "{name: a, description: b}\n"),
        ("{name: a, description: b, x: y}\n", "x", "{name: a, description: b}\n"),
        ("{name: a, x: {y: z}, description: b}\n", "x", "{name: a, description: b}\n"),
        ("name: a\ndescription: b\n", "x", "name: a\ndescription: b\n"),
        ("name: a\n", "name", ""),
        ("{name: a}\n", "name", "{}\n"),
    ],
)
def test_deleted_field_takes_its_lines_along(header: str, key: str, expected: str) -> None:
    assert document.delete_field(f"---\n{header}---\nGo.\n", key) == f"---\n{expected}---\nGo.\n"


@pytest.mark.parametrize(
    ("header", "key", "value"),
    [
        ("? x\nname: a\n", "x", "y"),
        ("name: a\n", "new", "half \ud800"),
        ("name: a\n", "x" * 2000, "too long a key"),
    ],
)
def test_edit_that_cannot_stay_alone_is_refused(header: str, key: str, value: str) -> None:
    with pytest.raises(LibraryError, match=r"SKILL\.md:"):
        document.set_field(f"---\n{header}---\n", key, value)


def test_deletion_that_would_change_a_neighbor_is_refused() -> None:
    text = "---\na: |\n  x\nb: y\n  # more\nc: z\n---\n"
    with pytest.raises(LibraryError, match="'b' cannot be edited alone") as caught:
        document.delete_field(text, "b")
    assert "field: value" in caught.value.fix


def test_broken_file_is_not_edited() -> None:
    for edit in (
        lambda text: document.set_field(text, "a", "b"),
        lambda text: document.delete_field(text, "a"),
        lambda text: document.replace_body(text, "b"),
    ):
        with pytest.raises(LibraryError, match="no front matter"):
            edit("# no skill\n")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("\nOld.\n", "New.", "\nNew.\n"),
        ("\n\nOld.", "New.", "\n\nNew."),
        ("Old.\n\n\n", "\nNew.\n\nMore.\n", "New.\n\nMore.\n\n\n"),
        ("", "New.", "\nNew.\n"),
        ("\n\n", "New.", "\nNew.\n"),
        ("\nOld.\n", "", "\n\n"),
        ("", " ", ""),
        ("\nOld.\n", "---\nname: x\n---", "\n---\nname: x\n---\n"),
    ],
)
def test_body_is_replaced_between_its_edges(old: str, new: str, expected: str) -> None:
    head = "---\nname: a\ndescription: b\n---\n"
    assert document.replace_body(head + old, new) == head + expected


def test_body_of_a_crlf_file_keeps_its_line_ends() -> None:
    text = "---\r\nname: a\r\ndescription: b\r\n---\r\n\r\nOld.\r\n"
    assert document.replace_body(text, "New.\n\nMore.") == text.replace("Old.", "New.\r\n\r\nMore.")


def test_body_is_added_after_a_fence_that_ends_the_file() -> None:
    text = "---\nname: a\ndescription: b\n---"
    assert document.replace_body(text, "New.") == text + "\n\nNew.\n"


def test_plain_fields_are_text_as_written() -> None:
    assert document.plain_fields(TEXT) == {
        "name": "tidy-desk",
        "description": "Tidies a desk.",
        "metadata.version": "1.10",
        "metadata.tags": "a, b",
    }
    assert document.plain_fields("no skill") == {}
    with pytest.raises(LibraryError, match="cannot be read"):
        document.plain_fields("---\na: b: c\n---\n")


@pytest.mark.parametrize(
    "header",
    [
        TEXT.split("---\n")[1],
        "{name: a, description: [b, {c: d}], e: 'f', g: h}\n",
        "a: |+\n  x\n\nb: >-\n   y\n   z\nc:\n- d\n-\n- e: f\n🙂: g\n",
        "",
        "# comment\n",
    ],
)
def test_fast_and_pure_yaml_readers_see_the_same_marks(header: str) -> None:
    fast = document.compose(header, 0, len(header))
    assert document.compose(header, 0, len(header), yaml.SafeLoader) == fast


@pytest.mark.parametrize(
    "header", ["a: *b\n", "a: &b c\n", "a: !x b\n", "a: b: c\n", "- a\n", "a: 'b\n"]
)
def test_fast_and_pure_yaml_readers_refuse_the_same(header: str) -> None:
    refused = []
    for loader in (yaml.CSafeLoader, yaml.SafeLoader):
        with pytest.raises(Refused) as caught:
            document.compose(header, 0, len(header), loader)
        refused.append((caught.value.finding.rule, caught.value.finding.offset))
    assert refused[0] == refused[1]


def value(source: str) -> Value:
    root = document.compose(source, 0, len(source))
    assert root is not None
    return root


def test_value_meaning_ignores_how_it_is_written() -> None:
    written = value("a: {b: ['c', d]}\n")
    assert written.same_meaning(value('a:\n  b:\n  - "c"\n  - d\n'))
    for other in ("a: {b: ['c', e]}\n", "a: {b: [c]}\n", "a: {x: ['c', d]}\n", "a: {b: c}\n"):
        assert not written.same_meaning(value(other))
