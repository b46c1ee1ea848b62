from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from data.database import Database, open_database
from data.migrate import migrate
from data.store import DATABASE_NAME


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a home's database lies."""
    return tmp_path / DATABASE_NAME


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    migrate(path)
    async with open_database(path) as database:
        yield database
