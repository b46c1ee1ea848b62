-- 0001: what the first release keeps.
--
-- Reason: a turn must be answered once only, also over restarts (claims); a conversation must
-- keep its tool exchanges, which Discord's messages do not show (turns, replies); an admin's
-- choices and what was learnt about an endpoint must last (settings, verdicts); members may ask
-- for something to be remembered (facts); history must be trimmed at the same place from one
-- turn to the next, so that the prompt's head stays as it was (channels).
--
-- Every table that holds a member's words has the columns guild_id and member_id. guild_id 0
-- stands for direct messages and the console. Times are ISO 8601 in UTC with microseconds, so
-- that they sort as text.

BEGIN IMMEDIATE;

-- "Vbtm": tells our files from other programs' databases.
PRAGMA application_id = 0x5662746d;

CREATE TABLE settings (
    guild_id INTEGER NOT NULL,
    model    TEXT    NOT NULL,  -- empty: for the whole guild
    name     TEXT    NOT NULL,
    value    TEXT    NOT NULL,  -- JSON
    PRIMARY KEY (guild_id, model, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE verdicts (
    endpoint            TEXT    NOT NULL,
    model               TEXT    NOT NULL,
    structured_calls    INTEGER NOT NULL CHECK (structured_calls IN (0, 1)),
    refuses_tools_field INTEGER NOT NULL CHECK (refuses_tools_field IN (0, 1)),
    reason              TEXT    NOT NULL,
    PRIMARY KEY (endpoint, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE turns (
    id               TEXT    NOT NULL PRIMARY KEY,
    guild_id         INTEGER NOT NULL,
    channel_id       INTEGER NOT NULL,
    member_id        INTEGER NOT NULL,  -- who asked
    asked_message_id INTEGER NOT NULL,
    content          TEXT    NOT NULL,  -- see data/encoding.py
    at               TEXT    NOT NULL
) STRICT;

CREATE INDEX turns_by_member ON turns (guild_id, member_id);

-- The messages that show a turn's reply, in the order in which they stand in the channel.
CREATE TABLE replies (
    message_id INTEGER NOT NULL PRIMARY KEY,
    turn_id    TEXT    NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,
    UNIQUE (turn_id, ordinal)
) STRICT;

-- AUTOINCREMENT: the number of a forgotten fact is never given to another one.
CREATE TABLE facts (
    id        INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guild_id  INTEGER NOT NULL,
    member_id INTEGER NOT NULL,
    text      TEXT    NOT NULL,
    at        TEXT    NOT NULL,
    UNIQUE (guild_id, member_id, text)
) STRICT;

CREATE TABLE claims (
    message_id INTEGER NOT NULL PRIMARY KEY,
    at         TEXT    NOT NULL
) STRICT;

CREATE TABLE channels (
    channel_id INTEGER NOT NULL PRIMARY KEY,
    cut_point  INTEGER NOT NULL  -- id of the oldest message that a prompt still holds
) STRICT;

CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 1;

COMMIT;
