-- 0014: questions that are being answered.
--
-- Reason: a process that is killed may leave a message that nobody had noted yet, or a question of
-- which nothing was said at all. The next start finds the question here, and looks behind it.

BEGIN IMMEDIATE;

CREATE TABLE open_questions (
    asked_message_id INTEGER PRIMARY KEY,
    guild_id         INTEGER NOT NULL,      -- 0: direct messages
    channel_id       INTEGER NOT NULL,
    member_id        INTEGER NOT NULL,      -- Discord user who asked
    turn_id          INTEGER NOT NULL,
    at               TEXT    NOT NULL
) STRICT;

PRAGMA user_version = 14;

COMMIT;
