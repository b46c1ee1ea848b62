-- 0013: what MCP servers listed last.
--
-- Reason: a server that is away when the bot starts keeps its tools, so that prompts begin with the
-- same bytes as before, and a call of one of them is told that the server is not there.

BEGIN IMMEDIATE;

CREATE TABLE mcp_listings (
    guild_id INTEGER NOT NULL,  -- 0: the operator's servers
    name     TEXT    NOT NULL,
    reached  TEXT    NOT NULL,  -- digest of where it lies: elsewhere, these are not its tools
    tools    TEXT    NOT NULL,  -- JSON, see tools/mcp/remembering.py
    PRIMARY KEY (guild_id, name)
) STRICT;

PRAGMA user_version = 13;

COMMIT;
