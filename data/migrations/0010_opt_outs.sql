-- 0010: members who do not want their messages read to a model.
--
-- Reason: a member may object, and what they wrote, write and had kept in the knowledge then stays
-- out of every prompt.

BEGIN IMMEDIATE;

CREATE TABLE opt_outs (
    guild_id  INTEGER NOT NULL,  -- 0: direct messages
    member_id INTEGER NOT NULL,
    at        TEXT    NOT NULL,
    PRIMARY KEY (guild_id, member_id)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 10;

COMMIT;
