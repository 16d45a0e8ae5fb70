"""``skillevo validate --rev`` and ``--staged``: what git has, never what the work tree has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fakes.workshop import Outcome, assert_told, skillevo
from gitbox import GitBox, isolate, skill

from skillevo.store.trees import tree_writer

PATH = "skills/a/units/SKILL.md"
WRONG = skill("other")


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitBox:
    """A repository with one valid skill, which is the current folder."""
    isolate(tmp_path, monkeypatch)
    made = GitBox(tmp_path / "repo")
    made.write(PATH, skill("units"))
    made.save()
    monkeypatch.chdir(made.root)
    return made


def found(outcome: Outcome) -> list[tuple[str, str]]:
    return [(problem["path"], problem["rule"]) for problem in outcome.value["problems"]]


def check(*arguments: str | Path) -> Outcome:
    return skillevo("validate", "--format", "json", *arguments)


def test_staged_reads_the_index_and_not_the_work_tree(box: GitBox) -> None:
    box.write(PATH, WRONG)
    assert (check("--staged").code, check().code) == (0, 1)
    box.git("add", "-A")
    box.write(PATH, skill("units"))
    assert found(check("--staged")) == [(PATH, "name-directory")]
    assert check().code == 0


def test_revision_is_read_from_its_commit(box: GitBox) -> None:
    box.write(PATH, WRONG)
    box.save()
    box.write(PATH, skill("units"))
    assert [check("--rev", rev).code for rev in ("HEAD~1", "HEAD", "trunk")] == [0, 1, 1]


def test_removed_and_untracked_files_do_not_count(box: GitBox) -> None:
    box.write("skills/a/new/SKILL.md", WRONG)
    (box.root / PATH).unlink()
    assert check("--staged").value["files"] == 1
    assert check("--rev", "HEAD").value["files"] == 1
    box.git("rm", "-q", "--cached", PATH)
    assert check("--staged").value["files"] == 0


def test_file_that_is_only_intended_to_be_added_does_not_count(box: GitBox) -> None:
    box.write("skills/a/new/SKILL.md", skill("new"))
    box.git("add", "-N", "skills/a/new/SKILL.md")
    assert (check("--staged").code, check("--staged").value["files"]) == (0, 1)
    box.write("skills/a/new/SKILL.md", "")
    box.git("add", "skills/a/new/SKILL.md")
    assert found(check("--staged")) == [("skills/a/new/SKILL.md", "no-front-matter")]


def test_path_may_be_spelled_with_dots(box: GitBox) -> None:
    for path in ("skills/../skills", "skills/a/units/..", "./skills/.", "skills/.."):
        for option in ((), ("--staged",), ("--rev", "HEAD")):
            assert check(*option, path).value == {"schema_version": 1, "files": 1, "problems": []}


def test_staged_changes_nothing_of_the_users(box: GitBox) -> None:
    box.write(PATH, WRONG)
    box.git("add", "-A")
    before = box.snapshot()
    check("--staged")
    check("--rev", "HEAD")
    assert box.snapshot() == before


def test_paths_narrow_the_check_and_count_from_the_current_folder(
    box: GitBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = skill("other", description="Quite another thing.")
    box.write("other/units/SKILL.md", wrong)
    box.write("skills/a/wording/SKILL.md", wrong)
    box.save()
    assert len(found(check("--staged"))) == 2
    assert found(check("--staged", "other")) == [("other/units/SKILL.md", "name-directory")]
    absolute = f"{box.root.resolve()}/other"
    assert found(check("--rev", "HEAD", absolute)) == [
        (f"{absolute}/units/SKILL.md", "name-directory")
    ]
    monkeypatch.chdir(box.root / "skills" / "a")
    assert found(check("--staged")) == [("wording/SKILL.md", "name-directory")]
    assert found(check("--rev", "HEAD", "wording/SKILL.md")) == [
        ("wording/SKILL.md", "name-directory")
    ]
    assert found(check("--rev", "HEAD", "../../other")) == [
        ("../../other/units/SKILL.md", "name-directory")
    ]


def test_skill_at_the_top_is_named_like_the_repository(box: GitBox) -> None:
    box.write("SKILL.md", skill("repo"))
    box.save()
    assert check("--staged").code == 0
    box.write("SKILL.md", skill("units"))
    box.git("add", "-A")
    assert ("SKILL.md", "name-directory") in found(check("--staged"))


def test_links_and_symlinks_are_judged_by_what_git_has(box: GitBox) -> None:
    box.write(PATH, skill("units", "See [it](../guide.md) and [that](none.md)."))
    box.write("skills/a/guide.md", "x")
    (box.root / "skills" / "a" / "linked").mkdir()
    (box.root / "skills" / "a" / "linked" / "SKILL.md").symlink_to("../units/SKILL.md")
    box.save()
    box.write("skills/a/units/none.md", "not tracked")
    for option in (("--staged",), ("--rev", "HEAD")):
        assert found(check(*option, "skills/a/units")) == [(PATH, "missing-link")]
        assert ("skills/a/linked/SKILL.md", "symlinked-skill") in found(check(*option))


def test_settings_come_from_the_same_commit(box: GitBox) -> None:
    rule = 'path = "**", rule = "name-directory", reason = "An alias."'
    box.write(PATH, WRONG)
    box.write("skillevo.toml", f"[validate]\nignore = [{{{rule}}}]\n")
    box.save()
    box.write("skillevo.toml", "[validate")
    assert check("--rev", "HEAD").code == 0
    assert check("--staged").code == 0
    assert check().code == 2


def test_path_that_is_not_utf8_is_no_obstacle(box: GitBox) -> None:
    box.git(
        "update-index", "--add", "--cacheinfo", f"100644,{box.git('hash-object', '-w', PATH)},b"
    )
    line = f"100644 {box.git('hash-object', '-w', PATH)}\tx\udcff/SKILL.md\0".encode(
        errors="surrogateescape"
    )
    box.git("update-index", "-z", "--index-info", stdin=line)
    assert check("--staged").code == 1


@pytest.mark.parametrize("option", [("--staged",), ("--rev", "HEAD")])
def test_path_that_git_does_not_have_is_a_usage_error(box: GitBox, option: tuple[str, ...]) -> None:
    assert_told(skillevo("validate", *option, "nowhere"), 2, "nowhere is not in")
    assert_told(skillevo("validate", *option, ".."), 2, "outside of the repository")


def test_unknown_revision_is_a_usage_error(box: GitBox) -> None:
    assert_told(skillevo("validate", "--rev", "nope"), 2, "unknown revision 'nope'")
    assert_told(skillevo("validate", "--rev", "--output=x"), 2, "unknown revision")


def test_unmerged_index_is_an_environment_fault(box: GitBox) -> None:
    blob = box.git("hash-object", "-w", PATH)
    lines = f"0 {'0' * 40}\t{PATH}\n" + "".join(f"100644 {blob} {n}\t{PATH}\n" for n in (1, 2, 3))
    box.git("update-index", "--index-info", stdin=lines.encode())
    assert_told(skillevo("validate", "--staged"), 3, f"{PATH} is not merged")


def test_bare_repository_has_revisions_but_no_index(
    box: GitBox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    monkeypatch.chdir(tmp_path / "bare.git")
    assert check("--rev", "HEAD").value["files"] == 1
    assert_told(skillevo("validate", "--staged"), 3, "has no index")


@pytest.mark.parametrize("way", [["-a"], [PATH], ["--all", "--amend"]])
def test_hook_sees_what_the_commit_will_hold(box: GitBox, way: list[str]) -> None:
    hook = box.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nexec {sys.executable} -m skillevo validate --staged\n")
    hook.chmod(0o755)
    head = box.git("rev-parse", "HEAD")
    box.write(PATH, WRONG)
    done = subprocess.run(
        ["git", "commit", "-q", "-m", "Wrong", *way],
        cwd=box.root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "[name-directory]" in done.stdout + done.stderr
    assert done.returncode == 1
    assert box.git("rev-parse", "HEAD") == head
    box.write(PATH, skill("units", "Do it better."))
    box.git("commit", "-q", "-m", "Right", *way)
    assert box.git("rev-parse", "HEAD") != head


def test_index_that_is_given_wins_over_the_one_a_hook_inherits(
    box: GitBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = box.root / ".git" / "index"
    monkeypatch.setenv("GIT_INDEX_FILE", str(index))
    before = index.read_bytes()
    with box.repository() as repository, tree_writer(repository, "HEAD") as writer:
        writer.write({PATH.encode(): None})
    assert index.read_bytes() == before


def test_index_of_another_repository_is_not_taken(
    box: GitBox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = GitBox(tmp_path / "other")
    other.write(PATH, WRONG)
    other.save()
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.root / ".git" / "index"))
    assert check("--staged").code == 0
