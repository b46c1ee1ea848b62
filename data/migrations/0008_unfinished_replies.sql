-- 0008: replies that are being written.
--
-- Reason: a process that is killed leaves a reply that says it is still being written, with a
-- button that stops nothing. The next start finds it here and marks it.

BEGIN IMMEDIATE;

CREATE TABLE unfinished_replies (
    message_id       INTEGER PRIMARY KEY,
    guild_id         INTEGER NOT NULL,      -- 0: direct messages
    channel_id       INTEGER NOT NULL,
    member_id        INTEGER NOT NULL,      -- Discord user who asked
    asked_message_id INTEGER NOT NULL,
    turn_id          INTEGER NOT NULL,
    at               TEXT    NOT NULL
) STRICT;

PRAGMA user_version = 8;

COMMIT;
