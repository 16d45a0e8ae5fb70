"""``skillevo demo --simulated``: the story it prints, its JSON, and that it is always the same.

Golden texts are written anew by ``SKILLEVO_REGENERATE=1 pytest tests/cli``.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fakes.golden import assert_golden
from fakes.workshop import GLOBAL_IDENTITY, Outcome, contents, git, patched, skillevo, spawn

GOLDEN = Path(__file__).parent / "golden"
DECISIONS = {"accept", "reject", "indecisive", "stale", "unchanged"}
OPERATORS = {"refine", "consolidate", "prune", "induce"}
NUMBER = (int, float)
NONE = type(None)


@dataclass(frozen=True, slots=True)
class Demo:
    """A demo that was run in ``folder`` with ``--dir d``."""

    folder: Path
    told: Outcome

    @property
    def root(self) -> Path:
        return self.folder / "d"

    def screen(self, *arguments: str) -> Outcome:
        return skillevo("-C", "d", *arguments, cwd=self.folder)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    folder = tmp_path_factory.mktemp("demo")
    with patched(folder):
        yield Demo(folder, skillevo("demo", "--simulated", "--dir", "d", cwd=folder))


def test_story_is_the_golden_one(demo: Demo) -> None:
    assert (demo.told.code, demo.told.err) == (0, "")
    assert_golden(GOLDEN / "demo_simulated.txt", demo.told.out)


@pytest.mark.parametrize("command", ["log", "diff", "status"])
def test_screen_after_the_demo_is_the_golden_one(demo: Demo, command: str) -> None:
    assert_golden(GOLDEN / f"demo_{command}.txt", demo.screen(command).out)


def test_story_of_an_accepted_and_a_rejected_edit_fits_one_small_screen(demo: Demo) -> None:
    assert len(demo.told.lines) <= 40
    assert max(map(len, demo.told.lines)) <= 80
    verdicts = [line.split() for line in demo.told.lines if "±" in line]
    assert {words[1] for words in verdicts} == {"ACCEPT", "REJECT"}
    for words in verdicts:
        assert words[3] == "->"
        assert words[6] == "±"


@pytest.mark.parametrize(
    "arguments",
    [[], ["log"], ["diff"], ["status"], ["doctor"]],
    ids=lambda a: " ".join(a) or "home",
)
def test_every_screen_of_a_simulated_project_says_so(demo: Demo, arguments: list[str]) -> None:
    told = demo.screen(*arguments)
    assert told.code == 0
    assert "simulated" in told.out
    assert max(len(line) for line in told.lines if str(demo.folder) not in line) <= 80


def test_head_of_the_story_says_simulated(demo: Demo) -> None:
    assert "simulated" in demo.told.lines[0]
    assert "(simulated)" in demo.told.lines[1]


def test_story_ends_with_commands_that_work(demo: Demo) -> None:
    after = demo.told.lines[demo.told.lines.index("next:") + 1 :]
    commands = [line for line in after if line.startswith("  ")]
    assert len(commands) == 4
    for command in commands:
        words = command.split()
        if words[0] == "skillevo":
            assert skillevo(*words[1:], cwd=demo.folder).code == 0
        elif "merge" not in words:
            assert git(demo.folder, *words[1:])


def test_same_demo_twice_is_refused_and_changes_nothing(demo: Demo) -> None:
    before = contents(demo.root)
    told = skillevo("demo", "--simulated", "--dir", "d", cwd=demo.folder)
    assert told.code == 2
    assert contents(demo.root) == before


# --- JSON -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def value(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("json")
    with patched(folder):
        told = skillevo("demo", "--simulated", "--format", "json", "--dir", "d", cwd=folder)
    assert (told.code, told.err) == (0, "")
    return told.value


def assert_shape(value: Any, shape: Any, at: str = "$") -> None:
    """Objects have exactly these keys; a list in a shape holds the shape of every item."""
    if isinstance(shape, dict):
        assert set(value) == set(shape), at
        for key, inner in shape.items():
            assert_shape(value[key], inner, f"{at}.{key}")
    elif isinstance(shape, list):
        for index, item in enumerate(value):
            assert_shape(item, shape[0], f"{at}[{index}]")
    elif isinstance(shape, set):
        assert value in shape, at
    else:
        assert isinstance(value, shape), at
        assert not isinstance(value, bool) or shape is bool, at


EDIT = {"id": str, "operator": OPERATORS, "skill": str, "commit": str}
AGENT = {
    "agent": str,
    "edits": [EDIT],
    "score": (*NUMBER, NONE),
    "standard_error": (*NUMBER, NONE),
    "decision": DECISIONS,
    "merge": (str, NONE),
    "n": (int, NONE),
    "better": (int, NONE),
    "worse": (int, NONE),
}
ITERATION = {
    "index": int,
    "base_score": NUMBER,
    "groups": int,
    "groups_differing": int,
    "mean_reward": NUMBER,
    "excluded": [{"question": str, "reason": str}],
    "critic": dict.fromkeys(
        ("accepted", "repaired", "unusable", "unavailable", "rejected_items"), int
    ),
    "agents": [AGENT],
    "refusals": [{"operator": OPERATORS, "agent": str, "skill": str, "reason": str}],
}
TOKENS = {"prompt": (int, NONE), "completion": (int, NONE), "cached": (int, NONE)}
RESULT = {
    "schema_version": int,
    "run": str,
    "base": str,
    "branch": str,
    "head": str,
    "simulated": bool,
    "iterations": [ITERATION],
    "final_score": (*NUMBER, NONE),
    "calls": dict.fromkeys(("issued", "reused", "failed"), int),
    "tokens": dict.fromkeys(("actor", "critic", "optimizer"), TOKENS),
    "not_done": [str],
}


def test_json_has_exactly_the_documented_shape(value: Any) -> None:
    assert_shape(value, RESULT)
    assert value["schema_version"] == 1
    assert value["simulated"] is True
    assert value["branch"] == f"skillevo/{value['run']}/main"
    assert [iteration["index"] for iteration in value["iterations"]] == [1, 2]


def test_json_tells_one_agent_in_each_iteration_as_decided_or_unchanged(value: Any) -> None:
    for iteration in value["iterations"]:
        assert [agent["agent"] for agent in iteration["agents"]] == ["reader", "answerer"]
        for agent in iteration["agents"]:
            measured = agent["decision"] != "unchanged"
            assert bool(agent["edits"]) == measured
            assert (agent["score"] is not None) == measured
            assert (agent["merge"] is not None) == (agent["decision"] == "accept")


def test_json_and_text_tell_the_same_run(demo: Demo, value: Any) -> None:
    commits = [e["commit"] for i in value["iterations"] for a in i["agents"] for e in a["edits"]]
    assert commits
    assert all(commit[:9] in demo.told.out for commit in commits)
    assert git(demo.root, "rev-parse", value["branch"]) == value["head"]


# --- always the same ------------------------------------------------------------------------------

STRANGE = """[user]
\tname = Ünïcode Person
\temail = other@example.org
[init]
\tdefaultBranch = trunk
\tdefaultObjectFormat = sha256
[core]
\tautocrlf = true
[commit]
\tgpgsign = true
[i18n]
\tcommitEncoding = latin1
"""


@pytest.mark.parametrize("settings", [STRANGE, ""], ids=["strange settings", "no identity"])
def test_commits_are_the_same_on_every_machine(demo: Demo, tmp_path: Path, settings: str) -> None:
    with patched(tmp_path):
        (tmp_path / "home" / "gitconfig").write_text(settings)
        (tmp_path / "far" / "away").mkdir(parents=True)
        before = os.umask(0o077)
        try:
            told = spawn(
                "demo", "--simulated", "--dir", "other name", cwd=tmp_path / "far" / "away",
                TZ="Asia/Kathmandu", LC_ALL="C", PYTHONHASHSEED="77", GIT_DEFAULT_HASH="sha256",
                SOURCE_DATE_EPOCH="1", GIT_AUTHOR_NAME="Somebody", GIT_AUTHOR_DATE="@5 +0300",
                COLUMNS="40", USER="nobody",
            )  # fmt: skip
        finally:
            os.umask(before)
        root = tmp_path / "far" / "away" / "other name"
        assert told.code == 0, told.err
        assert git(root, "for-each-ref") == git(demo.root, "for-each-ref")
        assert git(root, "status", "--porcelain") == ""
        assert git(root, "symbolic-ref", "HEAD") == "refs/heads/main"


def test_demo_uses_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError(f"network used: {arguments}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    with patched(tmp_path):
        assert skillevo("demo", "--simulated", "--dir", tmp_path / "d").code == 0


def test_corrupt_start_begins_with_three_skills_and_says_what_became_of_them(
    tmp_path: Path,
) -> None:
    with patched(tmp_path):
        told = skillevo(
            "demo", "--simulated", "--start", "corrupt", "--format", "json", "--dir", tmp_path / "d"
        )
        assert told.code == 0
        assert_shape(told.value, RESULT)
        assert git(tmp_path / "d", "status", "--porcelain") == ""
        assert git(tmp_path / "d", "config", "user.name") in GLOBAL_IDENTITY
