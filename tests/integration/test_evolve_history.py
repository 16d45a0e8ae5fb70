"""What ``skillevo evolve`` leaves in git, and that everything of the user's stays as it was."""

from __future__ import annotations

import os
import platform
import re
import socket
from pathlib import Path
from typing import Any

import pytest
from fakes.workshop import Workshop, contents, git

EPOCH = 1_600_000_000
TRAILERS = {
    "Skillevo-Edit", "Skillevo-Operator", "Skillevo-Agent", "Skillevo-Skill", "Skillevo-Run",
    "Skillevo-Iteration", "Skillevo-Base", "Skillevo-Support", "Skillevo-Format",
}  # fmt: skip


def evolve(shop: Workshop, *arguments: str) -> Any:
    outcome = shop.run("evolve", "--format", "json", *arguments)
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.value


def agents(value: Any, decision: str) -> list[Any]:
    return [a for i in value["iterations"] for a in i["agents"] if a["decision"] == decision]


def edits(value: Any) -> list[tuple[str, Any]]:
    return [(a["agent"], e) for i in value["iterations"] for a in i["agents"] for e in a["edits"]]


def users(root: Path) -> dict[str, str]:
    """Everything but the run's: no objects, no refs and logs of skillevo, no run directory."""
    ours = (".git/objects", ".git/refs/heads/skillevo", ".git/refs/skillevo",
            ".git/logs/refs/heads/skillevo", ".git/logs/refs/skillevo", ".skillevo")  # fmt: skip
    return {name: digest for name, digest in contents(root).items() if not name.startswith(ours)}


@pytest.mark.parametrize("dirty", [False, True])
def test_tree_index_head_and_branches_stay_as_they_were(workshop: Workshop, dirty: bool) -> None:
    if dirty:
        workshop.write("notes.txt", "mine\n")
        workshop.write("roles/reader.md", "Changed, not committed.\n")
        workshop.git("add", "roles/reader.md")
    status, before = workshop.git("status", "--porcelain"), users(workshop.root)
    evolve(workshop)
    assert users(workshop.root) == before
    assert workshop.git("status", "--porcelain") == status
    assert workshop.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert not (workshop.root / ".git" / "skillevo").exists()


def test_run_directory_ignores_itself(workshop: Workshop) -> None:
    evolve(workshop)
    assert workshop.git("status", "--porcelain") == ""


def test_each_edit_is_one_commit_on_its_agents_folder_with_its_trailers(
    workshop: Workshop,
) -> None:
    value = evolve(workshop)
    found = edits(value)
    assert found
    for agent, edit in found:
        changed = workshop.git("diff-tree", "-r", "--name-only", "--no-commit-id", edit["commit"])
        assert changed.splitlines() == [f"skills/{agent}/{edit['skill']}/SKILL.md"]
        told = workshop.git("log", "-1", "--format=%(trailers:only,unfold)", edit["commit"])
        trailers = dict(line.split(": ", 1) for line in told.splitlines() if line)
        assert set(trailers) >= TRAILERS
        assert trailers["Skillevo-Edit"] == edit["id"]
        assert trailers["Skillevo-Operator"] == edit["operator"]
        assert trailers["Skillevo-Agent"] == agent
        assert trailers["Skillevo-Skill"] == edit["skill"]
        assert trailers["Skillevo-Run"] == value["run"]
        assert trailers["Skillevo-Base"] == value["base"]
    every = workshop.git("log", "--all", "--format=%H", "--grep=^Skillevo-Edit: ").splitlines()
    assert sorted(every) == sorted(edit["commit"] for _, edit in found)


def test_each_accepted_candidate_is_one_merge_and_nothing_else_is_on_the_run_branch(
    workshop: Workshop,
) -> None:
    value = evolve(workshop)
    accepted = agents(value, "accept")
    assert accepted
    span = f"{value['base']}..{value['branch']}"
    chain = workshop.git("rev-list", "--first-parent", "--reverse", span).splitlines()
    assert chain == [agent["merge"] for agent in accepted]
    for agent in accepted:
        parents = workshop.git("rev-list", "--parents", "-1", agent["merge"]).split()[1:]
        assert parents[1] == agent["edits"][-1]["commit"]
    assert value["head"] == chain[-1]


def test_rejected_candidate_keeps_its_head_and_stays_pinned(workshop: Workshop) -> None:
    value = evolve(workshop)
    rejected = agents(value, "reject")
    assert rejected
    refs = workshop.git("for-each-ref", "--format=%(refname)", "refs/heads/skillevo").splitlines()
    folder = f"refs/heads/{value['branch']}".removesuffix("/main")
    kept_heads = [f"{folder}/{agent['agent']}/i001" for agent in rejected]
    assert sorted(refs) == sorted([f"{folder}/main", *kept_heads])
    pinned = workshop.git("rev-list", f"refs/skillevo/runs/{value['run']}").splitlines()
    for agent in rejected:
        head = agent["edits"][-1]["commit"]
        assert head in pinned
        kept = workshop.git("rev-list", value["branch"]).splitlines()
        assert head not in kept


def test_accepted_edits_can_be_taken_by_a_fast_forward(workshop: Workshop) -> None:
    value = evolve(workshop)
    workshop.git("merge", "--ff-only", "-q", value["branch"])
    assert (workshop.root / "skills" / "answerer" / "shortest-answer" / "SKILL.md").is_file()
    assert workshop.run("validate", str(workshop.root)).code == 0


def test_next_run_starts_from_what_was_taken(workshop: Workshop) -> None:
    first = evolve(workshop, "--run-id", "one")
    workshop.git("merge", "--ff-only", "-q", first["branch"])
    second = evolve(workshop, "--run-id", "two", "--iterations", "1")
    assert second["base"] == first["head"]
    assert second["iterations"][0]["base_score"] == first["final_score"]
    runs = workshop.run("status", "--format", "json").value["runs"]
    assert [run["run"] for run in runs] == ["one", "two"]


# --- what is fixed and what is not ----------------------------------------------------------------


def test_iterations_and_run_id_come_from_the_command_line(workshop: Workshop) -> None:
    value = evolve(workshop, "--iterations", "1", "--run-id", "try-2")
    assert len(value["iterations"]) == 1
    assert value["run"] == "try-2"
    assert workshop.git("rev-parse", "skillevo/try-2/main") == value["head"]


def test_run_id_names_the_time_by_default(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(EPOCH))
    value = evolve(workshop, "--iterations", "1")
    assert re.fullmatch("20200913-122640-[0-9a-f]{4}", value["run"])


def test_date_variable_fixes_the_dates_of_commits(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(EPOCH))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    value = evolve(workshop)
    span = [f"^{value['base']}", "--all"]
    dates = workshop.git("log", "--format=%at %ct %ad", "--date=format:%z", *span).splitlines()
    for date in dates:
        author, committer, zone = date.split()
        assert author == committer
        assert EPOCH < int(author) < EPOCH + 100
        assert zone == "+0000"


def test_same_run_again_elsewhere_gives_the_same_commits(
    workshop: Workshop, pristine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(EPOCH))
    (workshop.folder / "second").mkdir()
    other = Workshop(workshop.folder / "second", pristine)
    assert evolve(workshop, "--run-id", "one") == evolve(other, "--run-id", "one")


def test_seed_changes_the_run(workshop: Workshop, pristine: Path) -> None:
    (workshop.folder / "second").mkdir()
    other = Workshop(workshop.folder / "second", pristine)
    first = evolve(workshop, "--run-id", "one", "--seed", "1", "--iterations", "1")
    second = evolve(other, "--run-id", "one", "--seed", "2", "--iterations", "1")
    assert first["base"] == second["base"]
    assert first["iterations"][0]["mean_reward"] != second["iterations"][0]["mean_reward"]


def test_nothing_in_git_tells_where_on_what_machine_it_was_made(workshop: Workshop) -> None:
    before = set(objects(workshop))
    evolve(workshop, "--run-id", "one")
    made = sorted(set(objects(workshop)) - before)
    assert len(made) > 5
    for oid in made:
        kind = workshop.git("cat-file", "-t", oid)
        text = workshop.git("cat-file", kind, oid) if kind != "tree" else ""
        for secret in (str(workshop.folder), socket.gethostname(), platform.release()):
            assert secret not in text, f"{kind} {oid}"
        assert "elapsed" not in text
        assert os.environ["HOME"] not in text


def test_committer_is_the_user_and_author_is_skillevo(workshop: Workshop) -> None:
    value = evolve(workshop, "--iterations", "1")
    people = workshop.git("log", "--format=%an|%cn <%ce>", f"{value['base']}..{value['branch']}")
    assert set(people.splitlines()) == {"skillevo|A. User <user@example.com>"}


def objects(shop: Workshop) -> list[str]:
    listed = git(shop.root, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return listed.splitlines()


def test_metric_of_the_project_is_used(workshop: Workshop) -> None:
    workshop.write("half_metric.py", "def score(answer, references):\n    return 0.5\n")
    workshop.settings('"token_f1"', '"python:half_metric:score"')
    workshop.save()
    value = evolve(workshop, "--iterations", "1")
    assert value["iterations"][0]["base_score"] == 0.5
    assert value["iterations"][0]["mean_reward"] == 0.5


@pytest.mark.parametrize("body", ["raise KeyError('x')", "return 7", "return float('nan')"])
def test_metric_that_fails_is_a_fault_and_no_reward(workshop: Workshop, body: str) -> None:
    name = f"bad_metric_{abs(hash(body))}"
    workshop.write(f"{name}.py", f"def score(answer, references):\n    {body}\n")
    workshop.settings('"token_f1"', f'"python:{name}:score"')
    outcome = workshop.run("evolve", "--run-id", "one")
    assert outcome.code == 3
    assert "no validation question could be scored" in outcome.err
    text = (workshop.runs / "one" / "trajectories.jsonl").read_text()
    assert '"reward":0' not in text.replace(" ", "")
