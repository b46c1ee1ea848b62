"""Asks a server for its tools, and hears when they change.

Invariant: however many pages a server has, asking ends.
"""

import contextlib

from mcp import Client, types

from tools.mcp.link import Changed

_MOST_PAGES = 20
_MOST_TOOLS = 100


async def list_tools(client: Client) -> list[types.Tool]:
    """The tools in the server's order, the first of them if there are very many. A server that
    has none, and says so, is not asked."""
    if client.server_capabilities.tools is None:
        return []
    tools: list[types.Tool] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await client.session.list_tools(
            params=types.PaginatedRequestParams(cursor=cursor) if cursor else None
        )
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None or len(tools) >= _MOST_TOOLS:
            break
    return tools[:_MOST_TOOLS]


async def listen(client: Client, changed: Changed) -> None:
    """Await `changed` at each change of the tools, where a server is to be asked for news; others
    send them unasked. Ends when the server takes no such wish or the connection has ended."""
    offered = client.server_capabilities.tools
    if offered is None or not offered.list_changed:
        return
    # News are a comfort: without them the list is read again with the next connection.
    with contextlib.suppress(Exception):
        async with client.listen(tools_list_changed=True) as news:
            await changed()  # they may have since they were listed, and that is not told again
            async for _ in news:
                await changed()
