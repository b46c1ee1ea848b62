from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import pytest

from data.database import Database
from data.knowledge import AuthorisedContexts, Context, Document, Knowledge, NewDocument

Fill: TypeAlias = Callable[..., Awaitable[AuthorisedContexts]]


def new(content: str | Sequence[str], name: str = "notes.txt") -> NewDocument:
    return NewDocument(
        name=name, content=content, kind="attachment", url="https://x", size=9, added_by=5
    )


@pytest.fixture
def knowledge(database: Database) -> Knowledge:
    return Knowledge(database)


@pytest.fixture
def fill(knowledge: Knowledge) -> Fill:
    """Makes a context with these documents and authorises it for its guild."""

    async def make(
        *contents: str | Sequence[str], guild_id: int = 42, name: str = "K"
    ) -> AuthorisedContexts:
        context = await knowledge.contexts.create(guild_id, name, 1)
        assert isinstance(context, Context)
        for number, content in enumerate(contents):
            added = await knowledge.documents.add(context, new(content, f"{number}.txt"))
            assert isinstance(added, Document)
        return await knowledge.contexts.authorise(guild_id, [context.id])

    return make
