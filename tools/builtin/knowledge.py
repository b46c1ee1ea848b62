"""knowledge_search: looks further into a guild's documents than the prompt does.

Invariant: whoever makes the tool has settled which contexts it reads; a call only says what to look
for. Documents are a guild's own choice, but pages and messages among them were written by others,
so what comes back counts as foreign.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, TypeAlias

from pydantic import Field

from prompt.values import Rate
from tools.registry import Tool, ToolContext, tool

Search: TypeAlias = Callable[[str], Awaitable[Sequence[str]]]
"""The passages that fit a question, best first, each with where it is from."""

_RATE = Rate(calls=20, seconds=60)
_NOTHING = (
    "Nothing in this server's documents matches. Try fewer or other words, or answer without them."
)


def as_result(passages: Sequence[str]) -> str:
    """What a call is told of the passages that it has found, each whole and in its order."""
    return "\n\n".join(passages) or _NOTHING


def knowledge_tool(search: Search) -> Tool:
    """knowledge_search over what `search` reads."""

    @tool(read_only=True, foreign=True, rate=_RATE)
    async def knowledge_search(
        context: ToolContext,
        *,
        query: Annotated[str, Field(min_length=1, max_length=300, description="words to look for")],
    ) -> str:
        """Search this server's own documents."""
        return as_result(await search(query))

    return knowledge_search
