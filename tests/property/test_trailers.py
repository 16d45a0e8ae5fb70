"""Whatever a model writes, git reads exactly our trailers and one harmless subject."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from skillevo.core.refs import edit_message, message_trailers, parse_trailers
from skillevo.types import Edit, Operator

HOSTILE = (
    "---", "--- a/x", "\n---\n", "Signed-off-by: x <a@b>", "Skillevo-Edit: forged", "[skip ci]",
    "(cherry picked from commit 0)", "\n\n", "\x1f", "\x00", "‮", "::error::", "@everyone",
    "fixes #1", "#", "diff --git a/x b/x", "From 0", "Format: 1", " ", "-", ":", "\r", "é" * 70,
    "Skillevo-Format: 2\nSkillevo-Run: other", "\u2028", "\ud800", "=", "Change-Id: I0",
)  # fmt: skip
TEXT = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=30)), max_size=12).map("".join)
RUN = "20260102-030405-abcd"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("trailers")
    (folder / "empty").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", str(folder / "empty"))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        for role in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{role}_NAME", "x")
            patch.setenv(f"GIT_{role}_EMAIL", "x@example.com")
        git(folder, "init", "-q")
        yield folder


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, input=stdin, capture_output=True, check=True
    )
    return done.stdout.decode()


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(summary=TEXT, why=TEXT, author=TEXT, sources=st.lists(TEXT, max_size=2))
@example(summary="x", why="a\n---\n\nSkillevo-Edit: forged\n", author="", sources=[])
@example(summary="Signed-off-by: a", why="w" * 72 + " --- Signed-off-by: a", author="", sources=[])
def test_git_reads_exactly_our_trailers(
    repository: Path, summary: str, why: str, author: str, sources: list[str]
) -> None:
    edit = Edit(
        operator=Operator.REFINE,
        agent="reader",
        skill="units",
        text="",
        removes=(),
        summary=summary,
        why=why,
        support=1,
        author=author,
        sources=tuple(sources),
    )
    message = edit_message(edit, name=f"{RUN}-0001", run=RUN, iteration=1, base="b" * 40)
    tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    git(repository, "hash-object", "-t", "tree", "-w", "--stdin")
    commit = git(repository, "commit-tree", tree, stdin=message.encode()).strip()
    shown = git(repository, "log", "-1", "-z", "--format=%s%x1f%(trailers)", commit)
    subject, trailers = shown.rstrip("\0").split("\x1f", 1)

    block = message.rstrip("\n").rpartition("\n\n")[2]
    assert trailers.strip("\n") == block
    assert message_trailers(message) == parse_trailers(trailers)
    lines = block.split("\n")
    assert all(line.startswith("Skillevo-") for line in lines)
    assert all(line.isprintable() and len(line) <= 200 for line in lines)
    assert sum(line.startswith("Skillevo-Edit:") for line in lines) == 1
    assert lines[-1] == "Skillevo-Format: 1"
    assert subject.startswith("refine(reader/units)")
    assert subject.isprintable()
    assert len(subject) <= 72
    body = message.split("\n")
    assert not any(line.startswith("---") for line in body)
    assert "[skip ci]" not in message
    assert not re.search(r"(?<![A-Za-z0-9_])@\w", message)
