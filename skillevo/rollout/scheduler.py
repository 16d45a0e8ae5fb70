"""Jobs started lazily: at most ``width`` run at once, the next starts when one ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator

Job = Callable[[], Awaitable[None]]


async def run_lazily(jobs: Iterable[Job], width: int) -> None:
    """Run every job, ``width`` at a time, drawing the next from the iterable when a place is free.

    The first exception cancels the rest and comes out in an ExceptionGroup.
    """
    waiting: Iterator[Job] = iter(jobs)

    async def worker() -> None:
        for job in waiting:
            await job()

    async with asyncio.TaskGroup() as tasks:
        for _ in range(width):
            tasks.create_task(worker())
