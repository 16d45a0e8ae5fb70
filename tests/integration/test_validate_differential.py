"""What the profile ``spec`` accepts, the reference validator accepts, but for a documented list."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillevo.library.catalog import ALL_RULES
from skillevo.library.document import read, render_skill, set_field
from skillevo.library.rule import TreeEntry
from skillevo.library.rules import check_skill
from skillevo.types import Severity

skills_ref = pytest.importorskip(
    "skills_ref", reason="skills-ref is not installed (pip install 'skillevo[dev]')"
)

NAME = "sort-photos"
HEAD = f"name: {NAME}\ndescription: Sorts photos by date. Use when a folder is a mess.\n"
EXCEPTIONS: dict[str, str] = {
    "flow style": "skills-ref reads with strictyaml, which takes no bracketed collections; YAML "
    "and the format allow them",
    "three hyphens in the front matter": "skills-ref cuts the file at the second --- wherever it "
    "stands, inside of a value, a key or a comment too",
    "a comment before a value of several lines": "the YAML library of strictyaml fails when a "
    "comment stands between a key and a value that goes on in further lines",
}
"""Why a file that is valid here may be refused there; docs/validate.md shows them."""


def accepted(text: str, name: str = NAME) -> bool:
    """True when this project finds no error."""
    found = check_skill(f"{name}/SKILL.md", text.encode())
    return not any(problem.severity is Severity.ERROR for problem in found)


def refused_by_reference(text: str, name: str = NAME) -> list[str]:
    """What skills-ref has against the file; a crash of its YAML library counts, too."""
    with tempfile.TemporaryDirectory() as folder:
        skill = Path(folder, name)
        skill.mkdir()
        (skill / "SKILL.md").write_bytes(text.encode())
        try:
            errors: list[str] = skills_ref.validate(skill)
        except (NotImplementedError, AttributeError) as error:
            return [repr(error)]
    return errors


def exception_for(text: str, refused: list[str]) -> str | None:
    """The documented exception that the refusal falls under, None for no such."""
    document = read(text)
    header = text[document.header_start : document.header_end]
    values = [document.root] if document.root else []
    for value in values:
        values += [*value.items, *(part for e in value.entries for part in (e.key, e.value))]
    if any(value.style == "flow" for value in values):
        return "flow style"
    if "---" in header:
        return "three hyphens in the front matter"
    if "#" in header and "overlap in comment" in refused[0]:
        return "a comment before a value of several lines"
    return None


def assert_agreement(text: str, name: str = NAME) -> None:
    if accepted(text, name) and (refused := refused_by_reference(text, name)):
        assert exception_for(text, refused) is not None, (text, refused)


def head(lines: str, body: str = "\n# Steps\n\nDo it.\n") -> str:
    return f"---\n{lines}---\n{body}"


CORPUS = {
    "plain": head(HEAD),
    "every field": head(
        HEAD + "license: MIT\ncompatibility: Needs git.\nallowed-tools: Read Bash(git:*)\n"
        'metadata:\n  author: me\n  version: "1.0"\n'
    ),
    "quoted": head(f"name: '{NAME}'\ndescription: \"Sorts: all. Use it.\"\n"),
    "literal": head(f"name: {NAME}\ndescription: |\n  Sorts.\n  Use it when asked.\n"),
    "folded": head(f"name: {NAME}\ndescription: >-\n  Sorts.\n  Use it when asked.\n"),
    "wrapped": head(f"name: {NAME}\ndescription: Sorts photos\n  by date.\n"),
    "carriage returns": head(HEAD).replace("\n", "\r\n"),
    "no final newline": head(HEAD).rstrip(),
    "no body": head(HEAD, ""),
    "fence in the body": head(HEAD, "\nOne\n---\nTwo\n"),
    "emoji": head(f"name: {NAME}\ndescription: Sorts 📷 by date — as asked.\n"),
    "escapes": head(f'name: {NAME}\ndescription: "A \\u00e9\\t\\x41 \\"b\\""\n'),
    "comment": head(f"# first\n{HEAD}# last\n"),
    "comment in a map": head(f"{HEAD}metadata:\n  # why\n  a: b\n"),
    "number": head(f"{HEAD}license: 2\n"),
    "date": head(f"{HEAD}license: 2024-01-01\n"),
    "yes": head(f"{HEAD}license: yes\n"),
    "long": head(f"name: {NAME}\ndescription: {'é' * 1024}\n"),
    "empty metadata": head(f"{HEAD}metadata: {{}}\n"),
    "indented": head(f"{HEAD}metadata:\n    a: b\n    c: d\n"),
    "odd keys": head(f"{HEAD}metadata:\n  a.b/c: d\n  é: f\n"),
    "colon at the end": head(f'name: {NAME}\ndescription: "Use when:"\n'),
    "explicit key": head(f"{HEAD}? license\n: MIT\n"),
    "trailing blanks": head(f"name: {NAME}   \ndescription: Sorts. Use it.  \n"),
}


@pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS)
def test_reference_accepts_what_is_accepted_here(text: str) -> None:
    assert_agreement(text)


SAMPLES: dict[str, str] = {
    "flow style": head(f"{{name: {NAME}, description: Sorts photos.}}\n"),
    "three hyphens in the front matter": head(f'name: {NAME}\ndescription: "Sorts --- all."\n'),
    "a comment before a value of several lines": head(f"{HEAD}license: # why\n  MIT\n\n"),
}


def test_every_exception_has_a_sample() -> None:
    assert SAMPLES.keys() == EXCEPTIONS.keys()


@pytest.mark.parametrize("why", SAMPLES)
def test_documented_exception_is_one(why: str) -> None:
    text = SAMPLES[why]
    assert accepted(text)
    refused = refused_by_reference(text)
    assert refused
    assert exception_for(text, refused) == why


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.id)
def test_reference_accepts_the_good_examples_of_every_rule(rule: Any) -> None:
    for path, entry in rule.good.files.items():
        parts = path.split("/")
        if parts[-1] == "SKILL.md" and isinstance(entry, TreeEntry) and entry.data:
            assert_agreement(entry.data.decode(), parts[-2])


words = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs",))
    | st.sampled_from("-#:'\"{}[],&*!|>%@"),
    max_size=30,
)
plain = st.from_regex(r"\A[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}\Z")


@settings(max_examples=150, deadline=None)
@given(name=plain, description=words, body=words, terms=words)
def test_reference_accepts_what_the_editor_writes(
    name: str, description: str, body: str, terms: str
) -> None:
    if description.strip():
        text = render_skill(name, description, body)
        assert_agreement(set_field(text, "license", terms), name)


lines = st.lists(
    st.sampled_from(
        [
            f"name: {NAME}", f'name: "{NAME}"', "description: Sorts.", "description: >", "  folded",
            "description: |", "  literal text", "license: MIT", "license: 'a''b'", "metadata:",
            "  a: b", '  "c d": "1"', "  - x", "# comment", "", 'compatibility: "x\\ny"',
            "allowed-tools: Read Write", "description: a: b", "description: 'x' # y", "\t",
            "license: {a: b}", "name: other", "license: ~", "description: a - b", "description: -",
        ]
    ),
    max_size=8,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(header=lines, body=st.sampled_from(["", "\nDo it.\n", "\n---\n"]))
def test_reference_accepts_what_is_accepted_of_random_lines(header: list[str], body: str) -> None:
    assert_agreement(head("".join(f"{line}\n" for line in header), body))


def test_documentation_lists_the_exceptions() -> None:
    page = (Path(__file__).parents[2] / "docs" / "validate.md").read_text(encoding="utf-8")
    for why, reason in EXCEPTIONS.items():
        assert f"**{why}**: {reason}" in re.sub(r"\s+", " ", page), why
