-- 0011: reminders, and the time zones of members.
--
-- Reason: a reminder outlives a restart and is told once. It is claimed before it is sent; what a
-- crash leaves claimed is sent again later, under the same nonce. Numbers are never used again,
-- so no nonce stands for two reminders.

BEGIN IMMEDIATE;

CREATE TABLE reminders (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    guild_id   INTEGER NOT NULL,            -- 0: direct messages
    channel_id INTEGER NOT NULL,            -- where it was asked for, and is told
    member_id  INTEGER NOT NULL,
    message_id INTEGER NOT NULL,            -- which asked for it
    text       TEXT    NOT NULL,
    due        TEXT    NOT NULL,
    retry_at   TEXT    NOT NULL,            -- when it may be claimed
    attempts   INTEGER NOT NULL DEFAULT 0,  -- claims so far
    at         TEXT    NOT NULL
) STRICT;

CREATE INDEX reminders_by_time ON reminders (retry_at);
CREATE INDEX reminders_by_member ON reminders (guild_id, member_id);

CREATE TABLE time_zones (
    guild_id  INTEGER NOT NULL,
    member_id INTEGER NOT NULL,
    zone      TEXT    NOT NULL,             -- IANA name
    PRIMARY KEY (guild_id, member_id)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 11;

COMMIT;
