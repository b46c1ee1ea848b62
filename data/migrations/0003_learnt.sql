-- 0003: switches that an endpoint and model turned out to need.
--
-- Reason: what a server's errors taught must not be learnt anew from every turn, and must stay
-- apart from what admins set: theirs wins, and taking it back brings the learnt value back.

BEGIN IMMEDIATE;

ALTER TABLE verdicts ADD COLUMN learnt TEXT NOT NULL DEFAULT '{}';  -- JSON: values by name

PRAGMA user_version = 3;

COMMIT;
