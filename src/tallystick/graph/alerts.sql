-- What stands beside the table `alerts` of schema.sql. The hash chain has the reference's names and formulas, so that its
-- tooling can check it; every row is made from a sealed `alert` step, and alert_steps says from which one.

-- The end of the chain, written in the transaction that appends to it.
CREATE TABLE alert_chain_head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    head_hash TEXT NOT NULL,
    count INTEGER NOT NULL                  -- rows in the chain
);

-- What the reference keeps of alerts that it prunes. Ours are never pruned: these stay empty.
CREATE TABLE alert_retention_checkpoints (
    checkpoint_id INTEGER PRIMARY KEY AUTOINCREMENT,
    prev_checkpoint_hash TEXT NOT NULL,
    checkpoint_hash TEXT NOT NULL,
    previous_alert_head TEXT NOT NULL,
    previous_alert_count INTEGER NOT NULL,
    pruned_count INTEGER NOT NULL,
    highest_pruned_alert_id INTEGER NOT NULL,
    cutoff_ms INTEGER NOT NULL,
    pruned_entries_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE TABLE alert_retention_head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    head_hash TEXT NOT NULL,
    count INTEGER NOT NULL
);

CREATE TABLE alert_steps (
    hash TEXT PRIMARY KEY,                  -- of the sealed step
    session_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    alert_id INTEGER NOT NULL,
    inode INTEGER NOT NULL                  -- of the journal when it was read: an erasure makes another file
) WITHOUT ROWID;
CREATE UNIQUE INDEX alert_steps_alert ON alert_steps (alert_id);
CREATE INDEX alert_steps_session ON alert_steps (session_id, inode);

-- What people said of alerts: `feedback` steps of the recorder's own session.
CREATE TABLE alert_reviews (
    hash TEXT PRIMARY KEY,                  -- of the sealed step
    session_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    feedback_id INTEGER NOT NULL,           -- a digest of the step's hash, as a whole number
    alert_session TEXT NOT NULL,            -- the step of the alert
    alert_n INTEGER NOT NULL,
    verdict TEXT NOT NULL,                  -- acknowledged, confirmed, false-positive, false-negative
    human_verdict TEXT,                     -- the reference's word: agree, allow, deny; NULL for an acknowledgement
    action TEXT NOT NULL,
    rule_id TEXT NOT NULL,
    tool_use_id TEXT,
    path TEXT,
    note TEXT,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX alert_reviews_alert ON alert_reviews (alert_session, alert_n, created_at);

CREATE VIEW human_feedback AS
SELECT
    feedback_id,
    'alert:' || alert_session || ':' || alert_n AS event_key,
    tool_use_id,
    alert_session AS session_id,
    action AS gensee_action,
    human_verdict,
    replace(verdict, '-', '_') AS label,
    rule_id,
    path,
    note,
    created_at
FROM alert_reviews
WHERE human_verdict IS NOT NULL;
