-- 0012: who embeds for a guild.
--
-- Reason: searching knowledge by sense needs an embeddings endpoint, which a guild chooses as it
-- chooses who searches and who draws. SQLite cannot change a CHECK, so the table is made anew.

BEGIN IMMEDIATE;

CREATE TABLE services_anew (
    guild_id      INTEGER NOT NULL,
    kind          TEXT    NOT NULL CHECK (kind IN ('search', 'images', 'embeddings')),
    provider      TEXT    NOT NULL,         -- none: off, also where the operator offers one
    base_url      TEXT    NOT NULL,
    model         TEXT    NOT NULL,
    sealed_key    TEXT,                     -- see data/keys.py
    allow_private INTEGER NOT NULL CHECK (allow_private IN (0, 1)),
    set_by        INTEGER NOT NULL,         -- Discord user
    at            TEXT    NOT NULL,
    PRIMARY KEY (guild_id, kind)
) STRICT;

INSERT INTO services_anew SELECT * FROM services;
DROP TABLE services;
ALTER TABLE services_anew RENAME TO services;

PRAGMA user_version = 12;

COMMIT;
