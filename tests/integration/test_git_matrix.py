"""A whole run in every kind of repository: how it ends, and that all of the user's stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.workshop import (
    GLOBAL_IDENTITY,
    Outcome,
    Workshop,
    assert_told,
    contents,
    git,
    hear_interrupts,
    skillevo,
)

from skillevo.errors import ConflictError
from skillevo.store.git import Repository
from skillevo.store.values import SKILLEVO, RefChange, Stamp

WORDS = ("evolve", "--run-id", "one", "--iterations", "1", "--format", "json")
OURS = (
    "objects", "refs/heads/skillevo", "refs/skillevo", "logs/refs/heads/skillevo",
    "logs/refs/skillevo",
)  # fmt: skip


def snapshot(root: Path, git_dir: Path | None = None) -> dict[str, Any]:
    """Files with mode and time, index, HEAD, configuration, stash and every ref of the user's."""
    git_dir = git_dir or root / ".git"
    found: dict[str, Any] = {}
    for top in {root, git_dir}:
        for path in sorted(top.rglob("*")):
            name = os.fsdecode(path.relative_to(top))
            ours = name.removeprefix(".git/").startswith(OURS) or name.startswith(".skillevo")
            if path.is_file() and not ours:
                facts = path.stat()
                found[f"{top.name}:{name}"] = (facts.st_mode, facts.st_mtime_ns, path.read_bytes())
    refs = git(root, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return found | {"refs": [ref for ref in refs if "skillevo/" not in ref.split(" ")[0]]}


def evolve(root: Path) -> Outcome:
    return skillevo("-C", root, *WORDS)


def ends_well(root: Path, git_dir: Path | None = None) -> Any:
    """A run that ends, passes verify, and leaves the user's things alone; its result."""
    before = snapshot(root, git_dir)
    outcome = evolve(root)
    assert (outcome.code, outcome.err) == (0, "")
    value = outcome.value
    assert any(agent["merge"] for agent in value["iterations"][0]["agents"])
    checked = skillevo("-C", root, "verify")
    assert checked.code == 0, checked.out
    assert "not checked" not in checked.out
    for command in ("log", "diff", "status", "doctor"):
        assert skillevo("-C", root, command).code == 0
    assert snapshot(root, git_dir) == before
    return value


# --- kinds of repositories ------------------------------------------------------------------------


def plain(shop: Workshop) -> None:
    """Nothing special."""


def dirty(shop: Workshop) -> None:
    """A stash, staged and unstaged changes, an untracked file."""
    shop.write("roles/notes.md", "stashed\n")
    shop.git("stash", "-q", "-u")
    shop.write("staged.txt", "staged\n")
    shop.git("add", "staged.txt")
    shop.write("README.txt", "untracked\n")


def detached(shop: Workshop) -> None:
    """HEAD on no branch."""
    shop.git("checkout", "-q", "--detach")


def sparse(shop: Workshop) -> None:
    """Skills are not checked out."""
    shop.git("sparse-checkout", "set", "data", "roles")


def line_endings(shop: Workshop) -> None:
    """Files become CRLF on checkout."""
    shop.git("config", "core.autocrlf", "true")
    shop.write(".gitattributes", "*.md text eol=crlf\n")
    shop.save()


def foreign_path(shop: Workshop) -> None:
    """A path that is no UTF-8."""
    (shop.root / os.fsdecode(b"caf\xe9")).write_bytes(b"x")
    shop.save()


def hostile(shop: Workshop) -> None:
    """Configuration that runs commands wherever git lets it."""
    trap = f"touch {shop.folder / 'sprung'}"
    for key, value in {
        "trailer.Skillevo-Edit.cmd": trap,
        "trailer.Skillevo-Edit.command": trap,
        "diff.external": trap,
        "diff.md.command": trap,
        "diff.md.textconv": trap,
        "core.fsmonitor": trap,
        "core.pager": trap,
        "merge.md.driver": trap,
        "color.ui": "always",
        "log.showSignature": "true",
        "i18n.logOutputEncoding": "UTF-16",
        "merge.renames": "copies",
    }.items():
        shop.git("config", key, value)
    shop.write(".git/info/attributes", "*.md diff=md merge=md\n")


def hooked(shop: Workshop) -> None:
    """Hooks that would stop a person's commit."""
    for name in (
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "pre-merge-commit",
    ):
        shop.write(f".git/hooks/{name}", f"#!/bin/sh\ntouch {shop.folder / 'sprung'}\nexit 1\n")
        (shop.root / ".git" / "hooks" / name).chmod(0o755)


KINDS = [plain, dirty, detached, sparse, line_endings, foreign_path, hostile, hooked]


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_run_ends_well_and_leaves_the_users_things_alone(
    workshop: Workshop, make: Callable[[Workshop], None]
) -> None:
    make(workshop)
    ends_well(workshop.root)
    assert not (workshop.folder / "sprung").exists()


def test_linked_worktree(workshop: Workshop) -> None:
    linked = workshop.folder / "linked"
    workshop.git("worktree", "add", "-q", "-b", "side", str(linked))
    main = snapshot(workshop.root)
    ends_well(linked, workshop.root / ".git")
    assert snapshot(workshop.root) == main


def test_shallow_clone(workshop: Workshop) -> None:
    workshop.save()
    workshop.save()
    shallow = workshop.folder / "shallow"
    git(workshop.folder, "clone", "-q", "--depth=1", f"file://{workshop.root}", str(shallow))
    ends_well(shallow)
    assert (shallow / ".git" / "shallow").exists()


def test_sha256_repository(workshop: Workshop) -> None:
    (workshop.root / ".git").rename(workshop.folder / "sha1")
    workshop.git("init", "-q", "-b", "main", "--object-format=sha256")
    workshop.save()
    value = ends_well(workshop.root)
    assert len(value["head"]) == 64


def test_bare_repository_holds_no_project(workshop: Workshop) -> None:
    bare = workshop.folder / "bare.git"
    git(workshop.folder, "clone", "-q", "--bare", str(workshop.root), str(bare))
    before = contents(bare)
    assert_told(skillevo("-C", bare, "evolve"), 2, "skillevo.toml")
    assert contents(bare) == before


def test_run_that_was_fetched_can_be_verified_without_its_files(workshop: Workshop) -> None:
    value = ends_well(workshop.root)
    other = workshop.folder / "other"
    git(workshop.folder, "clone", "-q", str(workshop.root), str(other))
    refspec = "refs/skillevo/runs/*:refs/skillevo/runs/*"
    git(other, "fetch", "-q", "origin", refspec, f"{value['branch']}:{value['branch']}")
    checked = skillevo("-C", other, "verify")
    assert checked.code == 0
    assert "not checked: citations and rollouts: the run directory is gone" in checked.out


# --- what must stop a run, with nothing left behind -----------------------------------------------


def branch_in_the_way(shop: Workshop) -> None:
    """A branch where ours would be a folder."""
    shop.git("branch", "skillevo")


def veto(shop: Workshop) -> None:
    """A hook that lets no ref move."""
    shop.write(".git/hooks/reference-transaction", "#!/bin/sh\nexit 1\n")
    (shop.root / ".git" / "hooks" / "reference-transaction").chmod(0o755)


def no_key(shop: Workshop) -> None:
    """Commits are to be signed and cannot be; models that are not simulated are signed for."""
    gpg = shop.folder / "gpg"
    gpg.write_text("#!/bin/sh\necho 'no secret key' >&2\nexit 2\n")
    gpg.chmod(0o755)
    shop.configure(f"{GLOBAL_IDENTITY}[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = {gpg}\n")


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (branch_in_the_way, 4, "git branch -m skillevo <another-name>"),
        (veto, 4, "reference-transaction hook"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_run_that_cannot_begin_says_why_and_leaves_no_ref(
    workshop: Workshop, make: Callable[[Workshop], None], code: int, words: str
) -> None:
    make(workshop)
    before = snapshot(workshop.root)
    assert_told(evolve(workshop.root), code, words)
    assert snapshot(workshop.root) == before
    assert "refs/heads/skillevo/one" not in workshop.git("for-each-ref")


def test_simulated_run_needs_no_key(workshop: Workshop) -> None:
    no_key(workshop)
    ends_well(workshop.root)


def test_dubious_ownership_is_told(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    before = contents(workshop.root)
    assert_told(evolve(workshop.root), 3, "git does not trust", "safe.directory")
    assert contents(workshop.root) == before


def test_interrupt_names_the_command_that_goes_on(workshop: Workshop) -> None:
    """Ctrl-C in the middle: what is fixed is the exit code, the words, and that it can go on."""
    workshop.settings("batch = 8\ngroup_size = 4", "batch = 30\ngroup_size = 16")
    workshop.save()
    before = snapshot(workshop.root)
    with subprocess.Popen(
        [sys.executable, "-m", "skillevo", *WORDS],
        cwd=workshop.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=hear_interrupts,
    ) as process:  # fmt: skip
        calls = workshop.runs / "one" / "calls.jsonl"
        while not (calls.exists() and calls.stat().st_size) and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert "error: the run one was interrupted\n" in err
    assert f"fix: skillevo -C {workshop.root} evolve --resume one\n" in err
    assert "Traceback" not in err
    assert snapshot(workshop.root) == before
    assert workshop.run("evolve", "--resume", "one").code == 0
    assert workshop.run("verify").code == 0
    assert snapshot(workshop.root) == before


def test_eight_writers_lose_none_of_two_hundred_updates(workshop: Workshop) -> None:
    ref = "refs/heads/skillevo/one/main"
    base = workshop.git("rev-parse", "HEAD")
    repository = Repository(workshop.root)
    stamp = Stamp(SKILLEVO, SKILLEVO, 1_600_000_000)
    repository.move_refs([RefChange(ref, base, None)], stamp, reason="test")

    def writer(number: int) -> None:
        for turn in range(25):
            while True:
                old = repository.resolve(ref)
                new = repository.commit_tree(f"{old}^{{tree}}", [old], f"{number}.{turn}\n", stamp)
                try:
                    repository.move_refs([RefChange(ref, new, old)], stamp, reason="test")
                except ConflictError:
                    continue
                break

    writers = [threading.Thread(target=writer, args=(number,)) for number in range(8)]
    for thread in writers:
        thread.start()
    for thread in writers:
        thread.join()
    assert workshop.git("rev-list", "--count", f"{base}..{ref}") == "200"
