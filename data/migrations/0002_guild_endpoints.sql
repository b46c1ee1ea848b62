-- 0002: endpoints that guilds bring, and which guilds the operator's endpoint serves.
--
-- Reason: a bot in several guilds must not let all of them spend what its operator pays for. A
-- guild is served once the operator said so (approvals), or by an endpoint of its own
-- (endpoints), whose key is kept encrypted and belongs to the origin of its URL.

BEGIN IMMEDIATE;

CREATE TABLE endpoints (
    guild_id      INTEGER NOT NULL PRIMARY KEY,
    id            TEXT    NOT NULL UNIQUE,  -- anew with every URL; what verdicts are kept under
    base_url      TEXT    NOT NULL,
    model         TEXT    NOT NULL,         -- empty: the first one that the server lists
    sealed_key    TEXT,                     -- see data/keys.py
    allow_private INTEGER NOT NULL CHECK (allow_private IN (0, 1)),
    set_by        INTEGER NOT NULL,         -- Discord user
    at            TEXT    NOT NULL
) STRICT;

CREATE TABLE approvals (
    guild_id   INTEGER NOT NULL PRIMARY KEY,
    state      TEXT    NOT NULL CHECK (state IN ('pending', 'approved', 'denied')),
    decided_by INTEGER,                     -- Discord user; none where no person decided
    told       INTEGER NOT NULL CHECK (told IN (0, 1)),  -- whether the operator was asked
    at         TEXT    NOT NULL
) STRICT;

PRAGMA user_version = 2;

COMMIT;
