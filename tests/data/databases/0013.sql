-- A database as schema 0013 left it, with a row of every kind. Never change
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
CREATE TABLE mcp_servers (
    ordinal       INTEGER NOT NULL PRIMARY KEY,  -- the order in which they were added
    guild_id      INTEGER NOT NULL,
    name          TEXT    NOT NULL,
    url           TEXT    NOT NULL,
    sealed_token  TEXT,                          -- see data/keys.py
    enabled       INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    trusted       INTEGER NOT NULL CHECK (trusted IN (0, 1)),
    allow_private INTEGER NOT NULL CHECK (allow_private IN (0, 1)),
    set_by        INTEGER NOT NULL,              -- Discord user
    at            TEXT    NOT NULL,
    UNIQUE (guild_id, name)
) STRICT;
CREATE TABLE knowledge_contexts (
    id           INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guild_id     INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    folded_name  TEXT    NOT NULL,            -- upper and lower case alike
    created_by   INTEGER,                     -- Discord user; none once erased
    at           TEXT    NOT NULL,
    served_model TEXT,                        -- whose vectors answer questions; none: no vectors
    revision     INTEGER NOT NULL DEFAULT 0,  -- counts changes of what those vectors are
    UNIQUE (guild_id, folded_name)
) STRICT;
CREATE TABLE knowledge_documents (
    id           INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    context_id   INTEGER NOT NULL REFERENCES knowledge_contexts (id) ON DELETE CASCADE,
    guild_id     INTEGER NOT NULL,
    member_id    INTEGER,                     -- whose own words the text is, for a message
    name         TEXT    NOT NULL,
    content_hash TEXT    NOT NULL,            -- SHA-256 of the clean text
    kind         TEXT    NOT NULL CHECK (kind IN ('attachment', 'link', 'message')),
    url          TEXT    NOT NULL,
    size         INTEGER NOT NULL,            -- bytes of the source
    characters   INTEGER NOT NULL,
    chunks       INTEGER NOT NULL,
    added_by     INTEGER,                     -- Discord user; none once erased
    at           TEXT    NOT NULL,
    ready        INTEGER NOT NULL DEFAULT 0 CHECK (ready IN (0, 1)),
    UNIQUE (context_id, content_hash)
) STRICT;
CREATE INDEX knowledge_documents_by_guild ON knowledge_documents (guild_id, member_id);
CREATE TABLE knowledge_chunks (
    id          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    document_id INTEGER NOT NULL REFERENCES knowledge_documents (id) ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL,
    start_token INTEGER NOT NULL,
    end_token   INTEGER NOT NULL,  -- exclusive
    start_char  INTEGER NOT NULL,
    page        INTEGER,           -- counts from 1; none in a document without pages
    scope       TEXT    NOT NULL,  -- guild and context as one word: g42c7
    text        TEXT    NOT NULL,
    terms       TEXT,              -- what the index reads instead of text; see terms.py
    UNIQUE (document_id, ordinal)
) STRICT;
CREATE VIEW knowledge_indexed AS
SELECT id, scope, coalesce(terms, text) AS terms FROM knowledge_chunks;
CREATE VIRTUAL TABLE knowledge_words USING fts5 (
    scope, terms,
    content = 'knowledge_indexed', content_rowid = 'id',
    tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
);
CREATE TRIGGER knowledge_words_insert AFTER INSERT ON knowledge_chunks BEGIN
    INSERT INTO knowledge_words (rowid, scope, terms)
    VALUES (new.id, new.scope, coalesce(new.terms, new.text));
END;
CREATE TRIGGER knowledge_words_delete AFTER DELETE ON knowledge_chunks BEGIN
    INSERT INTO knowledge_words (knowledge_words, rowid, scope, terms)
    VALUES ('delete', old.id, old.scope, coalesce(old.terms, old.text));
END;
CREATE TABLE knowledge_vectors (
    id       INTEGER NOT NULL PRIMARY KEY,
    chunk_id INTEGER NOT NULL REFERENCES knowledge_chunks (id) ON DELETE CASCADE,
    model    TEXT    NOT NULL,
    vector   BLOB,  -- little-endian float32, of length 1; none: the model refused the text
    UNIQUE (chunk_id, model)
) STRICT;
CREATE TABLE knowledge_uses (
    guild_id   INTEGER NOT NULL,
    channel_id INTEGER NOT NULL,  -- 0: wherever nothing else is chosen for the channel
    context_id INTEGER NOT NULL REFERENCES knowledge_contexts (id) ON DELETE CASCADE,
    PRIMARY KEY (guild_id, channel_id, context_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX knowledge_uses_by_context ON knowledge_uses (context_id);
CREATE TABLE unfinished_replies (
    message_id       INTEGER PRIMARY KEY,
    guild_id         INTEGER NOT NULL,      -- 0: direct messages
    channel_id       INTEGER NOT NULL,
    member_id        INTEGER NOT NULL,      -- Discord user who asked
    asked_message_id INTEGER NOT NULL,
    turn_id          INTEGER NOT NULL,
    at               TEXT    NOT NULL
) STRICT;
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
CREATE TABLE opt_outs (
    guild_id  INTEGER NOT NULL,  -- 0: direct messages
    member_id INTEGER NOT NULL,
    at        TEXT    NOT NULL,
    PRIMARY KEY (guild_id, member_id)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE "services" (
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
CREATE TABLE mcp_listings (
    guild_id INTEGER NOT NULL,  -- 0: the operator's servers
    name     TEXT    NOT NULL,
    reached  TEXT    NOT NULL,  -- digest of where it lies: elsewhere, these are not its tools
    tools    TEXT    NOT NULL,  -- JSON, see tools/mcp/remembering.py
    PRIMARY KEY (guild_id, name)
) STRICT;
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
INSERT INTO mcp_servers VALUES (3, 10, 'wiki', 'https://mcp.example/mcp', 'sealed token', 1, 0, 0, 30, '2026-05-04T03:02:01.000000+00:00');
INSERT INTO knowledge_contexts VALUES (4, 10, 'House rules', 'house rules', 30, '2026-05-04T03:02:01.000000+00:00', NULL, 0);
INSERT INTO knowledge_documents VALUES (5, 4, 10, NULL, 'rules.md', '0000000000000000000000000000000000000000000000000000000000000000', 'attachment', 'https://discord.example/1', 61, 61, 2, 30, '2026-05-04T03:02:01.000000+00:00', 1);
INSERT INTO knowledge_documents VALUES (6, 4, 10, 31, 'message', '1111111111111111111111111111111111111111111111111111111111111111', 'message', '', 26, 26, 1, 30, '2026-05-04T03:02:01.000000+00:00', 1);
INSERT INTO knowledge_chunks VALUES (10, 6, 0, 0, 6, 0, NULL, 'g10c4', 'The laundry costs a euro.', NULL);
INSERT INTO knowledge_chunks VALUES (8, 5, 0, 0, 6, 0, NULL, 'g10c4', 'Quiet hours begin at ten in the evening.', NULL);
INSERT INTO knowledge_chunks VALUES (9, 5, 1, 6, 10, 41, NULL, 'g10c4', 'Bins: Tuesday mornings.', NULL);
INSERT INTO knowledge_vectors VALUES (1, 8, 'minilm', X'0000803F0000000000000000');
INSERT INTO knowledge_uses VALUES (10, 0, 4);
INSERT INTO unfinished_replies VALUES (60, 10, 20, 30, 59, 123456789, '2026-05-04T03:02:01.000000+00:00');
INSERT INTO usage VALUES ('2999-01-01', 10, 20, 30, 'm', 0, 1, 1, 2, 0, 900, 300, 80, 1, 2, 700, 4000, 1500);
INSERT INTO usage_warnings VALUES (10, '2999-01-01');
INSERT INTO watermarks VALUES (20, 10, 52);
INSERT INTO opt_outs VALUES (10, 32, '2026-05-04T03:02:01.000000+00:00');
INSERT INTO reminders VALUES (2, 10, 20, 30, 58, 'water the plants', '2999-01-01T09:00:00.000000+00:00', '2999-01-01T09:00:00.000000+00:00', 0, '2026-05-04T03:02:01.000000+00:00');
INSERT INTO time_zones VALUES (10, 30, 'Europe/Berlin');
INSERT INTO services VALUES (10, 'embeddings', 'openai', 'https://embed.example/v1', 'minilm', NULL, 0, 30, '2026-05-04T03:02:01.000000+00:00');
INSERT INTO services VALUES (10, 'search', 'searxng', 'https://search.example', '', 'sealed key', 0, 30, '2026-05-04T03:02:01.000000+00:00');
INSERT INTO mcp_listings VALUES (10, 'wiki', '0a1b2c3d', '[{"name":"look_up"}]');
PRAGMA user_version = 13;
COMMIT;
