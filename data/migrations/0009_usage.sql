-- 0009: what was used by day, and up to where each channel was listened to.
--
-- Reason: quotas and budgets need to know what was used, and members and admins want to see it.
-- Rows hold sums, never words. The empty model stands for questions that were let in, before it is
-- known which model answers them.
--
-- A watermark is the newest message of a channel that was looked at: what came after it, while the
-- bot was away, is looked at when it is back.

BEGIN IMMEDIATE;

CREATE TABLE usage (
    day               TEXT    NOT NULL,  -- in UTC, as 2026-12-01
    guild_id          INTEGER NOT NULL,  -- 0: direct messages and the console
    channel_id        INTEGER NOT NULL,
    member_id         INTEGER NOT NULL,
    model             TEXT    NOT NULL,
    owner             INTEGER NOT NULL,  -- the guild whose endpoint it was, 0: the operator's
    questions         INTEGER NOT NULL,
    turns             INTEGER NOT NULL,
    requests          INTEGER NOT NULL,
    estimated         INTEGER NOT NULL,  -- requests whose tokens were not reported
    prompt_tokens     INTEGER NOT NULL,  -- cached ones included
    cached_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    tool_calls        INTEGER NOT NULL,
    first_tokens      INTEGER NOT NULL,  -- requests whose first token was timed
    first_token_ms    INTEGER NOT NULL,
    total_ms          INTEGER NOT NULL,
    cost_micros       INTEGER NOT NULL,  -- millionths of the currency that prices are in
    PRIMARY KEY (day, guild_id, channel_id, member_id, model, owner)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_warnings (
    guild_id INTEGER NOT NULL,           -- 0: the operator
    day      TEXT    NOT NULL,
    PRIMARY KEY (guild_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE watermarks (
    channel_id INTEGER NOT NULL PRIMARY KEY,
    guild_id   INTEGER NOT NULL,
    message_id INTEGER NOT NULL
) STRICT;

PRAGMA user_version = 9;

COMMIT;
