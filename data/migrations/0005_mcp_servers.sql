-- 0005: MCP servers that guilds bring.
--
-- Reason: a guild's admins give its model tools of their own choice. A token is kept encrypted and
-- belongs to the origin of its URL; what a server says of its tools is believed once an admin
-- trusts it.

BEGIN IMMEDIATE;

CREATE TABLE mcp_servers (
    ordinal       INTEGER NOT NULL PRIMARY KEY,  -- the order in which they were added
    guild_id      INTEGER NOT NULL,
    name          TEXT    NOT NULL,
    url           TEXT    NOT NULL,
    sealed_token  TEXT,                          -- see data/keys.py
    enabled       INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    trusted       INTEGER NOT NULL CHECK (trusted IN (0, 1)),
    allow_private INTEGER NOT NULL CHECK (allow_private IN (0, 1)),
    set_by        INTEGER NOT NULL,              -- Discord user
    at            TEXT    NOT NULL,
    UNIQUE (guild_id, name)
) STRICT;

PRAGMA user_version = 5;

COMMIT;
