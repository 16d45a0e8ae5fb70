"""The built-in ``qa`` example: a small data set, neutral roles, and a corrupt start."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib import resources
from pathlib import Path

import frontmatter
import pytest

ROOT = Path(str(resources.files("skillevo"))) / "templates" / "qa"
SIZES = {"train": 32, "validation": 20, "test": 20}
CATEGORIES = {"person", "place", "number", "time", "thing"}
SKILLS = sorted(path.parent for path in (ROOT / "corrupt" / "answerer").glob("*/SKILL.md"))


def rows(split: str) -> list[dict[str, object]]:
    text = (ROOT / "data" / f"{split}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def answers(row: dict[str, object]) -> list[str]:
    found = row["answers"] if "answers" in row else [row["answer"]]
    assert isinstance(found, list)
    return found


def every_row() -> list[dict[str, object]]:
    return [row for split in SIZES for row in rows(split)]


@pytest.mark.parametrize("split", SIZES)
def test_a_split_has_its_size_and_ids_of_its_own(split: str) -> None:
    expected = [f"{split}-{number:02d}" for number in range(1, SIZES[split] + 1)]

    assert [row["id"] for row in rows(split)] == expected


@pytest.mark.parametrize("split", SIZES)
def test_a_split_covers_every_category_about_equally(split: str) -> None:
    counts = Counter(str(row["category"]) for row in rows(split))

    assert set(counts) == CATEGORIES
    assert max(counts.values()) - min(counts.values()) <= 1


@pytest.mark.parametrize("split", SIZES)
def test_the_answers_of_a_split_stand_early_in_the_middle_and_late_in_their_texts(
    split: str,
) -> None:
    thirds = Counter(
        3 * str(row["context"]).index(answers(row)[0]) // len(str(row["context"]))
        for row in rows(split)
    )

    assert set(thirds) == {0, 1, 2}


def test_no_question_and_no_text_occurs_twice() -> None:
    for key in ("question", "context"):
        assert max(Counter(row[key] for row in every_row()).values()) == 1, key


@pytest.mark.parametrize("row", every_row(), ids=lambda row: str(row["id"]))
def test_every_answer_is_short_and_copied_from_a_short_text(row: dict[str, object]) -> None:
    context = str(row["context"])

    assert ("answer" in row) != ("answers" in row)
    assert str(row["question"]).endswith("?")
    assert 35 <= len(context.split()) <= 65
    for answer in answers(row):
        assert answer in context
        assert 1 <= len(answer.split()) <= 5
        assert not re.search(rf"\b{re.escape(answer)}\b", str(row["question"]))


@pytest.mark.parametrize("row", every_row(), ids=lambda row: str(row["id"]))
def test_the_reference_answer_stands_once_in_its_text(row: dict[str, object]) -> None:
    found = re.findall(rf"(?<!\w){re.escape(answers(row)[0])}(?!\w)", str(row["context"]))

    assert len(found) == 1


@pytest.mark.parametrize("agent", ["reader", "answerer"])
def test_a_role_is_short_and_says_nothing_about_the_form_of_the_answer(agent: str) -> None:
    role = (ROOT / "roles" / f"{agent}.md").read_text(encoding="utf-8")

    assert 5 <= len(role.split()) <= 45
    assert role.endswith(".\n")
    assert not re.search(r"\b(short\w*|brief\w*|concise\w*|exact\w*|few\w*)\b", role.lower())
    assert agent == "reader" or "sentence" not in role.lower()


def test_a_prompt_of_either_agent_stays_under_two_hundred_tokens() -> None:
    roles = [
        (ROOT / "roles" / f"{agent}.md").read_text(encoding="utf-8")
        for agent in ("reader", "answerer")
    ]
    longest = max(
        len(role) + len(str(row["context"])) + len(str(row["question"]))
        for role in roles
        for row in every_row()
    )

    assert longest / 4 < 160  # leaves 40 tokens for the frame and the reader's note


def test_the_corrupt_start_gives_three_valid_skills_to_the_answerer_alone() -> None:
    assert [path.name for path in (ROOT / "corrupt").iterdir()] == ["answerer"]
    assert len(SKILLS) == 3


@pytest.mark.parametrize("folder", SKILLS, ids=lambda folder: folder.name)
def test_a_corrupt_skill_is_canonical_and_does_not_say_what_it_is(folder: Path) -> None:
    text = (folder / "SKILL.md").read_text(encoding="utf-8")
    post = frontmatter.loads(text)

    assert list(post.metadata) == ["name", "description"]
    assert post["name"] == folder.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", folder.name)
    assert 1 <= len(str(post["description"])) <= 1024
    assert 40 <= len(post.content.split()) <= 90
    assert text.endswith(f"\n---\n\n{post.content}\n")
    assert not re.search(r"\b(harm\w*|help\w*|irrelevant|corrupt|wrong|bad|good)\b", text.lower())
