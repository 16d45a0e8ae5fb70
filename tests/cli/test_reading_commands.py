"""status, log, diff, doctor and the home screen."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes.loopback import Loopback
from fakes.workshop import Outcome, Workshop, assert_told, contents, patched, skillevo

EDIT_KEYS = {
    "id", "commit", "run", "operator", "agent", "skill", "iteration", "decision", "utility",
    "support", "subject", "simulated",
}  # fmt: skip


@pytest.fixture(scope="module")
def evolved(pristine: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """A project with one run, in the user's own hands; nobody changes it."""
    folder = tmp_path_factory.mktemp("evolved")
    with patched(folder):
        shop = Workshop(folder, pristine)
        assert shop.run("evolve", "--run-id", "one").code == 0
        yield shop


def log(shop: Workshop, *options: str) -> list[dict[str, Any]]:
    outcome = shop.run("log", "--format", "json", *options)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.value["schema_version"] == 1
    edits: list[dict[str, Any]] = outcome.value["edits"]
    return edits


# --- log ------------------------------------------------------------------------------------------


def test_log_lists_accepted_and_rejected_edits(evolved: Workshop) -> None:
    edits = log(evolved)
    assert all(set(edit) == EDIT_KEYS for edit in edits)
    assert {(e["agent"], e["decision"]) for e in edits} == {
        ("reader", "reject"),
        ("answerer", "accept"),
    }
    lines = evolved.run("log").lines
    assert [line.split()[0] for line in lines[: len(edits)]] == [e["commit"][:9] for e in edits]


@pytest.mark.parametrize(
    ("options", "skills"),
    [
        (("--agent", "reader"), ["background-first"]),
        (("--agent", "nobody"), []),
        (("--operator", "induce"), ["background-first", "shortest-answer"]),
        (("--operator", "prune"), []),
        (("--rejected",), ["background-first"]),
        (("--rejected", "--agent", "answerer"), []),
        (("--run", "one"), ["background-first", "shortest-answer"]),
        (("main..skillevo/one/main",), ["shortest-answer"]),
        (("skillevo/one/main..main",), []),
    ],
    ids=str,
)
def test_log_is_filtered(evolved: Workshop, options: tuple[str, ...], skills: list[str]) -> None:
    assert [edit["skill"] for edit in log(evolved, *options)] == skills


def test_log_without_an_edit_says_so(evolved: Workshop) -> None:
    assert evolved.run("log", "--operator", "prune").out == "no edit\n"


# --- diff -----------------------------------------------------------------------------------------


def test_diff_shows_what_the_newest_run_changed(evolved: Workshop) -> None:
    value = evolved.run("diff", "--format", "json").value
    assert set(value) == {"schema_version", "skills", "simulated"}
    (skill,) = value["skills"]
    assert set(skill) == {
        "agent", "skill", "change", "from", "fields", "sections", "tokens_before", "tokens_after",
        "red_flags",
    }  # fmt: skip
    assert (skill["agent"], skill["skill"], skill["change"]) == (
        "answerer",
        "shortest-answer",
        "added",
    )
    assert skill["tokens_before"] == 0 < skill["tokens_after"]
    assert [set(field) for field in skill["fields"]] == [{"field", "before", "after"}] * 2
    assert [set(section) for section in skill["sections"]] == [{"heading", "change"}]


def test_diff_the_other_way_round_is_a_removal(evolved: Workshop) -> None:
    value = evolved.run("diff", "skillevo/one/main..main", "--format", "json").value
    assert [skill["change"] for skill in value["skills"]] == ["removed"]


def test_diff_of_equal_revisions_says_there_is_none(evolved: Workshop) -> None:
    assert evolved.run("diff", "main..main").out == "no change in any skill\n"


# --- status ---------------------------------------------------------------------------------------


def test_status_tells_each_run_and_its_result(evolved: Workshop) -> None:
    value = evolved.run("status", "--format", "json").value
    (run,) = value["runs"]
    assert set(run) == {"run", "branch", "head", "accepted", "rejected", "ended", "result"}
    assert (run["run"], run["accepted"], run["rejected"], run["ended"]) == ("one", 1, 1, True)
    assert run["result"]["iterations"][0]["index"] == 1


def test_status_without_a_run_names_the_command(workshop: Workshop) -> None:
    assert workshop.run("status").out == "no run yet: skillevo evolve\n"
    assert workshop.run("status", "--format", "json").value["runs"] == []


@pytest.mark.parametrize(
    "record",
    [
        "",
        "{",
        "[]",
        "\0",
        '{"iterations": 5}',
        '{"iterations": [3], "final_score": 1}',
        '{"iterations": [{}], "final_score": 1}',
        '{"iterations": [{"base_score": null}], "final_score": "x"}',
        '{"iterations": [], "not_done": 7}',
        "[" * 100_000,
    ],
    ids=lambda text: text[:20],
)
def test_damaged_record_of_a_run_is_told_as_unknown(
    evolved: Workshop, tmp_path: Path, record: str
) -> None:
    shop = Workshop(tmp_path, evolved.root)
    (shop.runs / "one" / "result.json").write_text(record)
    for arguments in (["status"], ["status", "--format", "json"], []):
        outcome = shop.run(*arguments)
        assert (outcome.code, outcome.err) == (0, "")
        assert "one" in outcome.out


def test_run_whose_records_are_gone_is_still_listed(evolved: Workshop, tmp_path: Path) -> None:
    shop = Workshop(tmp_path, evolved.root)
    shutil.rmtree(shop.root / ".skillevo")
    assert "ended; its result is not in this folder" in shop.run("status").out
    assert [edit["skill"] for edit in log(shop)] == ["background-first", "shortest-answer"]
    assert "shortest-answer" in shop.run("diff").out


@pytest.mark.parametrize("command", ["status", "log", "diff", "doctor"])
def test_reading_changes_not_a_byte(evolved: Workshop, command: str) -> None:
    before = contents(evolved.root)
    assert evolved.run(command).code == 0
    assert evolved.run(command, "--format", "json").code == 0
    assert contents(evolved.root) == before


# --- doctor ---------------------------------------------------------------------------------------


def rows(outcome: Outcome) -> dict[str, dict[str, Any]]:
    checks = outcome.value["checks"]
    assert all(set(check) == {"name", "ok", "detail", "fix"} for check in checks)
    return {check["name"]: check for check in checks}


def test_doctor_finds_nothing_wrong_with_a_good_project(evolved: Workshop) -> None:
    outcome = evolved.run("doctor")
    assert outcome.code == 0
    assert all(line.startswith(("ok    ", "      ")) for line in outcome.lines)
    found = rows(evolved.run("doctor", "--format", "json"))
    assert "32 training and 20 validation questions" in found["inputs"]["detail"]


def test_doctor_fails_for_a_target_that_is_dead(workshop: Workshop) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    workshop.models(f'base_url = "http://127.0.0.1:{port}/v1"\nmodel = "m"', ("critic",))
    outcome = workshop.run("doctor")
    assert outcome.code == 3
    failing = [line for line in outcome.lines if line.startswith("FAIL")]
    assert len(failing) == 1
    assert failing[0].startswith("FAIL  model critic")
    assert any(line.startswith("      -> ") for line in outcome.lines)
    found = rows(workshop.run("doctor", "--format", "json"))
    assert [name for name, row in found.items() if not row["ok"]] == ["model critic"]


def test_doctor_asks_a_living_target_what_it_serves(
    workshop: Workshop, loopback: Callable[..., Loopback]
) -> None:
    server = loopback(max_model_len=8192)
    workshop.models(f'base_url = "{server.base_url}"\nmodel = "m"')
    outcome = workshop.run("doctor")
    assert outcome.code == 0
    assert "context 8192" in " ".join(outcome.out.split())
    assert server.requests == 0


@pytest.mark.parametrize(
    ("old", "new", "failing", "code"),
    [
        ("iterations = 2", "iterations = x", {"configuration"}, 2),
        ('"data/train.jsonl"', '"data/none.jsonl"', {"inputs"}, 2),
        ('"token_f1"', '"bleu"', {"inputs"}, 2),
    ],
)
def test_doctor_names_what_is_broken(
    workshop: Workshop, old: str, new: str, failing: set[str], code: int
) -> None:
    workshop.settings(old, new)
    outcome = workshop.run("doctor", "--format", "json")
    assert outcome.code == code
    assert {name for name, row in rows(outcome).items() if not row["ok"]} == failing


def test_doctor_works_outside_a_project_and_a_repository(workshop: Workshop) -> None:
    empty = workshop.folder / "empty"
    empty.mkdir()
    outcome = skillevo("doctor", "--format", "json", cwd=empty)
    assert outcome.code == 2
    failing = {name for name, row in rows(outcome).items() if not row["ok"]}
    assert failing == {"configuration", "repository"}


def test_doctor_finds_the_project_from_a_folder_below_it(workshop: Workshop) -> None:
    assert skillevo("doctor", cwd=workshop.root / "data").code == 0


def test_doctor_misses_an_identity(workshop: Workshop) -> None:
    workshop.configure("")
    outcome = workshop.run("doctor")
    assert outcome.code == 3
    assert "FAIL  identity" in outcome.out


# --- home -----------------------------------------------------------------------------------------


def test_home_outside_a_project_shows_the_way_in(tmp_path: Path) -> None:
    outcome = skillevo(cwd=tmp_path)
    assert (outcome.code, outcome.err) == (0, "")
    assert "skillevo demo" in outcome.out
    assert "here: no project" in outcome.out


def test_home_in_a_project_tells_its_last_run(evolved: Workshop) -> None:
    outcome = skillevo(cwd=evolved.root / "data")
    assert outcome.code == 0
    assert f"here: {evolved.root}, 1 run" in outcome.out
    assert "one (simulated)" in outcome.out


@pytest.mark.parametrize("broken", ["no repository", "no HEAD", "garbage HEAD"])
def test_home_tells_a_repository_that_cannot_be_read(workshop: Workshop, broken: str) -> None:
    if broken == "no repository":
        shutil.rmtree(workshop.root / ".git")
    elif broken == "no HEAD":
        (workshop.root / ".git" / "HEAD").unlink()
    else:
        workshop.write(".git/HEAD", b"\xff\0")
    outcome = workshop.run()
    assert (outcome.code, outcome.err) == (0, "")
    assert f"here: {workshop.root}, " in outcome.out
    assert_told(workshop.run("status"), 3)


def test_records_are_plain_json(evolved: Workshop) -> None:
    run = evolved.runs / "one"
    for path in run.rglob("*.json"):
        assert json.loads(path.read_text())["schema_version"] == 1
    for path in run.glob("*.jsonl"):
        assert all(json.loads(line) for line in path.read_text().splitlines())
