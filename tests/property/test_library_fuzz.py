"""Whatever the bytes, the checker answers with problems, in bounded time, and never raises."""

from __future__ import annotations

import os
import random
import time
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillevo.errors import LibraryError
from skillevo.library import document
from skillevo.library.diff import compare_libraries
from skillevo.library.fixes import safe_fixes
from skillevo.library.rules import TreeEntry, check_skill, check_tree
from skillevo.types import Library, Problem, Severity

NIGHTLY = os.environ.get("SKILLEVO_NIGHTLY") == "1"
EXAMPLES = settings(
    max_examples=12_000 if NIGHTLY else 300,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
RANDOM_INPUTS = 12_000 if NIGHTLY else 300
CPU_LIMIT_S = 1.0
PATH = "sort-photos/SKILL.md"
SEED = b"""---
name: sort-photos
description: "Sorts: photos # by date."
metadata:
  version: "1.10"
  tags: 'a'
allowed-tools: Read Grep
---

# Steps

See [the list](references/list.md) and `code`.
"""
FRAGMENTS = [
    *(b"---\n", b"--- \n", b"---\r\n", b"...\n", b"\xef\xbb\xbf", b"\x00", b"\xff", b"\r", b"\t"),
    *(b"name: sort-photos\n", b"description: ", b"description: |+\n", b"metadata:\n", b"? ", b": "),
    *(b"&a ", b"*a", b"!!str ", b"!", b"<<: ", b"{", b"}", b"[", b"]", b",", b"'", b'"', b"\\"),
    *(
        b"- ",
        b"  ",
        b"#",
        b" # ",
        b"%YAML 1.1\n",
        b"@",
        b"`",
        b"```\n",
        b"](a/b/c)",
        b"\xe2\x80\xa8",
    ),
    *(
        b"\xf0\x9f\x99\x82",
        b"\xed\xa0\x80",
        b"~",
        b"null\n",
        b"1.10\n",
        b"on: x\n",
        b"2024-01-01\n",
    ),
]
MUTATED = st.lists(
    st.tuples(st.integers(0, len(SEED)), st.integers(0, 12), st.sampled_from(FRAGMENTS)),
    max_size=6,
)


def mutated(edits: list[tuple[int, int, bytes]]) -> bytes:
    data = SEED
    for place, removed, inserted in edits:
        data = data[:place] + inserted + data[place + removed :]
    return data


def checked(data: bytes) -> list[Problem]:
    """The problems, after the checker's promises about one file were tried on the bytes."""
    started = time.process_time()
    problems = check_skill(PATH, data)
    assert time.process_time() - started < CPU_LIMIT_S
    assert problems == sorted(problems, key=lambda p: (p.line, p.column, p.rule, p.message))
    assert all(p.line >= 1 and p.column >= 1 and p.message and p.fix for p in problems)
    return problems


def worked_on(data: bytes) -> None:
    """The same, and the promises of repair and edit on top."""
    valid = _valid(checked(data))
    fixed = safe_fixes(data)
    assert safe_fixes(fixed) == fixed
    if valid:
        assert _valid(checked(fixed))
        _edited_as_promised(data.decode())


def _valid(problems: list[Problem]) -> bool:
    return all(problem.severity is not Severity.ERROR for problem in problems)


def _edited_as_promised(text: str) -> None:
    """What the checker accepts can be read, edited and compared."""
    skill = document.parse_skill(text)
    library = Library("a", (skill,))
    assert compare_libraries({"a": library}, {"a": library}) == ()
    assert compare_libraries({}, {"a": library})[0].tokens_after > 0
    assert document.parse_skill(document.replace_body(text, "New.")).body == "New."
    edited = document.set_field(text, "description", "New: text")
    assert document.parse_skill(edited).description == "New: text"


@EXAMPLES
@given(st.lists(st.sampled_from(FRAGMENTS) | st.binary(max_size=4), max_size=30).map(b"".join))
def test_fragments_never_break_the_checker(data: bytes) -> None:
    worked_on(data)
    worked_on(b"---\n" + data + b"\n---\nBody.\n")


@EXAMPLES
@given(MUTATED)
def test_damaged_skills_never_break_the_checker(edits: list[tuple[int, int, bytes]]) -> None:
    worked_on(mutated(edits))


def test_random_bytes_never_break_the_checker() -> None:
    source = random.Random(20)
    for _ in range(RANDOM_INPUTS):
        noise = source.randbytes(source.randrange(200))
        place = source.randrange(len(SEED))
        worked_on(noise)
        worked_on(SEED[:place] + noise[:8] + SEED[place:])


@EXAMPLES
@given(
    st.dictionaries(
        st.lists(
            st.sampled_from(["skills", "a", "A", "b", "c", "SKILL.md", "skill.md", ".x", "é"]),
            min_size=1,
            max_size=6,
        ).map("/".join),
        st.builds(TreeEntry, st.none() | st.just(SEED) | st.binary(max_size=9), st.booleans()),
        max_size=8,
    )
)
def test_any_tree_of_files_is_answered_in_order(files: dict[str, TreeEntry]) -> None:
    problems = check_tree(files, library_limit=1)
    assert problems == sorted(problems, key=lambda p: (p.path, p.line, p.rule))
    assert problems == check_tree(dict(reversed(files.items())), library_limit=1)


MEGABYTE = 1024 * 1024 - 1000
HEAD = "---\nname: sort-photos\ndescription: Sorts.\n"


def long(piece: str, before: str = HEAD, after: str = "\n---\nBody.\n") -> bytes:
    return (before + piece * (MEGABYTE // len(piece.encode())) + after).encode()


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (long("[", HEAD + "x: "), "header-too-complex"),
        (long("- ", HEAD + "x:\n"), "header-too-complex"),
        (long("a, ", HEAD + "x: [", "]\n---\n"), "header-too-complex"),
        (long("k: v\n"), "header-too-complex"),
        (long("a: b: c\n"), "unquoted-colon"),
        (long("a ", HEAD + "x: '"), "yaml-syntax"),
        (long("a ", after=""), "closing-fence"),
        (long("# c\n"), "header-too-large"),
        (long("1:", HEAD + "license: "), "header-too-large"),
        (long("<a", HEAD.replace("Sorts.\n", "")), "description-length"),
        (long("\n", ""), "opening-fence"),
        (long("--- x\n"), "yaml-syntax"),
        (long("](x/y/", HEAD + "---\n", ""), "body-too-long"),
        (long("](`a ", HEAD + "---\n", ""), "body-too-long"),
        (long("[[(", HEAD + "---\n", ""), "body-too-long"),
        (long("(,", HEAD + "allowed-tools: "), "allowed-tools-comma"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hostile_megabyte_is_answered_in_bounded_time(data: bytes, rule: str) -> None:
    assert rule in {problem.rule for problem in checked(data)}


def test_alias_bomb_is_refused_at_its_first_anchor() -> None:
    names = "abcdefgh"
    lines = ["  a: &a [x,x,x,x,x,x,x,x,x,x]"]
    for old, new in pairwise(names):
        lines.append(f"  {new}: &{new} [{','.join([f'*{old}'] * 10)}]")
    bomb = HEAD + "metadata:\n" + "\n".join(lines) + "\n---\nBody.\n"
    problems = checked(bomb.encode())
    assert [(p.rule, p.line, p.column) for p in problems] == [("anchor-or-alias", 5, 6)]
    with pytest.raises(LibraryError, match=r"SKILL\.md:5: .*anchor"):
        document.parse_skill(bomb)
