"""An MCP server of the newest protocol, made with the SDK, that gets another tool when called."""

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("growing")


@server.tool()
async def grow(ctx: Context) -> str:
    """Get another tool."""
    server.add_tool(grown, name="more", description="Another tool.")
    await ctx.notify_tools_changed()
    return "grown"


def grown() -> str:
    """Say so."""
    return "more"


if __name__ == "__main__":
    server.run("stdio")
