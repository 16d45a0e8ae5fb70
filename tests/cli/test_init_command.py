"""``skillevo init``: the files it writes and the repository it makes."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from fakes.workshop import GLOBAL_IDENTITY, contents, git, isolate, skillevo

EMPTY = {
    "data/test.jsonl",
    "data/train.jsonl",
    "data/validation.jsonl",
    "roles/answerer.md",
    "roles/reader.md",
    "skillevo.toml",
    "skills/answerer/README.md",
    "skills/reader/README.md",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    isolate(tmp_path, monkeypatch)
    return tmp_path


def configure(home: Path, text: str) -> None:
    (home / "home" / "gitconfig").write_text(text)


def init(folder: Path, *options: str) -> Path:
    outcome = skillevo("init", folder, "--template", "qa", *options)
    assert (outcome.code, outcome.err) == (0, "")
    return folder


def tracked(root: Path) -> set[str]:
    return set(git(root, "ls-tree", "-r", "--name-only", "HEAD").splitlines())


def test_empty_start_has_exactly_these_files(home: Path) -> None:
    root = init(home / "p")
    assert tracked(root) == EMPTY
    assert {name for name in contents(root) if not name.startswith(".git/")} == EMPTY


def test_corrupt_start_adds_three_skills_of_the_answerer(home: Path) -> None:
    root = init(home / "p", "--start", "corrupt")
    added = tracked(root) - EMPTY
    assert len(added) == 3
    assert all(Path(name).match("skills/answerer/*/SKILL.md") for name in added)
    assert skillevo("validate", root).code == 0


@pytest.mark.parametrize("profile", ["embedded", "simulated", "vllm"])
def test_each_model_table_has_its_base_url_on_a_line_of_its_own(home: Path, profile: str) -> None:
    root = init(home / "p", "--profile", profile)
    text = (root / "skillevo.toml").read_text()
    for role in ("actor", "critic", "optimizer"):
        table = text.partition(f"[models.{role}]\n")[2].partition("\n[")[0]
        assert [line for line in table.splitlines() if line.startswith('base_url = "')], role
    assert set(tomllib.loads(text)["models"]) == {"actor", "critic", "optimizer"}


def test_new_folder_becomes_a_repository_with_one_commit_and_a_clean_tree(home: Path) -> None:
    root = init(home / "deep" / "er" / "p")
    assert git(root, "rev-list", "--count", "--all") == "1"
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.parametrize("setting", ["true", "input"])
def test_tree_is_clean_also_where_line_ends_are_converted(home: Path, setting: str) -> None:
    configure(home, GLOBAL_IDENTITY + f"[core]\n\tautocrlf = {setting}\n")
    root = init(home / "p", "--start", "corrupt")
    assert git(root, "status", "--porcelain") == ""
    assert b"\r" not in (root / "skillevo.toml").read_bytes()


def test_users_identity_commits_and_nothing_is_configured(home: Path) -> None:
    root = init(home / "p")
    assert git(root, "log", "-1", "--format=%an <%ae> %cn <%ce>") == (
        "A. User <user@example.com> A. User <user@example.com>"
    )
    assert "user." not in git(root, "config", "--local", "--list")


def test_without_an_identity_a_local_one_is_written_and_told(home: Path) -> None:
    configure(home, "")
    outcome = skillevo("init", home / "p")
    assert outcome.code == 0
    assert "identity" in outcome.out
    assert "git config --local" in outcome.out
    assert git(home / "p", "config", "--local", "user.email")
    assert (home / "home" / "gitconfig").read_text() == ""
    assert skillevo("-C", home / "p", "doctor").out.count("FAIL") <= 1


def test_existing_repository_gets_the_files_only(home: Path) -> None:
    mine = home / "mine"
    mine.mkdir()
    git(mine, "init", "-q", "-b", "trunk")
    (mine / "mine.txt").write_text("mine\n")
    git(mine, "add", "-A")
    git(mine, "commit", "-q", "-m", "Mine")
    before = {name: d for name, d in contents(mine).items() if name.startswith(".git/")}
    outcome = skillevo("init", mine, "--format", "json")
    assert outcome.code == 0
    assert outcome.value["commit"] is None
    assert set(outcome.value["files"]) == EMPTY
    after = {name: d for name, d in contents(mine).items() if name.startswith(".git/")}
    assert after == before
    assert tracked(mine) == {"mine.txt"}


def test_existing_repository_is_told_to_commit_the_files(home: Path) -> None:
    git(home, "init", "-q", "mine")
    outcome = skillevo("init", home / "mine")
    assert "commit them" in outcome.out


def test_json_tells_what_was_made(home: Path) -> None:
    outcome = skillevo("init", "p", "--format", "json", cwd=home)
    assert set(outcome.value) == {"schema_version", "root", "files", "commit", "wrote_identity"}
    assert outcome.value["root"] == str(home / "p")
    assert outcome.value["commit"] == git(home / "p", "rev-parse", "HEAD")
    assert outcome.value["wrote_identity"] is False


def test_next_steps_are_commands_that_work(home: Path) -> None:
    outcome = skillevo("init", "p", "--profile", "simulated", cwd=home)
    commands = outcome.lines[outcome.lines.index("next:") + 1 :]
    assert len(commands) == 2
    for command in commands:
        assert skillevo(*command.split()[1:], cwd=home).code == 0


def test_date_variable_dates_the_commit(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1600000000")
    root = init(home / "p")
    assert git(root, "log", "-1", "--format=%at %ct") == "1600000000 1600000000"
