"""A run in git: candidates, edits, merges, rejections, and what stays untouched."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from gitbox import (
    AGENTS,
    AUTHOR,
    RUN,
    STARTED,
    USER,
    GitBox,
    candidate,
    edit,
    isolate,
    skill,
    store,
    team_box,
    verdict,
)

from skillevo.errors import ConfigError, ConflictError, EnvironmentFault, LibraryError
from skillevo.library.tree import apply_edit
from skillevo.ports import LibraryStore
from skillevo.store.candidates import GitStore
from skillevo.store.git import Repository
from skillevo.store.values import RefChange, Stamp
from skillevo.types import Decision, Operator

MAIN = f"refs/heads/skillevo/{RUN}/main"
CANDIDATE = f"refs/heads/skillevo/{RUN}/answerer/i001"
EVIDENCE = f"refs/skillevo/runs/{RUN}"
PRUNE = edit(Operator.PRUNE, "wording", None, removes=("wording",))
INDUCE = edit(Operator.INDUCE, "fresh", skill("fresh"), agent="reader", utility=None)


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitBox:
    isolate(tmp_path, monkeypatch)
    return team_box(tmp_path / "user")


def whole_run(repository: Repository, revision: str) -> list[str]:
    """Two iterations: one candidate is rejected, three are accepted; every commit id."""
    base = repository.resolve(revision)
    git_store = store(repository)
    port: LibraryStore = git_store
    assert port is git_store
    git_store.begin(RUN, base)
    first = tuple(git_store.commit("answerer", 1, [edit(), PRUNE], base))
    second = tuple(git_store.commit("reader", 1, [INDUCE], base))
    one = git_store.accept(candidate(base, first), verdict())
    two = git_store.accept(candidate(base, second, agent="reader"), verdict(agent="reader"))
    third = tuple(git_store.commit("answerer", 2, [edit(text=skill("units", "Worse."))], two))
    git_store.reject(candidate(two, third, iteration=2), verdict(Decision.REJECT))
    fourth = tuple(git_store.commit("reader", 2, [edit(agent="reader", name="fresh")], two))
    three = git_store.accept(
        candidate(two, fourth, agent="reader", iteration=2), verdict(agent="reader")
    )
    return [c.commit for c in (*first, *second, *third, *fourth)] + [one, two, three]


# --- the whole flow -----------------------------------------------------------------------------


def test_run_leaves_one_commit_per_edit_and_one_merge_per_accepted_candidate(box: GitBox) -> None:
    base = box.git("rev-parse", "HEAD")
    ids = whole_run(box.repository(), base)
    refs = box.refs()
    assert refs[MAIN] == ids[-1]
    assert set(refs) == {
        "refs/heads/trunk",
        MAIN,
        CANDIDATE.replace("i001", "i002"),
        EVIDENCE,
    }
    assert box.git("rev-list", "--count", "--merges", MAIN) == "3"
    assert box.git("rev-list", "--count", "--no-merges", f"{base}..{MAIN}") == "4"
    for commit in box.git("rev-list", "--no-merges", f"{base}..{MAIN}").split():
        agent = box.git("log", "-1", "--format=%(trailers:key=Skillevo-Agent,valueonly)", commit)
        changed = box.git("diff-tree", "-r", "--name-only", "--no-commit-id", commit).splitlines()
        assert changed
        assert all(path.startswith(f"skills/{agent.strip()}/") for path in changed)
    assert box.paths(MAIN) == [
        "README.md",
        "skills/answerer/units/SKILL.md",
        "skills/answerer/units/scripts/run.sh",
        "skills/reader/fresh/SKILL.md",
    ]
    box.git("fsck", "--strict")


def test_merge_joins_the_run_branch_and_the_candidate(box: GitBox) -> None:
    base = box.git("rev-parse", "HEAD")
    ids = whole_run(box.repository(), base)
    merge = ids[5]
    assert box.git("show", "-s", "--format=%P", merge) == f"{base} {ids[1]}"
    message = box.git("show", "-s", "--format=%B", merge)
    assert message.startswith("merge(answerer): accept 2 edits from iteration 1\n")
    assert "Skillevo-Score: 0.512 -> 0.578 (n=64, H=1)\n" in message
    assert f"Skillevo-Candidate: {ids[1]}\n" in message
    assert "Base-Moved" not in message


def test_commit_n_is_dated_n_seconds_after_the_start(box: GitBox) -> None:
    whole_run(box.repository(), "HEAD")
    log = box.git("log", "--all", "--format=%ct %at %ci %an %ce", "^trunk").splitlines()
    dates = sorted(int(line.split()[0]) for line in log)
    # Eight commits of edits and merges; evidence of begin, each edit, each decision and publishing.
    assert dates == [STARTED + n for n in range(1, 8 + 1 + 5 + 2 * 4 + 1)]
    assert all(line.split()[0] == line.split()[1] for line in log)
    assert all(line.endswith("+0000 skillevo user@example.com") for line in log)


def test_equal_inputs_give_equal_ids(box: GitBox, tmp_path: Path) -> None:
    first = whole_run(box.repository(), "HEAD")
    twin = team_box(tmp_path / "elsewhere")
    twin.git("fetch", "-q", str(box.root), "trunk")
    twin.git("config", "core.autocrlf", "true")
    twin.git("config", "i18n.commitEncoding", "latin1")
    assert whole_run(twin.repository(), "FETCH_HEAD") == first


def test_nothing_of_the_users_changes(box: GitBox) -> None:
    box.write("README.md", "stashed\n")
    box.git("stash", "-q")
    box.write("skills/answerer/units/SKILL.md", skill("units", "Not committed."))
    box.write("staged.txt", "staged\n")
    box.git("add", "staged.txt")
    before = box.snapshot()
    with box.repository() as repository:
        whole_run(repository, "HEAD")
        repository.modified_skills()
        store(repository, "other").team_libraries("HEAD")
    assert box.snapshot() == before
    assert not (box.root / ".git/skillevo").exists()


def test_uncommitted_skill_is_no_part_of_the_run(box: GitBox) -> None:
    box.write("skills/answerer/units/SKILL.md", skill("units", "Not committed."))
    libraries = store(box.repository()).team_libraries("HEAD")
    found = libraries["answerer"].get("units")
    assert found is not None
    assert "Not committed." not in found.text


# --- libraries ----------------------------------------------------------------------------------


def test_libraries_hold_every_agent_and_the_resources_by_blob(box: GitBox) -> None:
    box.write("skills/somebody/other/SKILL.md", "not ours and not valid")
    box.save()
    libraries = store(box.repository()).team_libraries("HEAD")
    assert set(libraries) == set(AGENTS)
    assert libraries["reader"].skills == ()
    assert libraries["answerer"].names == ("units", "wording")
    resource = libraries["answerer"].skills[0].resources[0]
    assert (resource.path, resource.mode) == ("scripts/run.sh", "100755")
    assert resource.blob == box.git("rev-parse", "HEAD:skills/answerer/units/scripts/run.sh")


@pytest.mark.parametrize("place", ["skills", "skills/reader"])
@pytest.mark.parametrize("kind", ["file", "link", "submodule"])
def test_what_is_no_folder_is_no_empty_library(box: GitBox, place: str, kind: str) -> None:
    box.git("rm", "-rq", "--ignore-unmatch", place)
    content = {"file": ("100644", b"x"), "link": ("120000", b"elsewhere")}
    if kind in content:
        mode, text = content[kind]
        entry = (mode, box.git("hash-object", "-w", "--stdin", stdin=text))
    else:
        entry = ("160000", box.git("rev-parse", "HEAD"))
    box.git("update-index", "--add", "--cacheinfo", ",".join((*entry, place)))
    box.git("commit", "-q", "-m", "no folder")
    with pytest.raises(LibraryError, match=f"^{place} is no folder"):
        store(box.repository()).team_libraries("HEAD")


def test_libraries_of_a_project_in_a_subfolder(box: GitBox) -> None:
    box.write("team/skills/reader/deep/SKILL.md", skill("deep"))
    base = box.save()
    git_store = store(Repository(box.root / "team"), skills="team/skills")
    assert git_store.team_libraries("HEAD")["reader"].names == ("deep",)
    git_store.begin(RUN, base)
    (done,) = git_store.commit("reader", 1, [edit(agent="reader", name="deep")], base)
    assert box.git("diff-tree", "-r", "--name-only", base, done.commit) == (
        "team/skills/reader/deep/SKILL.md"
    )


def test_tree_written_is_the_library_that_the_edits_make(box: GitBox) -> None:
    git_store = store(box.repository())
    git_store.begin(RUN, "HEAD")
    merged = edit(
        Operator.CONSOLIDATE, "form", skill("form"), removes=("units", "wording"),
        sources=("answerer/units", "answerer/wording"),
    )  # fmt: skip
    edits = [edit(), merged, edit(Operator.INDUCE, "more", skill("more"))]
    library = git_store.team_libraries("HEAD")["answerer"]
    for one in edits:
        library = apply_edit(library, one)
    done = git_store.commit("answerer", 1, edits, "HEAD")
    assert git_store.team_libraries(done[-1].commit)["answerer"] == library


# --- edits --------------------------------------------------------------------------------------


def test_edits_are_numbered_through_the_run(box: GitBox) -> None:
    git_store = store(box.repository())
    git_store.begin(RUN, "HEAD")
    first = git_store.commit("answerer", 1, [edit(), PRUNE], "HEAD")
    second = git_store.commit("reader", 1, [INDUCE], "HEAD")
    assert [c.id for c in (*first, *second)] == [f"{RUN}-000{n}" for n in (1, 2, 3)]
    assert box.refs()[CANDIDATE] == first[1].commit
    assert box.git("rev-parse", f"{first[1].commit}^") == first[0].commit
    assert box.git("rev-parse", f"{first[0].commit}^") == box.git("rev-parse", "HEAD")


def test_no_edits_make_no_branch(box: GitBox) -> None:
    git_store = store(box.repository())
    assert git_store.commit("answerer", 1, [], "HEAD") == ()
    assert set(box.refs()) == {"refs/heads/trunk"}


def test_resources_of_an_edited_skill_stay_byte_for_byte(box: GitBox) -> None:
    git_store = store(box.repository())
    git_store.begin(RUN, "HEAD")
    (done,) = git_store.commit("answerer", 1, [edit()], "HEAD")
    path = "skills/answerer/units/scripts/run.sh"
    assert box.git("ls-tree", done.commit, path) == box.git("ls-tree", "HEAD", path)
    assert box.show(done.commit, path) == b"#!/bin/sh\r\necho \xff\n"


def test_text_is_stored_byte_for_byte_under_any_line_ending_setting(box: GitBox) -> None:
    box.git("config", "core.autocrlf", "true")
    box.write(".gitattributes", "* text=auto eol=crlf\n")
    base = box.save()
    text = skill("units", "Größe\r\nkept") + "\n\n"
    (done,) = store(box.repository()).commit("answerer", 1, [edit(text=text)], base)
    assert box.show(done.commit, "skills/answerer/units/SKILL.md") == text.encode()


def test_prune_removes_the_whole_folder_and_nothing_else(box: GitBox) -> None:
    name = os.fsdecode(b"skills/answerer/units/caf\xe9")
    (box.root / name).write_bytes(b"x")
    box.write("skills/answerer/units-more/SKILL.md", skill("units-more"))
    base = box.save()
    prune = edit(Operator.PRUNE, "units", None, removes=("units",))
    (done,) = store(box.repository()).commit("answerer", 1, [prune], base)
    assert box.paths(done.commit) == [
        "README.md",
        "skills/answerer/units-more/SKILL.md",
        "skills/answerer/wording/SKILL.md",
    ]


@pytest.mark.parametrize(
    "name", ["../x", ".git", "a/b", "a\\b", "Units", "-x", "", "hooks\0", "a" * 65]
)
def test_skill_name_of_a_model_never_becomes_a_path_unchecked(box: GitBox, name: str) -> None:
    bad = edit(name=name, text=skill("units"))
    with pytest.raises(LibraryError, match="invalid skill name"):
        store(box.repository()).commit("answerer", 1, [bad], "HEAD")
    assert set(box.refs()) == {"refs/heads/trunk"}


def test_name_that_differs_by_case_only_is_refused(box: GitBox) -> None:
    box.write("skills/answerer/Fresh/SKILL.md", skill("fresh"))
    base = box.save()
    fresh = edit(Operator.INDUCE, "fresh", skill("fresh"))
    with pytest.raises(LibraryError, match="collides with skills/answerer/Fresh"):
        store(box.repository()).commit("answerer", 1, [fresh], base)


def test_removal_of_an_absent_skill_is_refused(box: GitBox) -> None:
    with pytest.raises(LibraryError, match="no skill skills/answerer/wording to remove"):
        store(box.repository()).commit("answerer", 1, [PRUNE, PRUNE], "HEAD")


def test_text_with_half_a_character_is_refused(box: GitBox) -> None:
    with pytest.raises(LibraryError, match="cannot be written as UTF-8"):
        store(box.repository()).commit("answerer", 1, [edit(text="\ud800")], "HEAD")


def test_edit_that_would_replace_a_path_outside_the_folder_is_refused(box: GitBox) -> None:
    (box.root / "skills/reader").symlink_to("answerer")
    base = box.save()
    with pytest.raises(LibraryError, match=r"would touch skills/reader$"):
        store(box.repository()).commit("reader", 1, [INDUCE], base)
    assert set(box.refs()) == {"refs/heads/trunk"}


def test_hostile_summary_and_reason_are_neutralised(box: GitBox) -> None:
    hostile = edit(summary="[skip ci] ::error::x @all", why="a\n---\nSigned-off-by: x\n\x1b[31m")
    (done,) = store(box.repository()).commit("answerer", 1, [hostile], "HEAD")
    message = box.git("show", "-s", "--format=%B", done.commit)
    for word in ("[skip ci]", " ::error", "@all", "\n---", "Signed-off-by:", "\x1b"):
        assert word not in message
    assert "Skillevo-Diagnosis: d-0002\n" in message


# --- decisions ----------------------------------------------------------------------------------


def test_accepted_head_goes_and_stays_reachable(box: GitBox) -> None:
    git_store = store(box.repository())
    git_store.begin(RUN, "HEAD")
    done = tuple(git_store.commit("answerer", 1, [edit()], "HEAD"))
    base = box.git("rev-parse", "HEAD")
    merge = git_store.accept(candidate(base, done), verdict())
    assert CANDIDATE not in box.refs()
    assert box.git("rev-parse", f"{merge}^2") == done[-1].commit


@pytest.mark.parametrize("decision", [Decision.REJECT, Decision.INDECISIVE])
def test_head_that_is_not_accepted_stays_and_is_pinned_by_the_evidence(
    box: GitBox, decision: Decision
) -> None:
    git_store = store(box.repository())
    base = box.git("rev-parse", "HEAD")
    git_store.begin(RUN, base)
    done = tuple(git_store.commit("answerer", 1, [edit()], base))
    git_store.reject(candidate(base, done), verdict(decision))
    refs = box.refs()
    assert refs[MAIN] == base
    assert refs[CANDIDATE] == done[-1].commit
    assert done[-1].commit in box.git("rev-list", EVIDENCE).splitlines()


def test_candidate_of_an_agent_changed_meanwhile_is_stale(box: GitBox) -> None:
    repository = box.repository()
    git_store = store(repository)
    base = box.git("rev-parse", "HEAD")
    git_store.begin(RUN, base)
    done = tuple(git_store.commit("answerer", 1, [edit()], base))
    for path in ("skills/answerer/units/SKILL.md", "skills/answerer/more/SKILL.md"):
        foreign = foreign_commit(box, path)
        box.git("update-ref", MAIN, foreign)
        settled = git_store.decide((candidate(base, done), verdict()))
        (outcome,) = settled.outcomes
        assert (outcome.decision, outcome.merge) == (Decision.STALE, "")
        assert "skills/answerer changed on skillevo/" in outcome.reason
        assert (settled.tip, settled.head) == (foreign, foreign)
        assert box.refs()[MAIN] == foreign
        assert box.refs()[CANDIDATE] == done[-1].commit


def test_run_branch_moved_elsewhere_is_merged_onto_and_said(box: GitBox) -> None:
    git_store = store(box.repository())
    base = box.git("rev-parse", "HEAD")
    git_store.begin(RUN, base)
    done = tuple(git_store.commit("answerer", 1, [edit()], base))
    foreign = foreign_commit(box, "docs/note.md")
    box.git("update-ref", MAIN, foreign)
    merge = git_store.accept(candidate(base, done), verdict())
    assert box.git("rev-parse", f"{merge}^1") == foreign
    assert f"Skillevo-Base-Moved: {foreign}" in box.git("show", "-s", "--format=%B", merge)
    assert "docs/note.md" in box.paths(merge)


def foreign_commit(box: GitBox, path: str) -> str:
    """Somebody's commit on top of HEAD that writes ``path``; no branch or file changes."""
    blob = box.git("hash-object", "-w", "--stdin", stdin=b"foreign\n")
    index = {"GIT_INDEX_FILE": str(box.root / ".git/foreign-index")}
    os.environ.update(index)
    try:
        box.git("read-tree", "HEAD")
        box.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
        tree = box.git("write-tree")
    finally:
        del os.environ["GIT_INDEX_FILE"]
    return box.git("commit-tree", tree, "-p", "HEAD", "-m", "Foreign")


# --- refs that are in the way -------------------------------------------------------------------


def test_run_that_exists_is_a_conflict(box: GitBox) -> None:
    store(box.repository()).begin(RUN, "HEAD")
    with pytest.raises(ConflictError, match="cannot move") as caught:
        store(box.repository()).begin(RUN, "HEAD")
    assert "already exists" in caught.value.why
    assert "--run-id" in caught.value.fix


def test_candidate_that_exists_is_a_conflict(box: GitBox) -> None:
    store(box.repository()).commit("answerer", 1, [edit()], "HEAD")
    with pytest.raises(ConflictError, match=r"answerer/i001"):
        store(box.repository()).commit("answerer", 1, [edit()], "HEAD")


def test_branch_named_skillevo_is_a_conflict_with_a_fix(box: GitBox) -> None:
    box.git("branch", "skillevo")
    with pytest.raises(ConflictError, match="cannot move") as caught:
        store(box.repository()).begin(RUN, "HEAD")
    assert "'refs/heads/skillevo' exists" in caught.value.why
    assert caught.value.fix == "git branch -m skillevo <another-name>"


def test_candidate_moved_by_somebody_else_is_not_deleted(box: GitBox) -> None:
    git_store = store(box.repository())
    base = box.git("rev-parse", "HEAD")
    git_store.begin(RUN, base)
    done = tuple(git_store.commit("answerer", 1, [edit()], base))
    box.git("update-ref", CANDIDATE, base)
    with pytest.raises(ConflictError, match="cannot move"):
        git_store.accept(candidate(base, done), verdict())
    assert box.refs()[MAIN] == base
    with pytest.raises(ConflictError, match="cannot move"):
        git_store.reject(candidate(base, done), verdict(Decision.REJECT))
    assert box.refs()[CANDIDATE] == base


def test_vetoing_hook_stops_the_run_and_leaves_nothing(box: GitBox) -> None:
    hook = box.root / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(ConflictError, match="cannot move"):
        store(box.repository()).begin(RUN, "HEAD")
    assert set(box.refs()) == {"refs/heads/trunk"}


def test_compare_and_swap_loses_no_update(box: GitBox) -> None:
    base = box.git("rev-parse", "HEAD")
    repository = box.repository()
    stamp = Stamp(AUTHOR, USER, STARTED)
    repository.move_refs([RefChange(MAIN, base, None)], stamp, reason="test")

    def writer(number: int) -> None:
        for turn in range(5):
            while True:
                old = repository.resolve(MAIN)
                new = repository.commit_tree(f"{old}^{{tree}}", [old], f"{number}.{turn}\n", stamp)
                try:
                    repository.move_refs([RefChange(MAIN, new, old)], stamp, reason="test")
                except ConflictError:
                    continue
                break

    writers = [threading.Thread(target=writer, args=(number,)) for number in range(4)]
    for thread in writers:
        thread.start()
    for thread in writers:
        thread.join()
    assert box.git("rev-list", "--count", f"{base}..{MAIN}") == "20"


def test_store_may_be_used_from_several_threads(box: GitBox) -> None:
    git_store = store(box.repository())
    git_store.begin(RUN, "HEAD")
    jobs = [("answerer", edit()), ("reader", INDUCE)]
    threads = [
        threading.Thread(target=git_store.commit, args=(agent, 1, [one] * 3, "HEAD"))
        for agent, one in jobs
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = box.git("log", "--branches=skillevo", "--format=%(trailers:key=Skillevo-Edit,valueonly)")
    assert sorted(ids.split()) == [f"{RUN}-000{n}" for n in range(1, 7)]


# --- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["main", "A", "a/b", "", "../x"])
def test_agent_that_cannot_be_a_branch_is_refused(box: GitBox, agent: str) -> None:
    with pytest.raises(ConfigError, match="invalid agent name"):
        GitStore(
            box.repository(),
            run=RUN, started=STARTED, author=AUTHOR, committer=USER, agents=[agent],
        )  # fmt: skip


@pytest.mark.parametrize("run", ["", "A", "a/b", "x.lock", "-x"])
def test_run_id_that_cannot_be_a_branch_is_refused(box: GitBox, run: str) -> None:
    with pytest.raises(ConfigError, match="invalid run id"):
        store(box.repository(), run)


def test_store_serves_its_own_run_only(box: GitBox) -> None:
    with pytest.raises(ValueError, match="serves run"):
        store(box.repository()).begin("other", "HEAD")


# --- kinds of repositories ----------------------------------------------------------------------


def test_bare_repository(box: GitBox, tmp_path: Path) -> None:
    box.git("clone", "-q", "--bare", str(box.root), str(tmp_path / "bare.git"))
    with Repository(tmp_path / "bare.git") as repository:
        assert repository.bare
        assert repository.modified_skills() == 0
        bare = whole_run(repository, "HEAD")
    assert bare == whole_run(box.repository(), "HEAD")


def test_detached_head_stays_where_it_is(box: GitBox) -> None:
    box.git("checkout", "-q", "--detach")
    before = box.snapshot()
    whole_run(box.repository(), "HEAD")
    assert box.snapshot() == before
    assert box.repository().head()[1] is None


def test_linked_worktree(box: GitBox, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    box.git("worktree", "add", "-q", "-b", "side", str(linked))
    before = box.snapshot()
    with Repository(linked) as repository:
        whole_run(repository, "side")
    assert box.snapshot() == before
    assert box.git("status", "--porcelain", cwd=linked) == ""


def test_sha256_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate(tmp_path, monkeypatch)
    box = team_box(tmp_path / "user", "--object-format=sha256")
    ids = whole_run(box.repository(), "HEAD")
    assert {len(oid) for oid in ids} == {64}
    assert box.paths(MAIN)[-1] == "skills/reader/fresh/SKILL.md"


def test_sparse_checkout(box: GitBox) -> None:
    box.git("sparse-checkout", "set", "docs")
    before = box.snapshot()
    with box.repository() as repository:
        assert repository.modified_skills() == 0
        whole_run(repository, "HEAD")
    assert box.snapshot() == before
    assert "README.md" in box.paths(MAIN)


def test_path_outside_that_is_no_utf8_is_carried_along(box: GitBox) -> None:
    (box.root / os.fsdecode(b"caf\xe9")).write_bytes(b"x")
    base = box.save()
    whole_run(box.repository(), base)
    assert b"caf\xe9" in box.repository().list_tree(MAIN)


def test_failing_signature_is_told_before_the_run_branch_is_made(
    box: GitBox, tmp_path: Path
) -> None:
    gpg = tmp_path / "gpg"
    gpg.write_text("#!/bin/sh\necho 'no secret key' >&2\nexit 2\n")
    gpg.chmod(0o755)
    box.git("config", "gpg.program", str(gpg))
    with pytest.raises(EnvironmentFault, match="cannot sign") as caught:
        store(box.repository(), sign=True).begin(RUN, "HEAD")
    assert "commit.gpgsign" in caught.value.fix
    assert set(box.refs()) == {"refs/heads/trunk"}


def test_signed_run_signs_every_commit(box: GitBox, tmp_path: Path) -> None:
    gpg = tmp_path / "gpg"
    gpg.write_text(
        "#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED D' >&2\n"
        "echo '-----BEGIN PGP SIGNATURE-----'\necho x\necho '-----END PGP SIGNATURE-----'\n"
    )
    gpg.chmod(0o755)
    box.git("config", "gpg.program", str(gpg))
    git_store = store(box.repository(), sign=True)
    git_store.begin(RUN, "HEAD")
    (done,) = git_store.commit("answerer", 1, [edit()], "HEAD")
    assert "\ngpgsig -----BEGIN PGP" in box.git("cat-file", "commit", done.commit)
