"""Groups on their way from the rollouts to the method."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from skillevo.types import Group


class GroupStream:
    """Groups in the order in which they end, as an async iterator for one consumer."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Group | None] = asyncio.Queue()

    def put(self, group: Group) -> None:
        """Hand a finished group to the consumer."""
        self._queue.put_nowait(group)

    def close(self) -> None:
        """No more groups will come."""
        self._queue.put_nowait(None)

    def __aiter__(self) -> AsyncIterator[Group]:
        return self

    async def __anext__(self) -> Group:
        group = await self._queue.get()
        if group is None:
            raise StopAsyncIteration
        return group
