-- graph.db, version 1. A projection of the journals: every row can be made again from them (`tally rebuild`).
--
-- Times named *_at are whole milliseconds since 1970; `at_us` is microseconds; the others are text as the journals write it.
-- Ids come from the session's id and the step's number, never from the order of rows: a rebuilt index has the same ones.

CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL,
    root_pid INTEGER NOT NULL DEFAULT 0,
    first_event_at INTEGER NOT NULL,
    last_event_at INTEGER,
    flagged INTEGER NOT NULL DEFAULT 0,
    source_session TEXT,                    -- the agent's own id of the session
    kind TEXT NOT NULL,                     -- root, child, continuation, fork
    parent_session TEXT,                    -- the parent step that entry 0 seals
    parent_step TEXT,                       -- its hash
    claimed_session TEXT,                   -- or, where none is sealed, what the agent says: its own id of the parent session
    claimed_step TEXT,                      -- and of the step
    started TEXT,
    last TEXT,
    model TEXT,                             -- the newest one named
    cwd TEXT,
    title TEXT,                             -- the first line of the first prompt
    title_rank INTEGER NOT NULL,            -- 2: what a human asked; 1: the task that a parent gave; 0: other text
    status TEXT NOT NULL,                   -- active, merged, discarded, completed, failed
    request INTEGER,                        -- n of the newest prompt
    steps INTEGER NOT NULL,                 -- without revised ones, second witnesses and sightings
    requests INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    tokens_input INTEGER NOT NULL,
    tokens_output INTEGER NOT NULL,
    tokens_cache_read INTEGER NOT NULL,
    tokens_cache_write INTEGER NOT NULL,
    tokens_reasoning INTEGER NOT NULL,
    size INTEGER NOT NULL,                  -- entries projected
    last_hash TEXT,                         -- of the last one
    read_to INTEGER NOT NULL,               -- the byte offset after it
    text_size INTEGER NOT NULL,             -- entries whose text is in `search`
    inode INTEGER NOT NULL,                 -- of the journal's file: an erasure replaces the file
    schema INTEGER NOT NULL,                -- the version of the projection that made these rows
    first_id INTEGER NOT NULL UNIQUE        -- step n of this session has the id first_id + n
);
CREATE INDEX sessions_newest ON sessions (last_event_at);
CREATE INDEX sessions_source ON sessions (agent_id, source_session);
CREATE INDEX sessions_source_id ON sessions (source_session);
CREATE INDEX sessions_unsearchable ON sessions (session_id) WHERE text_size < size;

CREATE TABLE requests (
    request_id TEXT PRIMARY KEY,            -- SESSION:n of the prompt
    session_id TEXT NOT NULL,
    original_user_prompt TEXT,              -- cut at 65,536 characters, as is final_response
    final_response TEXT,                    -- the last text of the agent
    events TEXT,
    file_accessed_rate FLOAT NOT NULL DEFAULT 0,
    network_rate FLOAT NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    completed_at INTEGER,                   -- NULL while it is its session's newest and the session is open
    total_tokens INTEGER NOT NULL,
    n INTEGER NOT NULL,
    hash TEXT NOT NULL,
    last_at INTEGER NOT NULL,               -- of the newest step that belongs to it
    steps INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL,
    failures INTEGER NOT NULL
);
CREATE INDEX requests_session ON requests (session_id, n);
CREATE INDEX requests_created ON requests (created_at);

CREATE TABLE steps (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    hash TEXT NOT NULL,
    type TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    at_us INTEGER NOT NULL,                 -- when it happened, as well as that is known: what lists are ordered by
    ts TEXT,                                -- when it happened, as its source says
    recorded TEXT,
    source TEXT,
    source_id TEXT,
    corr TEXT,
    parent INTEGER,                         -- n of the enclosing step
    request INTEGER,                        -- n of the prompt it belongs to; a prompt's own n
    tool TEXT,
    success INTEGER,
    duration_ms INTEGER,
    model TEXT,
    tokens_input INTEGER,
    tokens_output INTEGER,
    tokens_cache_read INTEGER,
    tokens_cache_write INTEGER,
    tokens_reasoning INTEGER,
    agent_role TEXT,
    revises INTEGER,                        -- n of the entry whose value this one replaces
    revised_by INTEGER,                     -- n of the entry that replaces this one's value
    corroborates INTEGER,                   -- n of the same event as another source saw it
    offset INTEGER NOT NULL                 -- where its line begins in the journal
);
CREATE INDEX steps_hash ON steps (hash);
CREATE INDEX steps_source ON steps (source_id) WHERE source_id IS NOT NULL;
CREATE INDEX steps_newest ON steps (at_us);
CREATE INDEX steps_agent ON steps (agent_id, at_us);
CREATE INDEX steps_type ON steps (type, at_us);
CREATE INDEX steps_tool ON steps (tool, at_us) WHERE tool IS NOT NULL;
CREATE INDEX steps_failed ON steps (at_us) WHERE success = 0;

-- What connects sessions: the step that says so, and the step of another session it follows from.
CREATE TABLE session_edges (
    session_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    position INTEGER NOT NULL,              -- among the parents of that step
    kind TEXT NOT NULL,                     -- of entry 0 the session's kind, else the step's type: merge, subagent_end…
    parent_session TEXT,
    parent_step TEXT,
    claimed_session TEXT,                   -- the agent's own ids, where the parent is a claim
    claimed_step TEXT,
    PRIMARY KEY (session_id, n, position)
) WITHOUT ROWID;
CREATE INDEX session_edges_parent ON session_edges (parent_session);

-- One document a step, rowid = steps.id. It keeps no text: snippets are made from the journal. A single document cannot be
-- taken out of such an index, so what must go takes the whole index with it, and the journals fill it again.
CREATE VIRTUAL TABLE search USING fts5 (
    output, text, thinking, args, prompt, error,
    content = '', tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO search (search, rank) VALUES ('hashsize', 8000000);  -- bytes held back before a piece of the index is written
