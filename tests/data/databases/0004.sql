-- A database as schema 0004 left it, with a row of every kind. Never change
-- it: it stands for the databases that are out there. Migrations are tried on it.
BEGIN TRANSACTION;
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
    reason              TEXT    NOT NULL, learnt TEXT NOT NULL DEFAULT '{}', token_ratio REAL, cut_at INTEGER,
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
CREATE TABLE replies (
    message_id INTEGER NOT NULL PRIMARY KEY,
    turn_id    TEXT    NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,
    UNIQUE (turn_id, ordinal)
) STRICT;
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
CREATE TABLE approvals (
    guild_id   INTEGER NOT NULL PRIMARY KEY,
    state      TEXT    NOT NULL CHECK (state IN ('pending', 'approved', 'denied')),
    decided_by INTEGER,                     -- Discord user; none where no person decided
    told       INTEGER NOT NULL CHECK (told IN (0, 1)),  -- whether the operator was asked
    at         TEXT    NOT NULL
) STRICT;
CREATE TABLE "endpoints" (
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
CREATE INDEX endpoints_by_guild ON endpoints (guild_id, position);
INSERT INTO settings VALUES (0, '', 'dms', '"on"');
INSERT INTO settings VALUES (10, '', 'tool_mode', '"native"');
INSERT INTO settings VALUES (10, 'm', 'nudge', 'false');
INSERT INTO verdicts VALUES ('guild:10:a', 'm', 1, 0, 'seen in a turn', '{"native_tools": "off"}', 1.25, 4096);
INSERT INTO verdicts VALUES ('http://host/v1', 'm', 1, 0, 'seen in a turn', '{}', NULL, NULL);
INSERT INTO turns VALUES ('t1', 10, 20, 30, 40, '{"form": 1, "turns": [{"role": "assistant", "author": null, "at": null, "parts": [{"kind": "text", "text": "Six."}]}]}', '2026-05-04T03:02:01.000000+00:00');
INSERT INTO replies VALUES (51, 't1', 0);
INSERT INTO replies VALUES (52, 't1', 1);
INSERT INTO facts VALUES (7, 10, 30, 'Drinks green tea', '2026-05-04T03:02:01.000000+00:00');
INSERT INTO facts VALUES (9, 0, 30, 'Isn''t in a hurry; übt Klavier', '2026-05-04T03:02:01.000000+00:00');
INSERT INTO claims VALUES (40, '2999-01-01T00:00:00.000000+00:00');
INSERT INTO channels VALUES (20, 39);
INSERT INTO meta VALUES ('k', 'v');
INSERT INTO approvals VALUES (10, 'approved', 77, 1, '2026-05-04T03:02:01.000000+00:00');
INSERT INTO endpoints VALUES ('guild:10:a', 10, 0, 'https://llm.example/v1', 'm', 'sealed key', 0, 30, '2026-05-04T03:02:01.000000+00:00');
INSERT INTO endpoints VALUES ('guild:10:b', 10, 1, 'http://192.168.1.7:8080/v1', '', NULL, 1, 30, '2026-05-04T03:02:01.000000+00:00');
PRAGMA user_version = 4;
COMMIT;
