"""Questions from files: what is read, and every fault with its file and line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from fakes.evolution import Script
from fakes.harness import make_player

from skillevo.config import TaskConfig
from skillevo.envs.jsonl import build, load_questions
from skillevo.errors import DataError
from skillevo.types import Question, Split


def write(path: Path, *rows: Any) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def row(**other: Any) -> dict[str, Any]:
    return {"id": "q1", "question": "How?", "answer": "so", **other}


def test_a_question_is_read_with_everything_it_has(tmp_path: Path) -> None:
    path = write(tmp_path / "d.jsonl", row(context="A text.", category="how", extra=1))
    assert load_questions(path) == (Question("q1", "How?", ("so",), "A text.", "how"),)


def test_order_blank_lines_line_ends_and_byte_order_mark_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes(b'\xef\xbb\xbf\n{"id": 2, "question": "\xc3\xa9", "answer": 3}\r\n  \n'
                     b'{"id": "1", "question": "x", "answers": ["a", 2.5, true]}\n')  # fmt: skip
    assert load_questions(path) == (
        Question("2", "é", ("3",)), Question("1", "x", ("a", "2.5", "true")),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row(), "{"], r"d\.jsonl:2: the line is no JSON"),
        (["[" * 99_999], r"d\.jsonl:1: the line is no JSON"),
        (['{"id": ' + "9" * 5000 + "}"], r"d\.jsonl:1: the line is no JSON"),
        (["[]"], r"d\.jsonl:1: the value: \[\] is not of type 'object'"),
        ([{"id": "q", "question": "x"}], r"d\.jsonl:1: the value: .* is not valid under any"),
        ([row(answers=["x"])], r"d\.jsonl:1: the value: .* is valid under each of"),
        ([{"question": "x", "answer": "y"}], r"d\.jsonl:1: the value: 'id' is a required property"),
        ([row(id="")], r"d\.jsonl:1: id: '' "),
        ([row(question="")], r"d\.jsonl:1: question: '' "),
        ([row(answer=None)], r"d\.jsonl:1: answer: None is not of type"),
        ([row(), row(id="q2"), row()], r"d\.jsonl:3: the id 'q1' occurs twice"),
        ([row(id=1), row(id="1")], r"d\.jsonl:2: the id '1' occurs twice"),
        (['{"id": "\\ud800", "question": "x", "answer": "y"}'],
         r"d\.jsonl:1: the line holds half of a surrogate pair"),
        (['{"id": "q", "question": "\\udc00", "answer": "y"}'],
         r"d\.jsonl:1: the line holds half of a surrogate pair"),
        (["", "  "], r"d\.jsonl holds no question"),
    ],
)  # fmt: skip
def test_a_fault_names_file_and_line(tmp_path: Path, rows: list[Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        load_questions(write(tmp_path / "d.jsonl", *rows))
    assert caught.value.fix


@pytest.mark.parametrize("content", [None, b"\xff\xfe", "folder"])
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "d.jsonl"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content:
        path.mkdir()
    with pytest.raises(DataError, match=r"d\.jsonl cannot be read") as caught:
        load_questions(path)
    assert caught.value.why


def test_the_environment_of_a_task(tmp_path: Path) -> None:
    train = write(tmp_path / "train.jsonl", row())
    held = write(tmp_path / "val.jsonl", row(id="v", answer="The Yes!"))
    environment = build(TaskConfig("jsonl", train, held, None, "exact", {}))
    (question,) = environment.questions(Split.VALIDATION)
    assert [q.id for q in environment.questions(Split.TRAIN)] == ["q1"]
    assert environment.questions(Split.TEST) == ()
    assert environment.note("critic") == ""
    player = make_player(Script("yes").model)
    trajectory = asyncio.run(environment.rollout(question, player))
    assert environment.reward(question, trajectory) == 1.0
