"""The repository that ``skillevo init`` makes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from gitbox import USER, GitBox, isolate

from skillevo.errors import EnvironmentFault
from skillevo.store.git import Repository
from skillevo.store.values import SKILLEVO, Identity, Initialized

FILES = {
    "skillevo.toml": b"[team]\n",
    "data/train.jsonl": b'{"id": "1"}\r\n',
    "skills/reader/.gitkeep": b"",
}
TIME = 1_767_323_045


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    isolate(tmp_path, monkeypatch)
    return tmp_path


def initialize(path: Path, **options: object) -> Initialized:
    for name, content in FILES.items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    identity = options.get("identity")
    assert identity is None or isinstance(identity, Identity)
    return Repository.init(
        path,
        FILES,
        message="Start from the template\n",
        time_s=TIME,
        identity=identity,
        deterministic=bool(options.get("deterministic")),
    )


def git(path: Path, *arguments: str) -> str:
    return GitBox.git(GitBox.__new__(GitBox), *arguments, cwd=path)


def configure(home: Path, text: str) -> None:
    (home / "home" / "gitconfig").write_text(text)


def test_new_directory_becomes_a_repository_with_one_commit(home: Path) -> None:
    project = home / "project"
    made = initialize(project)
    assert made.root == project
    assert made.commit == git(project, "rev-parse", "main")
    assert git(project, "rev-list", "--count", "--all") == "1"
    assert sorted(git(project, "ls-tree", "-r", "--name-only", "HEAD").split()) == sorted(FILES)
    assert git(project, "status", "--porcelain") == ""


def test_local_identity_is_written_only_when_none_is_configured(home: Path) -> None:
    assert initialize(home / "a").wrote_identity
    assert git(home / "a", "config", "--local", "user.email") == SKILLEVO.email
    configure(home, "[user]\n\tname = A. User\n\temail = user@example.com\n")
    assert not initialize(home / "b").wrote_identity
    assert (
        git(home / "b", "log", "-1", "--format=%an %ae %cn") == "A. User user@example.com A. User"
    )
    assert "user" not in git(home / "b", "config", "--local", "--list")


def test_git_never_makes_an_identity_up_from_the_host(home: Path) -> None:
    configure(home, "[user]\n\tname = A. User\n")
    assert initialize(home / "a").wrote_identity


@pytest.mark.parametrize("setting", ["true", "input", "false"])
def test_blobs_keep_their_bytes_and_status_is_clean(home: Path, setting: str) -> None:
    configure(home, f"[core]\n\tautocrlf = {setting}\n\tsafecrlf = false\n")
    project = home / "project"
    initialize(project)
    entries = Repository(project).read_tree("HEAD")
    contents = Repository(project).read_blobs(blob for _, blob in entries.values())
    assert {path: contents[blob] for path, (_, blob) in entries.items()} == FILES
    assert git(project, "status", "--porcelain") == ""


def test_deterministic_commit_has_the_same_id_everywhere(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = initialize(home / "a", identity=SKILLEVO, deterministic=True)
    configure(
        home,
        "[user]\n\tname = A. User\n\temail = user@example.com\n[init]\n\tdefaultBranch = other\n"
        "[core]\n\tautocrlf = true\n"
        "[i18n]\n\tcommitEncoding = latin1\n[commit]\n\tgpgsign = true\n",
    )
    monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    second = initialize(home / "b", identity=SKILLEVO, deterministic=True)
    assert first.commit == second.commit
    assert Repository(home / "b").head()[1] == "main"


def test_configured_branch_name_is_respected(home: Path) -> None:
    configure(home, "[init]\n\tdefaultBranch = trunk\n")
    initialize(home / "a")
    assert Repository(home / "a").head()[1] == "trunk"


def test_no_hook_of_the_users_template_runs(home: Path) -> None:
    hooks = home / "template" / "hooks"
    hooks.mkdir(parents=True)
    for name in ("pre-commit", "post-commit", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {home}/ran\nexit 1\n")
        (hooks / name).chmod(0o755)
    configure(home, f"[init]\n\ttemplateDir = {home}/template\n")
    assert initialize(home / "a").commit
    assert not (home / "ran").exists()


def test_top_of_a_repository_gets_no_commit(home: Path) -> None:
    box = GitBox(home / "user")
    box.write("README.md", "mine\n")
    head = box.save()
    index = (box.root / ".git/index").read_bytes()
    made = initialize(box.root, identity=USER)
    assert made == Initialized(box.root, None, False)
    assert box.git("rev-parse", "HEAD") == head
    assert (box.root / ".git/index").read_bytes() == index


def test_directory_below_the_top_of_a_repository_becomes_one_of_its_own(home: Path) -> None:
    box = GitBox(home / "user")
    box.write("README.md", "mine\n")
    head = box.save()
    index = (box.root / ".git/index").read_bytes()
    team = box.root / "team"
    made = initialize(team, identity=USER)
    assert made.root == team
    assert made.commit == git(team, "rev-parse", "HEAD")
    assert git(team, "status", "--porcelain") == ""
    assert box.git("rev-parse", "HEAD") == head
    assert (box.root / ".git/index").read_bytes() == index


def test_untrusted_repository_above_is_no_invitation_to_make_another(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = GitBox(home / "user")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(EnvironmentFault, match="does not trust"):
        initialize(box.root / "team")
    assert not (box.root / "team" / ".git").exists()


def test_path_that_cannot_be_a_directory_is_a_fault(home: Path) -> None:
    (home / "file").touch()
    with pytest.raises(EnvironmentFault, match="cannot write to"):
        Repository.init(home / "file" / os.curdir, {}, message="x", time_s=TIME)
