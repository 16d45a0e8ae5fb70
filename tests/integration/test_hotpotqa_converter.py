"""``bench/hotpotqa_to_jsonl.py``: from HotpotQA records to the jsonl environment's files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "hotpotqa_to_jsonl.py"


@dataclass(frozen=True, slots=True)
class Outcome:
    code: int
    stdout: str
    stderr: str


def convert(source: Path, out: Path, *options: str) -> Outcome:
    command = [sys.executable, str(SCRIPT), "--source", str(source), "--out", str(out), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)


def read(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def record(number: int) -> dict[str, Any]:
    """Three passages of about 25 tokens, the last of which is supporting."""
    return {
        "_id": f"q{number}",
        "question": f"Who  owns kiln {number}?",
        "answer": "Ysolde Marn",
        "type": "bridge",
        "level": "easy",
        "supporting_facts": [["Kiln", 1]],
        "context": [
            ["Tides", ["The tide\n\nis high at noon.", " It turns before the evening bell rings."]],
            ["Goats", ["The goats eat thistles.", " They sleep on the warm side of the hill."]],
            ["Kiln", ["The kiln stands by the canal.", " Its owner is Ysolde Marn, a potter."]],
        ],
    }


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(item) + "\n" for item in records), encoding="utf-8")
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "source.jsonl", [record(number) for number in range(12)])


def test_a_record_becomes_a_question_with_titled_passages(source: Path, tmp_path: Path) -> None:
    outcome = convert(source, tmp_path / "out", "--train", "2", "--validation", "3")

    train, validation = (read(tmp_path / f"out/{name}.jsonl") for name in ("train", "validation"))
    assert (outcome.code, outcome.stderr) == (0, "")
    assert (len(train), len(validation)) == (2, 3)
    assert len({row["id"] for row in train + validation}) == 5
    first = train[0]
    assert first["question"] == f"Who owns kiln {first['id'][1:]}?"
    assert (first["answer"], first["category"]) == ("Ysolde Marn", "bridge")
    assert first["context"] == (
        "Tides: The tide is high at noon. It turns before the evening bell rings.\n\n"
        "Goats: The goats eat thistles. They sleep on the warm side of the hill.\n\n"
        "Kiln: The kiln stands by the canal. Its owner is Ysolde Marn, a potter."
    )


def test_the_choice_depends_on_the_seed_and_not_on_the_order_of_the_file(
    source: Path, tmp_path: Path
) -> None:
    backward = write(tmp_path / "back.jsonl", [record(number) for number in reversed(range(12))])
    convert(source, tmp_path / "a")
    convert(backward, tmp_path / "b")
    convert(source, tmp_path / "c", "--seed", "1")

    texts = [(tmp_path / name / "train.jsonl").read_bytes() for name in ("a", "b", "c")]
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_distractors_are_dropped_from_the_end_and_counted(source: Path, tmp_path: Path) -> None:
    outcome = convert(
        source, tmp_path / "out", "--train", "1", "--validation", "2", "--max-context-tokens", "40"
    )

    contexts = [row["context"] for row in read(tmp_path / "out/validation.jsonl")]
    assert "dropped 3 distractor passages from 3 of 3 questions" in outcome.stdout
    assert [context.count("\n\n") for context in contexts] == [1, 1]
    assert all("Tides:" in text and "Kiln:" in text for text in contexts)


def test_supporting_passages_stay_even_when_they_exceed_the_cap(
    source: Path, tmp_path: Path
) -> None:
    outcome = convert(source, tmp_path / "out", "--max-context-tokens", "5")

    assert all(row["context"].startswith("Kiln:") for row in read(tmp_path / "out/train.jsonl"))
    assert outcome.stdout.count("the supporting passages alone exceed the cap") == 8


def changed(**fields: Any) -> str:
    return json.dumps(record(1) | fields)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        (changed(answer=7), "'answer' must be a text"),
        (changed(question="  "), "'question' must be a text"),
        (changed(context=[]), "'context' must be a list"),
        (changed(context=[["Kiln", "text"]]), "'context' must hold"),
        (changed(context=[["Kiln", [3]]]), "'context' must hold"),
        (changed(supporting_facts=["Kiln"]), "'supporting_facts' must hold"),
        (changed(supporting_facts=[["Moon", 0]]), "not in the context"),
        (changed(_id="q0"), "the id 'q0' occurs twice"),
    ],
)
def test_a_bad_record_is_named_by_file_and_line(line: str, why: str, tmp_path: Path) -> None:
    source = tmp_path / "source.jsonl"
    source.write_text(json.dumps(record(0)) + "\n\n" + line + "\n", encoding="utf-8")

    outcome = convert(source, tmp_path / "out")

    assert outcome.code == 2
    assert f"{source}:3: not a HotpotQA record" in outcome.stderr
    assert why in outcome.stderr
    assert "fix: " in outcome.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--train", "9"), "13 questions were asked for"),
        (("--train", "0"), "must be at least 1"),
        (("--source", "missing.jsonl"), "cannot read missing.jsonl"),
        (("--out", os.devnull), f"cannot write {os.devnull}"),
    ],
)
def test_bad_options_end_with_one_message(
    options: tuple[str, ...], message: str, source: Path, tmp_path: Path
) -> None:
    outcome = convert(source, tmp_path / "out", *options)

    assert outcome.code == 2
    assert message in outcome.stderr
    assert "Traceback" not in outcome.stderr


@pytest.mark.data
@pytest.mark.parametrize("name", ["hotpotqa_train295.jsonl", "hotpotqa_dev500.jsonl"])
def test_real_records_convert_and_keep_their_supporting_passages(name: str, tmp_path: Path) -> None:
    if not os.environ.get("SKILLEVO_DATA"):
        pytest.skip("SKILLEVO_DATA is not set")
    source = Path(os.environ["SKILLEVO_DATA"]) / name
    originals = {item["_id"]: item for item in read(source)}

    outcome = convert(source, tmp_path, "--max-context-tokens", "900")

    rows = read(tmp_path / "train.jsonl") + read(tmp_path / "validation.jsonl")
    assert outcome.code == 0
    assert len({row["id"] for row in rows}) == 8
    for row in rows:
        original: Any = originals[row["id"]]
        passages = row["context"].split("\n\n")
        titles = [title for title, _ in original["context"]]
        supporting = {title for title, _ in original["supporting_facts"]}
        kept = {title for title in titles if any(p.startswith(f"{title}: ") for p in passages)}
        assert supporting <= kept
        assert len(passages) <= len(titles)
        assert row["answer"] == original["answer"]
