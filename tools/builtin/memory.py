"""A member's own facts: kept, looked up and deleted on their behalf.

Invariant: keyed by guild and member; nobody's facts are readable for anyone else.
"""

from typing import Annotated

from pydantic import Field

from data.facts import FactLimit
from tools.registry import ToolContext, ToolFailure, tool


@tool()
async def remember(
    context: ToolContext,
    *,
    fact: Annotated[str, Field(min_length=1, max_length=500, description="one full sentence")],
) -> str:
    """Keep a fact about the member you are talking with, for later conversations."""
    try:
        kept = await context.facts.remember(context.guild_id, context.member_id, fact)
    except FactLimit as error:
        raise ToolFailure(str(error)) from error
    return f"Remembered as fact {kept.id}: {kept.text}"


@tool(read_only=True)
async def recall(
    context: ToolContext,
    *,
    query: Annotated[str, Field(description="words to look for; empty lists all")] = "",
) -> str:
    """Look up what was remembered about the member you are talking with."""
    facts = await context.facts.recall(context.guild_id, context.member_id, query or None)
    if not facts and query:
        # A small model's query rarely uses the words of the fact; the whole list serves better.
        facts = await context.facts.recall(context.guild_id, context.member_id, None)
    if not facts:
        return "Nothing is remembered about this member."
    return "\n".join(f"Fact {fact.id}: {fact.text}" for fact in facts)


# Not marked destructive: the fact is the asking member's own, and the result quotes it whole,
# so that it can be remembered again.
@tool()
async def forget(
    context: ToolContext,
    *,
    fact_id: Annotated[int, Field(description="number of the fact, as recall lists it")],
) -> str:
    """Delete one remembered fact about the member you are talking with."""
    gone = await context.facts.forget(context.guild_id, context.member_id, fact_id)
    if gone is None:
        raise ToolFailure(f"There is no fact {fact_id}. Call recall to see the numbers.")
    return f"Forgotten: {gone.text}"
