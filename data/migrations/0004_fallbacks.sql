-- 0004: several endpoints a guild, and how an endpoint and model count tokens.
--
-- Reason: where the first endpoint fails, the next in the guild's order answers. An endpoint keeps
-- its id, so that what was learnt about it stays. A ratio of counted to estimated tokens makes a
-- prompt fit, and a prompt that a server cut without saying so must be told to admins.

BEGIN IMMEDIATE;

CREATE TABLE ordered_endpoints (
    id            TEXT    NOT NULL PRIMARY KEY,  -- anew with every URL; verdicts are kept under it
    guild_id      INTEGER NOT NULL,
    position      INTEGER NOT NULL,              -- the lowest is tried first
    base_url      TEXT    NOT NULL,
    model         TEXT    NOT NULL,              -- empty: the first one that the server lists
    sealed_key    TEXT,                          -- see data/keys.py
    allow_private INTEGER NOT NULL CHECK (allow_private IN (0, 1)),
    set_by        INTEGER NOT NULL,              -- Discord user
    at            TEXT    NOT NULL
) STRICT;

INSERT INTO ordered_endpoints
SELECT id, guild_id, 0, base_url, model, sealed_key, allow_private, set_by, at FROM endpoints;

DROP TABLE endpoints;

ALTER TABLE ordered_endpoints RENAME TO endpoints;

CREATE INDEX endpoints_by_guild ON endpoints (guild_id, position);

ALTER TABLE verdicts ADD COLUMN token_ratio REAL;  -- none before the server has counted a prompt

ALTER TABLE verdicts ADD COLUMN cut_at INTEGER;    -- tokens left of a prompt that it cut

PRAGMA user_version = 4;

COMMIT;
