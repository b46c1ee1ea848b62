-- 0007: services beside the model that guilds have chosen.
--
-- Reason: who searches the web and who draws is a guild's own choice, with an address and a key of
-- its own. A key is kept encrypted and belongs to the origin of its URL.

BEGIN IMMEDIATE;

CREATE TABLE services (
    guild_id      INTEGER NOT NULL,
    kind          TEXT    NOT NULL CHECK (kind IN ('search', 'images')),
    provider      TEXT    NOT NULL,         -- none: off, also where the operator offers one
    base_url      TEXT    NOT NULL,
    model         TEXT    NOT NULL,
    sealed_key    TEXT,                     -- see data/keys.py
    allow_private INTEGER NOT NULL CHECK (allow_private IN (0, 1)),
    set_by        INTEGER NOT NULL,         -- Discord user
    at            TEXT    NOT NULL,
    PRIMARY KEY (guild_id, kind)
) STRICT;

PRAGMA user_version = 7;

COMMIT;
