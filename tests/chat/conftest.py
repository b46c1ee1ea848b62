from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from data.store import Store, open_store
from tests.chat.house import House


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(tmp_path) as opened:
        yield opened


@pytest.fixture
def house(store: Store) -> Iterator[House]:
    """A house with the built-in tools; its model's script has to be kept to."""
    made = House(store)
    yield made
    made.model.check()
