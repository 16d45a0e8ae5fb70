"""Evidence objects, the chain of steps, and resuming at the level of the store."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from gitbox import RUN, GitBox, candidate, edit, isolate, skill, store, team_box, verdict

from skillevo.errors import ConflictError
from skillevo.store.journal import expected_refs, recorded_steps
from skillevo.store.objects import ObjectWriter
from skillevo.types import Decision, Operator

MAIN = f"refs/heads/skillevo/{RUN}/main"
EVIDENCE = f"refs/skillevo/runs/{RUN}"
INDUCE = edit(Operator.INDUCE, "fresh", skill("fresh"), agent="reader", utility=None)


@pytest.fixture(params=["sha1", "sha256"])
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> GitBox:
    isolate(tmp_path, monkeypatch)
    return team_box(tmp_path / "user", f"--object-format={request.param}")


def make_run(box: GitBox, *, sign: bool = False, resume: bool = False) -> None:
    """Two candidates, one accepted, one rejected."""
    git_store = store(box.repository(), sign=sign, resume=resume)
    base = box.git("rev-parse", "trunk")
    git_store.begin(RUN, base)
    first = tuple(git_store.commit("answerer", 1, [edit(), edit(text=skill("units", "x"))], base))
    second = tuple(git_store.commit("reader", 1, [INDUCE], base))
    git_store.decide(
        (candidate(base, first), verdict()),
        (candidate(base, second, agent="reader"), verdict(Decision.REJECT, "reader")),
    )
    git_store.end({"result.json": "{}\n"})


def test_objects_are_those_that_git_would_make(box: GitBox) -> None:
    files = {
        "b.json": b"b", "b/c.json": b"", "b-a": b"x", "a/very/deep/one": b"y" * 100_000,
        "a/two": "é".encode(), "z": bytes(range(256)),
    }  # fmt: skip
    writer = ObjectWriter(box.repository())
    tree = writer.tree({path: writer.blob(data) for path, data in files.items()})
    writer.flush()
    writer.flush()
    assert box.paths(tree) == sorted(files)
    for path, data in files.items():
        assert box.show(tree, path) == data
    index = box.root / ".git" / "test-index"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_INDEX_FILE", str(index))
        box.git("read-tree", tree)
        assert box.git("write-tree") == tree
    box.git("fsck", "--strict", tree)


def test_chain_pins_every_edit_and_tells_where_refs_stand(box: GitBox) -> None:
    make_run(box)
    steps = recorded_steps(box.repository(), RUN)
    assert [step.name for step in steps] == [
        "begin", f"edit {RUN}-0001", f"edit {RUN}-0002", f"edit {RUN}-0003",
        "decide 1", "publish 1", "end",
    ]  # fmt: skip
    assert [len(step.pins) for step in steps] == [0, 1, 1, 1, 0, 0, 0]
    refs = box.refs()
    rejected = f"refs/heads/skillevo/{RUN}/reader/i001"
    assert expected_refs(steps) == {MAIN: refs[MAIN], rejected: refs[rejected]}
    assert set(refs) == {"refs/heads/trunk", MAIN, rejected, EVIDENCE}
    assert steps[-1].ended
    for step, later in itertools.pairwise(steps):
        assert box.git("rev-parse", f"{later.commit}^1") == step.commit


def test_resumed_run_finds_everything_done(box: GitBox) -> None:
    make_run(box)
    before = box.refs()
    make_run(box, resume=True)
    assert box.refs() == before


def test_evidence_survives_a_prune_and_a_fetch(box: GitBox, tmp_path: Path) -> None:
    make_run(box)
    box.git("reflog", "expire", "--expire=now", "--all")
    box.git("gc", "-q", "--prune=now")
    clone = tmp_path / "clone"
    box.git("clone", "-q", str(box.root), str(clone))
    box.git("fetch", "-q", "origin", f"{EVIDENCE}:{EVIDENCE}", cwd=clone)
    for step in recorded_steps(box.repository(), RUN):
        for pin in step.pins:
            assert box.git("cat-file", "-t", pin, cwd=clone) == "commit"


def test_signed_run_is_resumed_although_no_signature_is_made_twice(
    box: GitBox, tmp_path: Path
) -> None:
    gpg = tmp_path / "gpg"
    gpg.write_text(
        "#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED D' >&2\n"
        f"echo x >>{tmp_path}/count\n"
        "echo '-----BEGIN PGP SIGNATURE-----'\n"
        f"wc -l <{tmp_path}/count\necho '-----END PGP SIGNATURE-----'\n"
    )
    gpg.chmod(0o755)
    box.git("config", "gpg.program", str(gpg))
    make_run(box, sign=True)
    before = box.refs()
    commits = box.git("rev-list", EVIDENCE, MAIN, "^trunk").split()
    assert all("gpgsig" in box.git("cat-file", "commit", commit) for commit in commits)
    # The run as it was before it ended: the last two steps are to be done.
    steps = recorded_steps(box.repository(), RUN)
    box.git("update-ref", EVIDENCE, steps[4].commit)
    box.git("update-ref", MAIN, "trunk")
    for pin, name in ((steps[2].pins[0], "answerer"), (steps[3].pins[0], "reader")):
        box.git("update-ref", f"refs/heads/skillevo/{RUN}/{name}/i001", pin)
    with pytest.raises(ConflictError, match="comes out differently"):
        # Its merge was never on a ref, so that it cannot be found and its signature is another.
        make_run(box, sign=True, resume=True)
    box.git("update-ref", MAIN, before[MAIN])
    make_run(box, sign=True, resume=True)
    after = box.refs()
    assert after[MAIN] == before[MAIN]
    assert set(after) == set(before)


def test_damaged_state_of_a_step_is_told(box: GitBox) -> None:
    make_run(box)
    blob = box.git("hash-object", "-w", "--stdin", stdin=b"{")
    tree = box.git("mktree", stdin=f"100644 blob {blob}\tstate.json\n".encode())
    box.git("update-ref", EVIDENCE, box.git("commit-tree", tree, "-p", EVIDENCE, "-m", "x"))
    with pytest.raises(ConflictError, match="is damaged at step 8") as caught:
        store(box.repository(), resume=True)
    assert caught.value.fix == f"skillevo verify {RUN}"
