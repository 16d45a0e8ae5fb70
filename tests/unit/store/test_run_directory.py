"""The run directory: events, records and trajectories of one run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillevo.errors import ConflictError, EnvironmentFault
from skillevo.store.runs import BEGUN, RunDirectory, read_record
from skillevo.types import Message, ModelRole, Step, StepKind, StopReason, Trajectory


def ticking() -> Iterator[float]:
    second = 100.0
    while True:
        yield second
        second += 0.25


def create(root: Path, *observers: Any, run: str = "one") -> RunDirectory:
    seconds = ticking()
    return RunDirectory.create(root, run, lambda: next(seconds), observers)


def lines(folder: RunDirectory, name: str) -> list[Any]:
    return [json.loads(line) for line in (folder.path / name).read_text().splitlines()]


def trajectory(*outputs: str, reward: float | None = 1.0, system: str = "Role") -> Trajectory:
    steps = tuple(
        Step(
            index=index,
            agent="reader",
            kind=StepKind.MODEL,
            output=output,
            messages=(Message("system", system), Message("user", f"Question {index}")),
            call=f"k{index}",
        )
        for index, output in enumerate(outputs)
    )
    return Trajectory("q1", 0, steps, outputs[-1] if outputs else "", StopReason.FINISHED, reward)


def test_folder_hides_itself_from_git(tmp_path: Path) -> None:
    with create(tmp_path) as folder:
        assert folder.path == tmp_path / ".skillevo" / "runs" / "one"
    assert (tmp_path / ".skillevo" / ".gitignore").read_text() == "*\n"


def test_run_is_never_made_twice(tmp_path: Path) -> None:
    with create(tmp_path) as folder:
        folder.record(0, BEGUN, {})
    with pytest.raises(ConflictError, match="the run one exists already"):
        create(tmp_path)


def test_folder_of_a_run_that_never_began_is_taken_over(tmp_path: Path) -> None:
    create(tmp_path).close()
    with create(tmp_path) as folder:
        assert folder.path.is_dir()


def test_folder_that_cannot_be_made_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / ".skillevo").touch()
    with pytest.raises(EnvironmentFault, match="cannot be written"):
        create(tmp_path)


def test_events_are_appended_with_elapsed_seconds_and_told(tmp_path: Path) -> None:
    seen: list[tuple[str, dict[str, Any]]] = []
    with create(tmp_path, lambda kind, data: seen.append((kind, data))) as folder:
        folder.event("start", role=ModelRole.ACTOR, pair=("a", "b"))
        folder.event("end")
    assert lines(folder, "events.jsonl") == [
        {"event": "start", "elapsed_s": 0.25, "role": "actor", "pair": ["a", "b"]},
        {"event": "end", "elapsed_s": 0.5},
    ]
    assert seen == [("start", {"role": "actor", "pair": ["a", "b"]}), ("end", {})]


def test_each_event_is_on_disk_at_once(tmp_path: Path) -> None:
    with create(tmp_path) as folder:
        folder.event("start")
        assert len(lines(folder, "events.jsonl")) == 1


def test_records_stand_per_iteration_and_leave_no_draft(tmp_path: Path) -> None:
    with create(tmp_path) as folder:
        folder.record(0, "result", {"a": 1})
        folder.record(12, "state", {"utilities": {("reader", "x"): 0.5}, "refused": frozenset("b")})
        folder.record(0, "result", {"a": 2})
    files = sorted(p.relative_to(folder.path).as_posix() for p in folder.path.rglob("*.*"))
    assert files == ["iterations/012/state.json", "result.json"]
    assert read_record(tmp_path, "one", "result") == {"schema_version": 1, "a": 2}


def test_prompts_of_trajectories_are_stored_once(tmp_path: Path) -> None:
    with create(tmp_path) as folder:
        folder.trajectory(1, "training", trajectory("a", "b"))
        folder.trajectory(1, "training", trajectory("c", "d"))
    texts = {entry["id"]: entry["text"] for entry in lines(folder, "texts.jsonl")}
    assert sorted(texts.values()) == ["Question 0", "Question 1", "Role"]
    first, second = lines(folder, "trajectories.jsonl")
    assert (first["iteration"], first["phase"], first["reward"]) == (1, "training", 1.0)
    assert [step["output"] for step in second["steps"]] == ["c", "d"]
    prompt = first["steps"][1]["prompt"]
    assert [(part["role"], texts[part["text"]]) for part in prompt] == [
        ("system", "Role"),
        ("user", "Question 1"),
    ]


def test_fault_is_stored_without_a_reward(tmp_path: Path) -> None:
    fault = Trajectory("q1", 2, (), "", StopReason.UNAVAILABLE, error="gone")
    with create(tmp_path) as folder:
        folder.trajectory(1, "training", fault)
    (stored,) = lines(folder, "trajectories.jsonl")
    assert (stored["reward"], stored["stop_reason"], stored["error"]) == (
        None,
        "unavailable",
        "gone",
    )


@pytest.mark.parametrize("text", ["line\u2028end", "\0", "ünïcode 🙂", "half \ud83d"])
def test_any_text_of_a_model_can_be_stored(tmp_path: Path, text: str) -> None:
    with create(tmp_path) as folder:
        folder.trajectory(1, "training", trajectory(text, system=text))
        folder.event("x", text=text)
        folder.record(1, "x", {"text": text})
    assert len((folder.path / "trajectories.jsonl").read_bytes().split(b"\n")) == 2


def test_closing_twice_is_harmless(tmp_path: Path) -> None:
    folder = create(tmp_path)
    folder.event("start")
    folder.close()
    folder.close()


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff", b"[" * 100_000])
def test_damaged_record_reads_as_absent(tmp_path: Path, content: bytes) -> None:
    with create(tmp_path) as folder:
        (folder.path / "result.json").write_bytes(content)
    assert read_record(tmp_path, "one", "result") is None
    assert read_record(tmp_path, "none", "result") is None
