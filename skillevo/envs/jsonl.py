"""The environment ``jsonl``: questions from files, one JSON object per line, scored by a metric."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillevo.config import TaskConfig
from skillevo.envs.metrics import Metric, metric
from skillevo.errors import DataError
from skillevo.ports import Player
from skillevo.schemas import violations
from skillevo.types import Question, Split, Trajectory


@dataclass(frozen=True, slots=True)
class JsonlEnvironment:
    """Question answering with fixed references; no tools."""

    splits: Mapping[Split, tuple[Question, ...]]
    metric: Metric

    def questions(self, split: Split) -> Sequence[Question]:
        """The split's questions in file order; empty when the split has no file."""
        return self.splits.get(split, ())

    async def rollout(self, question: Question, player: Player) -> Trajectory:
        """The standard episode."""
        return await player.play(question)

    def reward(self, question: Question, trajectory: Trajectory) -> float:
        """The metric of the final answer, in [0, 1]."""
        return float(self.metric(trajectory.answer, question.answers))

    def note(self, purpose: str) -> str:
        """None: this environment adds nothing to the prompts."""
        return ""


def build(task: TaskConfig) -> JsonlEnvironment:
    """The environment of a ``[task]`` table. Raises DataError or ConfigError."""
    files = {Split.TRAIN: task.train, Split.VALIDATION: task.validation, Split.TEST: task.test}
    splits = {split: load_questions(path) for split, path in files.items() if path is not None}
    return JsonlEnvironment(splits, metric(task.metric))


def load_questions(path: Path) -> tuple[Question, ...]:
    """The questions of a file. Raises DataError naming file and line of the first fault."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"data file {path} cannot be read",
            why=str(error),
            fix="correct its path in [task] of skillevo.toml",
        ) from error
    questions: dict[str, Question] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        question = _question(path, number, line)
        if question.id in questions:
            raise DataError(
                f"{path}:{number}: the id {question.id!r} occurs twice",
                why="results are kept by question id",
                fix="give every question its own id",
            )
        questions[question.id] = question
    if not questions:
        raise DataError(
            f"data file {path} holds no question",
            why="an empty data set would score nothing",
            fix='add lines such as {"id": "q1", "question": "…", "answer": "…"}',
        )
    return tuple(questions.values())


def _question(path: Path, number: int, line: str) -> Question:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{path}:{number}: the line is no JSON",
            why=str(error),
            fix="each line holds one JSON object",
        ) from error
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{path}:{number}: the line holds half of a surrogate pair",
            why="such text cannot be stored as UTF-8",
            fix="write the whole character",
        ) from error
    found = violations(record, "question")
    if found:
        raise DataError(
            f"{path}:{number}: {found[0].where}: {found[0].message}",
            why="a question needs id, question and answer (or answers)",
            fix='for example {"id": "q1", "question": "…", "answer": "…"}',
        )
    answers = record["answers"] if "answers" in record else [record["answer"]]
    return Question(
        id=str(record["id"]),
        text=record["question"],
        answers=tuple(_text(answer) for answer in answers),
        context=record.get("context", ""),
        category=record.get("category", ""),
    )


def _text(answer: Any) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer)
