from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import pytest

from data.store import Store, open_store
from tools.registry import NoFiles, ToolContext
from tools.worker.process import Worker

NOW = datetime(2026, 7, 4, 22, 30, tzinfo=UTC)

Contexts: TypeAlias = Callable[..., ToolContext]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(tmp_path) as opened:
        yield opened


@pytest.fixture
def context(store: Store) -> Contexts:
    """Makes contexts: whose call it is, by guild and member."""

    def make(guild_id: int = 1, member_id: int = 10, now: datetime = NOW) -> ToolContext:
        return ToolContext(
            guild_id=guild_id,
            channel_id=5,
            member_id=member_id,
            message_id=50,
            now=now,
            facts=store.facts,
            files=NoFiles(),
        )

    return make


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    opened = Worker(processes=1)
    yield opened
    await opened.close()
