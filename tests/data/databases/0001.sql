-- A database as schema 0001 left it, with a row of every kind. Never change it: it stands for
-- the databases that are out there. Migrations are tried on it.
BEGIN TRANSACTION;
PRAGMA application_id = 0x5662746d;
CREATE TABLE settings (
    guild_id INTEGER NOT NULL,
    model    TEXT    NOT NULL,  -- empty: for the whole guild
    name     TEXT    NOT NULL,
    value    TEXT    NOT NULL,  -- JSON
    PRIMARY KEY (guild_id, model, name)
) STRICT, WITHOUT ROWID;
INSERT INTO settings VALUES(10,'','tool_mode','"native"');
INSERT INTO settings VALUES(10,'m','nudge','false');
CREATE TABLE verdicts (
    endpoint            TEXT    NOT NULL,
    model               TEXT    NOT NULL,
    structured_calls    INTEGER NOT NULL CHECK (structured_calls IN (0, 1)),
    refuses_tools_field INTEGER NOT NULL CHECK (refuses_tools_field IN (0, 1)),
    reason              TEXT    NOT NULL,
    PRIMARY KEY (endpoint, model)
) STRICT, WITHOUT ROWID;
INSERT INTO verdicts VALUES('http://host/v1','m',1,0,'seen in a turn');
CREATE TABLE turns (
    id               TEXT    NOT NULL PRIMARY KEY,
    guild_id         INTEGER NOT NULL,
    channel_id       INTEGER NOT NULL,
    member_id        INTEGER NOT NULL,  -- who asked
    asked_message_id INTEGER NOT NULL,
    content          TEXT    NOT NULL,  -- see data/encoding.py
    at               TEXT    NOT NULL
) STRICT;
INSERT INTO turns VALUES('t1',10,20,30,40,'{"form": 1, "turns": [{"role": "assistant", "author": null, "at": null, "parts": [{"kind": "text", "text": "Six."}]}]}','2026-05-04T03:02:01.000000+00:00');
CREATE TABLE replies (
    message_id INTEGER NOT NULL PRIMARY KEY,
    turn_id    TEXT    NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,
    UNIQUE (turn_id, ordinal)
) STRICT;
INSERT INTO replies VALUES(51,'t1',0);
INSERT INTO replies VALUES(52,'t1',1);
CREATE TABLE facts (
    id        INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guild_id  INTEGER NOT NULL,
    member_id INTEGER NOT NULL,
    text      TEXT    NOT NULL,
    at        TEXT    NOT NULL,
    UNIQUE (guild_id, member_id, text)
) STRICT;
INSERT INTO facts VALUES(7,10,30,'Drinks green tea','2026-05-04T03:02:01.000000+00:00');
CREATE TABLE claims (
    message_id INTEGER NOT NULL PRIMARY KEY,
    at         TEXT    NOT NULL
) STRICT;
INSERT INTO claims VALUES(40,'2999-01-01T00:00:00.000000+00:00');
CREATE TABLE channels (
    channel_id INTEGER NOT NULL PRIMARY KEY,
    cut_point  INTEGER NOT NULL  -- id of the oldest message that a prompt still holds
) STRICT;
INSERT INTO channels VALUES(20,39);
CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES('k','v');
CREATE INDEX turns_by_member ON turns (guild_id, member_id);
PRAGMA user_version = 1;
COMMIT;
