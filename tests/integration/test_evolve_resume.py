"""Runs that are killed or stopped, and that go on as if nothing had happened."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fakes.crashing import KILLED, Ended, Job, run_jobs
from fakes.workshop import Workshop, git, patched

RUN = "one"
EPOCH = "1600000000"
EVOLVE = ("evolve", "--run-id", RUN, "--format", "json")
RESUME = ("evolve", "--resume", RUN, "--format", "json")
MAIN = f"refs/heads/skillevo/{RUN}/main"
EVIDENCE = f"refs/skillevo/runs/{RUN}"


def refs(root: Path) -> dict[str, str]:
    lines = git(root, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split(" ") for line in lines)


def told(value: dict[str, Any]) -> dict[str, Any]:
    """A result without what a resumed run need not pay again."""
    return {key: item for key, item in value.items() if key not in ("calls", "tokens")}


def changed(root: Path, old: str, new: str) -> None:
    """Replace words in the settings."""
    path = root / "skillevo.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@dataclass(frozen=True, slots=True)
class Whole:
    """A run that nothing interrupted, and folders to make others in."""

    folder: Path
    pristine: Path
    root: Path
    ended: Ended

    def copy(self, name: str) -> Path:
        """A fresh project."""
        target = self.folder / name
        shutil.copytree(self.pristine, target, symlinks=True)
        return target

    @property
    def boundaries(self) -> list[str]:
        """Every step boundary of the run, in order."""
        return self.ended.passed

    def edits(self) -> list[str]:
        """The names of the steps that commit an edit."""
        return [name.removesuffix(": moved") for name in self.boundaries if name[:5] == "edit "][
            1::2
        ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, pristine: Path) -> Iterator[Whole]:
    folder = tmp_path_factory.mktemp("resume")
    with patched(folder) as patch:
        patch.setenv("SOURCE_DATE_EPOCH", EPOCH)
        small, root = folder / "small", folder / "whole"
        shutil.copytree(pristine, small, symlinks=True)
        changed(small, "batch = 8\ngroup_size = 4", "batch = 3\ngroup_size = 3")
        changed(small, "[gate]", "[gate]\nquestions = 6")
        git(small, "commit", "-q", "-a", "-m", "Small")
        shutil.copytree(small, root, symlinks=True)
        (ended,) = run_jobs([(root, EVOLVE, None)])
        assert ended.code == 0, ended.err
        yield Whole(folder, small, root, ended)


def killed(whole: Whole, name: str, at: str) -> Path:
    """A project whose run was killed at a boundary."""
    root = whole.copy(name)
    (ended,) = run_jobs([(root, EVOLVE, at)])
    assert ended.code == KILLED
    return root


def resumed(root: Path, *words: str) -> Ended:
    return run_jobs([(root, [*RESUME, *words], None)])[0]


# --- kill -9 at every boundary --------------------------------------------------------------------


def test_run_killed_at_any_boundary_ends_with_the_ids_of_one_that_was_not(whole: Whole) -> None:
    places = [whole.copy(f"killed-{n}") for n in range(len(whole.boundaries))]
    kills: list[Job] = [
        (root, EVOLVE, at) for root, at in zip(places, whole.boundaries, strict=True)
    ]
    again: list[Job] = [(root, RESUME, None) for root in places]
    outcomes = run_jobs([job for pair in zip(kills, again, strict=True) for job in pair])
    assert {name.split(" ")[0].rstrip(":") for name in whole.boundaries} == {
        "begin", "edit", "decide", "publish", "end",
    }  # fmt: skip
    calls = sum(role["issued"] for role in [whole.ended.value["calls"]])
    for number, at in enumerate(whole.boundaries):
        kill, resume = outcomes[2 * number : 2 * number + 2]
        assert kill.code == KILLED, at
        assert resume.code == 0, (at, resume.err)
        assert told(resume.value) == told(whole.ended.value), at
        assert refs(places[number]) == refs(whole.root), at
        keys = [json.loads(line)["key"] for line in lines(places[number], "calls.jsonl")]
        assert len(keys) == len(set(keys)) == calls, at
        for name in ("trajectories.jsonl", "texts.jsonl"):
            assert lines(places[number], name) == lines(whole.root, name), at


def lines(root: Path, name: str) -> list[str]:
    return sorted((root / ".skillevo" / "runs" / RUN / name).read_text().splitlines())


def test_run_may_be_killed_again_and_again(whole: Whole) -> None:
    root = whole.copy("again")
    stops: Sequence[str] = whole.boundaries[1::3]
    jobs: list[Job] = [(root, EVOLVE if n == 0 else RESUME, at) for n, at in enumerate(stops)]
    outcomes = run_jobs([*jobs, (root, RESUME, None)])
    assert [one.code for one in outcomes] == [KILLED] * len(stops) + [0]
    assert refs(root) == refs(whole.root)


def test_transaction_cut_in_half_is_completed(whole: Whole) -> None:
    """Git moves the refs of a transaction one after the other: any part may be done."""
    edit = whole.edits()[0]
    root = killed(whole, "half-edit", f"{edit}: written")
    first = whole.ended.value["iterations"][0]["agents"]
    made = next(e for a in first for e in a["edits"] if f"edit {e['id']}" == edit)
    agent = next(a["agent"] for a in first if made in a["edits"])
    git(root, "update-ref", f"refs/heads/skillevo/{RUN}/{agent}/i001", made["commit"])
    assert resumed(root).code == 0
    assert refs(root) == refs(whole.root)
    for part in (1, 2):
        root = killed(whole, f"half-publish-{part}", "publish 1: written")
        state = json.loads(git(root, "cat-file", "blob", f"{EVIDENCE}:state.json"))
        assert len(state["moves"]) == 3
        for move in state["moves"][:part]:
            git(root, "update-ref", *(["-d", move["ref"]] if move["new"] is None
                                      else [move["ref"], move["new"]]))  # fmt: skip
        assert resumed(root).code == 0
        assert refs(root) == refs(whole.root)


# --- what must not be resumed ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "ref", "to"),
    [
        ("decide 1: moved", MAIN, "foreign"),
        ("publish 1: moved", MAIN, "HEAD"),
        ("decide 1: moved", f"refs/heads/skillevo/{RUN}/reader/i001", "foreign"),
        ("publish 1: written", f"refs/heads/skillevo/{RUN}/reader/i007", "foreign"),
        ("begin: moved", MAIN, None),
    ],
)
def test_ref_that_somebody_moved_stops_the_resume_and_nothing_changes(
    whole: Whole, at: str, ref: str, to: str | None
) -> None:
    root = killed(whole, f"moved-{at}-{ref}-{to}".replace("/", "-").replace(" ", "-"), at)
    if to is None:
        git(root, "update-ref", "-d", ref)
    else:
        base = git(root, "rev-parse", "HEAD^{tree}")
        foreign = git(root, "commit-tree", base, "-m", "foreign")
        git(root, "update-ref", ref, foreign if to == "foreign" else to)
    before = refs(root)
    ended = resumed(root)
    assert ended.code == 4
    assert "somebody moved its refs" in ended.err
    assert ref.removeprefix("refs/heads/") in ended.err
    assert refs(root) == before


def test_run_that_ended_says_so(whole: Whole) -> None:
    ended = resumed(whole.root)
    assert (ended.code, ended.value) == (0, whole.ended.value)
    (text,) = run_jobs([(whole.root, ["evolve", "--resume", RUN], None)])
    assert text.out == f"the run {RUN} has ended already: there is nothing to resume\n"


def test_changed_settings_roles_and_data_are_named(whole: Whole) -> None:
    root = killed(whole, "changed", "decide 1: moved")
    before = refs(root)
    path = next((root / "data").glob("train*"))
    rows = path.read_text()
    path.write_text("".join(rows.splitlines(keepends=True)[:-1]))
    ended = resumed(root)
    assert ended.code == 4
    assert "cannot be resumed: what it is made of changed" in ended.err
    assert "data.train: sha256:" in ended.err
    path.write_text(rows)
    changed(root, "batch = 3", "momentum = 0.5\nbatch = 3")
    (root / "roles" / "reader.md").write_text("Another role.\n")
    ended = resumed(root)
    assert ended.code == 2
    assert "the settings changed since the run one began" in ended.err
    assert "-> 0.5; roles.reader: " in ended.err
    assert refs(root) == before


def test_lost_answers_that_come_out_differently_stop_the_resume(whole: Whole) -> None:
    root = killed(whole, "differently", "decide 1: moved")
    calls = root / ".skillevo" / "runs" / RUN / "calls.jsonl"
    rows = [json.loads(line) for line in lines(root, "calls.jsonl")]
    for row in rows:
        if row["role"] == "actor":
            row["reply"]["text"] = "something else"
    calls.write_text("".join(json.dumps(row) + "\n" for row in rows))
    before = refs(root)
    ended = resumed(root)
    assert ended.code == 4
    assert "comes out differently now" in ended.err
    assert refs(root) == before


def test_run_directory_that_is_gone_cannot_be_resumed(whole: Whole) -> None:
    root = killed(whole, "gone", "decide 1: moved")
    shutil.rmtree(root / ".skillevo")
    ended = resumed(root)
    assert ended.code == 2
    assert "its run directory" in ended.err


def test_unknown_run_names_those_that_can_be_resumed(whole: Whole) -> None:
    root = killed(whole, "unknown", "decide 1: moved")
    (ended,) = run_jobs([(root, ["evolve", "--resume", "two"], None)])
    assert ended.code == 2
    assert "there is no run 'two' to resume" in ended.err
    assert f"runs that did not end: {RUN}" in ended.err


def test_same_run_id_again_is_told_to_resume(whole: Whole) -> None:
    root = killed(whole, "same-id", "decide 1: moved")
    (ended,) = run_jobs([(root, EVOLVE, None)])
    assert ended.code == 4
    assert f"evolve --resume {RUN}" in ended.err


def test_status_names_the_command_that_goes_on(whole: Whole) -> None:
    root = killed(whole, "status", "decide 1: moved")
    text, value = run_jobs([(root, ["status"], None), (root, ["status", "--format", "json"], None)])
    assert f"did not end; to go on: skillevo evolve --resume {RUN}\n" in text.out
    assert value.value["runs"][0]["ended"] is False


def test_run_killed_before_its_first_step_can_be_resumed(whole: Whole) -> None:
    root = killed(whole, "first", "begin: written")
    assert not [ref for ref in refs(root) if "skillevo" in ref]
    assert resumed(root).code == 0
    assert refs(root) == refs(whole.root)


def test_options_of_the_run_are_not_given_again(workshop: Workshop) -> None:
    outcome = workshop.run("evolve", "--resume", RUN, "--seed", "3")
    assert outcome.code == 2
    assert "--resume takes the options that the run began with" in outcome.err


def test_options_that_the_run_began_with_are_kept(whole: Whole) -> None:
    root, plain = whole.copy("options"), whole.copy("options-whole")
    words = [*EVOLVE, "--iterations", "1", "--seed", "7"]
    jobs: list[Job] = [(plain, words, None), (root, words, "decide 1: moved"), (root, RESUME, None)]
    one, _, other = run_jobs(jobs)
    assert told(one.value) == told(other.value)
    assert refs(root) == refs(plain)
