"""Checks before anything is spent, and groups on their way to the method."""

from __future__ import annotations

import asyncio

import pytest
from fakes.evolution import make_group
from fakes.harness import World

from skillevo.errors import DataError
from skillevo.pipeline.preflight import check_splits
from skillevo.pipeline.stream import GroupStream
from skillevo.types import Question, Split


def world(**splits: str) -> World:
    return World({
        Split(name): tuple(Question(id_, "Q?", ("x",)) for id_ in ids.split())
        for name, ids in splits.items()
    })  # fmt: skip


def test_disjoint_splits_pass_and_the_test_split_may_be_absent() -> None:
    check_splits(world(train="a b", validation="c", test="d"))
    check_splits(world(train="a", validation="b"))


@pytest.mark.parametrize("missing", ["train", "validation"])
def test_an_empty_split_is_told(missing: str) -> None:
    other = {"train": "a", "validation": "b"}
    with pytest.raises(DataError, match=f"the {missing} split holds no question"):
        check_splits(world(**{**other, missing: ""}))


def test_a_question_that_occurs_twice_is_told() -> None:
    with pytest.raises(DataError, match="the validation split holds the question 'c' 2 times"):
        check_splits(world(train="a", validation="b c c"))


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ({"train": "a b", "validation": "b"}, "train and validation splits share questions: b$"),
        ({"train": "a", "validation": "b", "test": "a"}, "train and test splits share .*: a$"),
        ({"train": "x", "validation": "e d c b a", "test": "a b c d e"},
         "the validation and test splits share questions: a, b, c and 2 more$"),
    ],
)  # fmt: skip
def test_splits_that_share_questions_are_told(splits: dict[str, str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        check_splits(world(**splits))


def test_groups_come_in_the_order_in_which_they_end_until_the_stream_is_closed() -> None:
    groups = [make_group(f"q{n}", [0.0, 1.0]) for n in range(3)]

    async def main() -> list[str]:
        stream, seen = GroupStream(), []
        stream.put(groups[0])

        async def fill() -> None:
            for group in groups[1:]:
                await asyncio.sleep(0)
                stream.put(group)
            stream.close()

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(fill())
            async for group in stream:
                seen.append(group.question.id)
        return seen

    assert asyncio.run(main()) == ["q0", "q1", "q2"]
