from collections.abc import AsyncIterator

import pytest

from tools.worker.process import Worker


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    opened = Worker(processes=1)
    yield opened
    await opened.close()
