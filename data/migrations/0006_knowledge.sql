-- 0006: knowledge contexts, their documents, and two indexes over the pieces of their text.
--
-- Reason: a guild lets the bot answer from documents of its own. Pieces (chunks) are found by
-- their words (knowledge_words) and, where an embeddings endpoint is there, by their sense
-- (knowledge_vectors). What belongs to a piece goes with it, by foreign key or trigger, so that
-- no deletion can leave a trace of it in an index.
--
-- A document arrives in several transactions; until the last, and again from the moment on in
-- which it is deleted, it is not ready, and no query sees it.

BEGIN IMMEDIATE;

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

-- AUTOINCREMENT: the number of a deleted chunk is never given again, so that what a query has
-- in hand cannot turn into another guild's text.
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

-- Marks belong to words: without them, Hindi falls apart.
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

PRAGMA user_version = 6;

COMMIT;
