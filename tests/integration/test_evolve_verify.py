"""``skillevo verify``: what it finds in histories that somebody touched."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes.workshop import Outcome, Workshop, git, patched, skillevo

from skillevo.store.candidate_tree import CandidateTree
from skillevo.types import Edit

RUN = "one"
MAIN = f"refs/heads/skillevo/{RUN}/main"
EVIDENCE = f"refs/skillevo/runs/{RUN}"


@pytest.fixture(scope="module")
def evolved(tmp_path_factory: pytest.TempPathFactory, pristine: Path) -> Iterator[Path]:
    """A project with one finished run, and the environment it needs."""
    folder = tmp_path_factory.mktemp("verify")
    with patched(folder):
        shutil.copytree(pristine, folder / "evolved", symlinks=True)
        root = folder / "evolved"
        assert skillevo("-C", root, "evolve", "--run-id", RUN).code == 0
        yield root


@pytest.fixture
def project(evolved: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may spoil."""
    shutil.copytree(evolved, tmp_path / "project", symlinks=True)
    return tmp_path / "project"


def verify(root: Path, *arguments: str) -> Outcome:
    return skillevo("-C", root, "verify", *arguments)


def problems(root: Path) -> list[str]:
    outcome = verify(root, "--format", "json")
    value = outcome.value
    assert outcome.code == (0 if value["ok"] else 1)
    (run,) = value["runs"]
    assert run["ok"] == value["ok"]
    return [f"{p['check']} {p['place']}: {p['message']}" for p in run["problems"]]


def rewrite(root: Path, path: str, change: Callable[[bytes], bytes | None]) -> None:
    """Replace one file of the evidence, in a commit that takes the place of the last one."""
    files = {}
    for line in git(root, "ls-tree", "-r", EVIDENCE).splitlines():
        facts, name = line.split("\t")
        files[name] = facts.split(" ")[2]
    data = git(root, "cat-file", "blob", files[path]).encode() + b"\n" if path in files else b""
    content = change(data)
    if content is None:
        del files[path]
    else:
        (root / "content").write_bytes(content)
        files[path] = git(root, "hash-object", "-w", "content")
    tree = write_tree(root, files)
    parents = git(root, "log", "-1", "--format=%P", EVIDENCE).split()
    message = git(root, "log", "-1", "--format=%B", EVIDENCE)
    move(root, EVIDENCE, tree, parents, message)


def write_tree(root: Path, files: dict[str, str]) -> str:
    index = root / "index"
    index.unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_INDEX_FILE", str(index))
        for name, blob in files.items():
            git(root, "update-index", "--add", "--cacheinfo", f"100644,{blob},{name}")
        return git(root, "write-tree")


def move(root: Path, ref: str, tree: str, parents: list[str], message: str) -> str:
    options = [word for parent in parents for word in ("-p", parent)]
    commit = git(root, "commit-tree", tree, *options, "-m", message)
    git(root, "update-ref", ref, commit)
    return commit


def evidence(root: Path, path: str) -> Any:
    return json.loads(git(root, "cat-file", "blob", f"{EVIDENCE}:{path}"))


def only_edit(root: Path) -> str:
    """The path of the evidence of an accepted edit."""
    decided = evidence(root, "iterations/001/decision.json")["agents"]
    edit = next(one["edits"][-1] for one in decided if one["decision"] == "accept")
    return f"edits/{edit}.json"


# --- nothing is wrong -----------------------------------------------------------------------------


def test_untouched_run_is_in_order(project: Path) -> None:
    before = git(project, "for-each-ref")
    outcome = verify(project)
    assert outcome.code == 0
    assert outcome.lines == ["one: ok (2 edits, 1 merges, 16 citations)"]
    assert git(project, "for-each-ref") == before
    assert verify(project, RUN).out == outcome.out


def test_lost_run_directory_is_told_and_no_fault(project: Path) -> None:
    shutil.rmtree(project / ".skillevo")
    outcome = verify(project)
    assert outcome.code == 0
    assert outcome.lines[1:] == ["  not checked: citations and rollouts: the run directory is gone"]


def test_commits_of_others_on_the_run_branch_are_told(project: Path) -> None:
    tree = git(project, "rev-parse", f"{MAIN}^{{tree}}")
    move(project, MAIN, tree, [MAIN], "mine")
    outcome = verify(project)
    assert outcome.code == 0
    assert "not checked: 1 commits by others on the run branch" in outcome.out


def test_project_without_runs_has_nothing_to_check(pristine: Path, evolved: Path) -> None:
    outcome = verify(pristine)
    assert (outcome.code, outcome.out) == (0, "there is no run to check\n")
    assert verify(evolved, "two").code == 2


# --- evidence -------------------------------------------------------------------------------------


def test_one_byte_of_an_edits_evidence_is_found(project: Path) -> None:
    path = only_edit(project)
    rewrite(project, path, lambda data: data.replace(b'"summary": "K', b'"summary": "k'))
    found = problems(project)
    assert len(found) == 1
    assert found[0].startswith(f"edit {path}: is not what its commit ")


def test_missing_evidence_of_an_edit_is_found(project: Path) -> None:
    path = only_edit(project)
    rewrite(project, path, lambda data: None)
    assert any(f"there is no evidence of edit {path[6:-5]}" in line for line in problems(project))


def test_missing_evidence_of_a_run_is_found(project: Path) -> None:
    git(project, "update-ref", "-d", EVIDENCE)
    assert problems(project) == [
        f"evidence {EVIDENCE}: is missing: nothing of this run can be checked"
    ]


@pytest.mark.parametrize(
    ("path", "old", "new", "words"),
    [
        ("iterations/001/decision.json", b'"decision": "reject"', b'"decision": "accept"',
         "state.json and decision.json disagree on the decision"),
        ("iterations/001/decision.json", b'"n": 20', b'"n": "20"', "'20' is not of type 'integer'"),
        ("iterations/001/credits.json", b'"kind": "credits"', b'"kind": "other"', "kind: "),
        ("iterations/001/credits.json", b"{", b"[", "is no JSON"),
        ("state.json", b'"ended": true', b'"ended": false', "disagree on whether it ended"),
        ("run.json", b'"run": "one"', b'"run": "two"', "is of run two"),
        ("events.jsonl", b'"digest": "sha256:', b'"digest": "sha256:0', "is not the one that was"),
        ("events.jsonl", b'{"event"', b'{"other"', "is no event"),
        ("iterations/001/other.json", b"", b"{}\n", "the evidence has no such file"),
    ],
)  # fmt: skip
def test_altered_file_is_found(
    project: Path, path: str, old: bytes, new: bytes, words: str
) -> None:
    def change(data: bytes) -> bytes:
        assert old in data
        return data.replace(old, new, 1) if data else new

    rewrite(project, path, change)
    assert any(words in line for line in problems(project)), problems(project)


def test_chain_that_lost_its_beginning_is_found(project: Path) -> None:
    tree = git(project, "rev-parse", f"{EVIDENCE}^{{tree}}")
    move(project, EVIDENCE, tree, [], "x")
    found = problems(project)
    assert f"evidence {EVIDENCE}: does not start at the beginning of the run" in found


# --- commits --------------------------------------------------------------------------------------


def candidate(root: Path) -> tuple[str, str]:
    """The accepted candidate's tip and the base."""
    decided = evidence(root, "iterations/001/decision.json")["agents"]
    one = next(one for one in decided if one["decision"] == "accept")
    return one["candidate"], one["base"]


def test_amended_commit_is_found(project: Path) -> None:
    tip, base = candidate(project)
    message = git(project, "log", "-1", "--format=%B", tip).replace("Keeps", "Changes")
    tree = git(project, "rev-parse", f"{tip}^{{tree}}")
    amended = git(project, "commit-tree", tree, "-p", base, "-m", message)
    merge = git(project, "log", "-1", "--format=%B", MAIN)
    move(project, MAIN, tree, [base, amended], merge)
    found = problems(project)
    assert any(f"edit {amended}: is not the commit of edit one-" in line for line in found)
    assert any("no decision of the evidence accepts it" in line for line in found)
    assert any("is not on skillevo/one/main" in line for line in found)


def test_faked_merge_is_found(project: Path) -> None:
    message = git(project, "log", "-1", "--format=%B", MAIN)
    tree = git(project, "rev-parse", f"{MAIN}^{{tree}}")
    rejected = git(project, "rev-list", "--all", "--grep=^Skillevo-Agent: reader").splitlines()[-1]
    faked = move(project, MAIN, tree, [MAIN, rejected], message)
    found = problems(project)
    assert found == [f"merge {faked}: no decision of the evidence accepts it"]


def test_run_branch_that_lost_a_merge_is_found(project: Path) -> None:
    git(project, "update-ref", MAIN, "HEAD")
    (found,) = problems(project)
    assert "accepted, but " in found
    assert "is not on skillevo/one/main" in found


def test_foreign_file_in_an_edit_is_found(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a program that breaks the rule and records its own commits faithfully."""
    entry = workshop.git("ls-tree", "HEAD", "skillevo.toml").split()

    class Careless(CandidateTree):
        def apply(self, edit: Edit) -> str:
            super().apply(edit)
            return self._writer.write({b"foreign.txt": ("100644", entry[2])})

    monkeypatch.setattr("skillevo.store.candidates.CandidateTree", Careless)
    assert workshop.run("evolve", "--run-id", RUN).code == 0
    found = problems(workshop.root)
    assert len(found) == 3
    assert [line.split(" ")[0] for line in found] == ["edit", "edit", "merge"]
    assert all("changes foreign.txt, outside of skills/" in line for line in found)


def test_citation_of_a_step_that_was_not_recorded_is_found(project: Path) -> None:
    path = project / ".skillevo" / "runs" / RUN / "trajectories.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    cited = evidence(project, only_edit(project))["citations"]
    first = next(
        row for row in rows
        if (row["phase"], row["question"], row["sample"])
        == ("training", cited[0]["question"], cited[0]["sample"])
    )  # fmt: skip
    rows.remove(first)
    second = next(row for row in rows if row["question"] == cited[-1]["question"]
                  and row["sample"] == cited[-1]["sample"])  # fmt: skip
    second["steps"][0]["output"] += "!"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "damaged\n")
    found = problems(project)
    assert any("was not recorded" in line and line.startswith("citation") for line in found)
    assert any("is of a rollout that is not the one recorded" in line for line in found)
    assert any(line.startswith("rollout iteration 1, training") for line in found)
