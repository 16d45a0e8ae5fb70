"""Opening, reading and writing a repository through plumbing."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from gitbox import AUTHOR, USER, GitBox, isolate, skill, team_box

from skillevo.errors import ConflictError, EnvironmentFault, SkillevoError
from skillevo.store import git as git_module
from skillevo.store.faults import failed_command, failed_refs
from skillevo.store.git import FORBIDDEN, Repository, run_git
from skillevo.store.trees import tree_writer
from skillevo.store.values import RefChange, Stamp

STAMP = Stamp(AUTHOR, USER, 1_767_323_045)


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitBox:
    isolate(tmp_path, monkeypatch)
    return team_box(tmp_path / "user")


# --- opening ------------------------------------------------------------------------------------


def test_repository_is_found_from_any_directory_inside(box: GitBox) -> None:
    with Repository(box.root / "skills" / "answerer") as repository:
        assert repository.root == box.root
        assert repository.prefix == "skills/answerer/"
        assert repository.common_dir == box.root / ".git"
        assert repository.object_format == "sha1"
        assert not repository.bare


def test_repository_is_found_from_a_file_inside(box: GitBox) -> None:
    assert Repository(box.root / "README.md").root == box.root


def test_linked_worktree_shares_the_git_directory(box: GitBox, tmp_path: Path) -> None:
    box.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    repository = Repository(tmp_path / "linked")
    assert repository.root == tmp_path / "linked"
    assert repository.common_dir == box.root / ".git"


def test_folder_outside_any_repository_is_told_how_to_get_one(box: GitBox, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="not in the work tree") as caught:
        Repository(tmp_path / "home")
    assert "git init" in caught.value.fix
    assert "skillevo init" in caught.value.fix
    assert caught.value.exit_code == 3


def test_inside_of_the_git_directory_is_no_work_tree(box: GitBox) -> None:
    with pytest.raises(EnvironmentFault, match="not in the work tree"):
        Repository(box.root / ".git")


def test_folder_that_does_not_exist_is_a_fault(box: GitBox) -> None:
    with pytest.raises(EnvironmentFault, match="no such directory"):
        Repository(box.root / "absent")


def test_missing_git_is_a_fault(box: GitBox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(box.root))
    with pytest.raises(EnvironmentFault, match="git was not found"):
        Repository(box.root)


@pytest.mark.parametrize("words", ["git version 2.37.9", "no version at all"])
def test_old_git_is_a_fault(
    box: GitBox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\necho '{words}'\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(EnvironmentFault, match=r"git is too old: .*version") as caught:
        Repository(box.root)
    assert "2.38" in caught.value.fix


def test_dubious_ownership_is_told_in_gits_words_with_the_fix(
    box: GitBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(EnvironmentFault, match="does not trust") as caught:
        Repository(box.root)
    assert "dubious ownership" in caught.value.why
    assert caught.value.fix == f"git config --global --add safe.directory {box.root}"


def test_environment_of_a_hook_leads_to_no_other_repository(
    box: GitBox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = GitBox(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.root))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other.root / ".git/objects"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "Somebody Else")
    repository = Repository(box.root)
    assert repository.root == box.root
    assert repository.identity() == USER
    assert repository.head()[1] == "trunk"


# --- the runner ---------------------------------------------------------------------------------


@pytest.mark.parametrize("command", sorted(FORBIDDEN))
def test_command_that_may_touch_the_users_is_refused(box: GitBox, command: str) -> None:
    with pytest.raises(ValueError, match=f"git {command} may touch"):
        run_git(box.root, ["-c", "a.b=c", command])


def test_forbidden_list_names_what_moves_a_work_tree() -> None:
    moving = {"checkout", "reset", "stash", "clean", "switch", "restore", "rebase", "clone"}
    assert moving <= FORBIDDEN


def test_no_module_uses_the_object_model_that_writes() -> None:
    package = Path(git_module.__file__).parents[1]
    for module in package.rglob("*.py"):
        text = module.read_text(encoding="utf-8")
        for word in ("index.commit", "config_writer", "clone_from", "IndexFile", "git.Repo"):
            assert word not in text, f"{module} uses {word}"


def test_command_that_hangs_is_stopped(box: GitBox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_module, "TIMEOUT_S", 0.05)
    box.git("config", "alias.hang", "!sleep 5")
    with pytest.raises(EnvironmentFault, match="did not answer in time"):
        run_git(box.root, ["hang"])


def test_full_temporary_folder_is_a_fault(box: GitBox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(box.root / "absent"))
    with pytest.raises(EnvironmentFault, match="git could not be started"):
        run_git(box.root, ["version"])


@pytest.mark.parametrize(
    ("words", "what", "fix"),
    [
        ("error: unable to write file x: No space left on device", "cannot write", "free some"),
        ("fatal: Unable to create 'x': Permission denied", "cannot write", "writable"),
        ("hint: do this\nfatal: strange", "git log failed with status 9", "git fsck"),
        ("", "git log failed with status 9", "git fsck"),
    ],
)
def test_gits_words_become_a_fault_with_a_fix(words: str, what: str, fix: str) -> None:
    fault = failed_command("log", 9, words)
    assert what in fault.what
    assert fix in fault.fix
    assert fault.exit_code == 3
    assert "hint" not in fault.why
    assert fault.why


def test_full_disk_is_no_conflict_of_refs() -> None:
    fault = failed_refs(["refs/heads/a"], "fatal: cannot lock: No space left on device")
    assert isinstance(fault, EnvironmentFault)


def test_failing_command_is_an_error_in_gits_words(box: GitBox) -> None:
    with pytest.raises(EnvironmentFault, match="git cat-file failed with status 128") as caught:
        run_git(box.root, ["cat-file", "-p", "0" * 40])
    assert "Not a valid object name" in caught.value.why


# --- reading ------------------------------------------------------------------------------------


def test_revision_is_resolved_to_its_commit(box: GitBox) -> None:
    head = box.git("rev-parse", "HEAD")
    box.git("tag", "-a", "v1", "-m", "tagged")
    repository = box.repository()
    assert repository.resolve("HEAD") == head
    assert repository.resolve("v1") == head
    assert repository.resolve(head[:10]) == head


@pytest.mark.parametrize(
    "revision", ["absent", "", "--all", "-h", "HEAD..HEAD", "HEAD:README.md", "a\0b", "0" * 40]
)
def test_unknown_revision_is_a_usage_error(box: GitBox, revision: str) -> None:
    with pytest.raises(SkillevoError, match="unknown revision") as caught:
        box.repository().resolve(revision)
    assert caught.value.exit_code == 2


def test_head_names_commit_and_branch(box: GitBox) -> None:
    head = box.git("rev-parse", "HEAD")
    assert box.repository().head() == (head, "trunk")
    box.git("checkout", "-q", "--detach")
    assert box.repository().head() == (head, None)


def test_repository_without_a_commit_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolate(tmp_path, monkeypatch)
    with pytest.raises(EnvironmentFault, match="has no commit yet") as caught:
        GitBox(tmp_path / "new").repository().head()
    assert "git commit" in caught.value.fix


def test_identity_comes_from_configuration_or_environment(
    box: GitBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert box.repository().identity() == USER
    monkeypatch.setenv("GIT_COMMITTER_NAME", "Zoë")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "no date")
    assert box.repository().identity().name == "Zoë"


@pytest.mark.parametrize("absent", ["user.name", "user.email"])
def test_missing_identity_names_the_two_settings(box: GitBox, absent: str) -> None:
    box.git("config", "--unset", absent)
    with pytest.raises(EnvironmentFault, match="who you are") as caught:
        box.repository().identity()
    assert "git config user.name" in caught.value.fix
    assert "git config user.email" in caught.value.fix
    assert caught.value.exit_code == 3


def test_signing_is_asked_for_by_configuration(box: GitBox) -> None:
    assert not box.repository().signs
    box.git("config", "commit.gpgsign", "yes")
    assert box.repository().signs


def test_tree_is_read_with_modes_and_blobs(box: GitBox) -> None:
    repository = box.repository()
    files = repository.read_tree("HEAD", "skills/answerer/units")
    assert set(files) == {
        "skills/answerer/units/SKILL.md",
        "skills/answerer/units/scripts/run.sh",
    }
    mode, blob = files["skills/answerer/units/scripts/run.sh"]
    assert mode == "100755"
    assert repository.read_blobs([blob, blob]) == {blob: b"#!/bin/sh\r\necho \xff\n"}


def test_prefix_without_files_is_empty(box: GitBox) -> None:
    assert box.repository().read_tree("HEAD", "skills/reader") == {}
    assert box.repository().read_blobs([]) == {}


def test_path_that_is_no_utf8_is_skipped_when_reading(box: GitBox) -> None:
    (box.root / os.fsdecode(b"caf\xe9")).write_bytes(b"x")
    (box.root / "café").write_bytes(b"x")
    box.save()
    repository = box.repository()
    assert "café" in repository.read_tree("HEAD")
    assert len(repository.read_tree("HEAD")) == len(repository.list_tree("HEAD")) - 1


def test_submodule_is_no_file(box: GitBox) -> None:
    head = box.git("rev-parse", "HEAD")
    box.git("update-index", "--add", "--cacheinfo", f"160000,{head},skills/answerer/sub")
    tree = box.git("write-tree")
    repository = box.repository()
    assert "skills/answerer/sub" not in repository.read_tree(tree)
    assert b"skills/answerer/sub" in repository.list_tree(tree)


def test_missing_object_is_a_fault(box: GitBox) -> None:
    with pytest.raises(EnvironmentFault, match="cannot be read") as caught:
        box.repository().read_blobs(["1" * 40])
    assert "missing" in caught.value.why


def test_modified_skills_are_counted_without_touching_the_index(box: GitBox) -> None:
    repository = box.repository()
    assert repository.modified_skills() == 0
    box.write("skills/answerer/units/SKILL.md", skill("units", "Changed."))
    box.write("skills/reader/fresh/SKILL.md", skill("fresh"))
    box.write("skills/reader/fresh/notes.md", "no skill file")
    box.write("README.md", "changed")
    (box.root / "skills/answerer/wording/SKILL.md").unlink()
    index = (box.root / ".git/index").read_bytes()
    assert repository.modified_skills() == 3
    assert (box.root / ".git/index").read_bytes() == index


def test_hostile_file_monitor_is_never_run(box: GitBox, tmp_path: Path) -> None:
    box.git("config", "core.fsmonitor", f"touch {tmp_path / 'ran'}; false")
    box.repository().modified_skills()
    assert not (tmp_path / "ran").exists()


# --- writing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"a\r\nb\n", b"\xff\0" * 10])
def test_blob_keeps_its_bytes_whatever_line_endings_are_configured(
    box: GitBox, content: bytes
) -> None:
    box.git("config", "core.autocrlf", "true")
    box.git("config", "core.safecrlf", "true")
    repository = box.repository()
    blob = repository.write_blob(content)
    assert repository.read_blobs([blob]) == {blob: content}


def test_tree_writer_sets_and_removes_paths_and_leaves_nothing_behind(box: GitBox) -> None:
    before = box.snapshot()
    repository = box.repository()
    with repository, tree_writer(repository, "HEAD") as writer:
        blob = repository.write_blob(b"new\n")
        first = writer.write({b"a/b": ("100644", blob)})
        second = writer.write({b"README.md": None, b"skills/answerer/wording/SKILL.md": None})
    assert repository.changed_paths("HEAD", first) == (b"a/b",)
    assert set(repository.changed_paths(first, second)) == {
        b"README.md",
        b"skills/answerer/wording/SKILL.md",
    }
    assert repository.object_at(second, "skills/answerer/wording") is None
    assert box.snapshot() == before


def test_commit_is_dated_and_signed_by_the_stamp(box: GitBox) -> None:
    box.git("config", "i18n.commitEncoding", "ISO-8859-1")
    box.git("config", "commit.gpgsign", "true")
    repository = box.repository()
    tree = repository.object_at("HEAD", "")
    assert tree is not None
    commit = repository.commit_tree(tree, [], "Sag es: größer\n", STAMP)
    assert box.git("cat-file", "commit", commit).splitlines() == [
        f"tree {tree}",
        "author skillevo <skillevo@localhost> 1767323045 +0000",
        "committer A. User <user@example.com> 1767323045 +0000",
        "",
        "Sag es: größer",
    ]


def test_refs_move_together_or_not_at_all(box: GitBox) -> None:
    head = box.git("rev-parse", "HEAD")
    repository = box.repository()
    other = repository.commit_tree(f"{head}^{{tree}}", [head], "x\n", STAMP)
    repository.move_refs([RefChange("refs/heads/a", head, None)], STAMP, reason="test")
    with pytest.raises(ConflictError, match="cannot move refs/heads/b, refs/heads/a"):
        repository.move_refs(
            [RefChange("refs/heads/b", head, None), RefChange("refs/heads/a", other, other)],
            STAMP,
            reason="test",
        )
    assert set(box.refs()) == {"refs/heads/a", "refs/heads/trunk"}
    repository.move_refs(
        [RefChange("refs/heads/a", other, head), RefChange("refs/heads/trunk", head, head)],
        STAMP,
        reason="test",
    )
    assert repository.refs("refs/heads/a") == {"refs/heads/a": other}
    repository.move_refs([RefChange("refs/heads/a", None, other)], STAMP, reason="test")
    assert set(box.refs()) == {"refs/heads/trunk"}


def test_merge_tells_a_conflict_from_a_bad_argument(box: GitBox) -> None:
    head = box.git("rev-parse", "HEAD")
    box.write("README.md", "ours\n")
    ours = box.save()
    box.git("checkout", "-q", "-b", "side", head)
    box.write("README.md", "theirs\n")
    theirs = box.save()
    repository = box.repository()
    assert repository.merge_trees(ours, theirs) is None
    assert repository.merge_trees(ours, head) == box.git("rev-parse", f"{ours}^{{tree}}")
    with pytest.raises(EnvironmentFault, match="git merge-tree failed"):
        repository.merge_trees(ours, "1" * 40)


def test_stale_lock_and_vetoing_hook_are_conflicts_with_a_fix(box: GitBox) -> None:
    head = box.git("rev-parse", "HEAD")
    repository = box.repository()
    lock = box.root / ".git/refs/heads/a.lock"
    lock.touch()
    with pytest.raises(ConflictError, match="cannot move") as caught:
        repository.move_refs([RefChange("refs/heads/a", head, None)], STAMP, reason="test")
    assert "lock" in caught.value.fix
    lock.unlink()
    hook = box.root / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'not allowed here' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(ConflictError, match="cannot move") as caught:
        repository.move_refs([RefChange("refs/heads/a", head, None)], STAMP, reason="test")
    assert "not allowed here" in caught.value.why
    assert "hook" in caught.value.fix


def test_unwritable_repository_is_a_fault(box: GitBox) -> None:
    if os.geteuid() == 0:
        (box.root / ".git/skillevo").write_text("a file where the folder should be")
        with (
            pytest.raises(EnvironmentFault, match="cannot write to"),
            tree_writer(box.repository(), "HEAD"),
        ):
            pass
        return
    (box.root / ".git").chmod(0o555)
    try:
        with (
            pytest.raises(EnvironmentFault, match="cannot write to"),
            tree_writer(box.repository(), "HEAD"),
        ):
            pass
    finally:
        (box.root / ".git").chmod(0o755)


def test_shallow_clone_can_be_read_and_written(box: GitBox, tmp_path: Path) -> None:
    box.write("README.md", "second\n")
    head = box.save()
    shallow = tmp_path / "shallow"
    subprocess.run(
        ["git", "clone", "-q", "--depth", "1", f"file://{box.root}", str(shallow)], check=True
    )
    repository = Repository(shallow)
    assert repository.resolve("HEAD") == head
    commit = repository.commit_tree(f"{head}^{{tree}}", [head], "x\n", STAMP)
    assert repository.changed_paths(head, commit) == ()
