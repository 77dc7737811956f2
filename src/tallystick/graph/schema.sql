-- graph.db, version 5. A projection of the journals: every row can be made again from them (`tally rebuild`).
--
-- Times named *_at are whole milliseconds since 1970; `at_us` is microseconds; the others are text as the journals write it.
-- Ids come from the session's id and the step's number, never from the order of rows: a rebuilt index has the same ones.
-- Where an id is no step's, it is a digest of what the row stands for, as a whole number. Tables and columns that the
-- reference has (sessions, requests, agent_events, system_events, artifacts, relations, alerts, artifact_*) keep its names.

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
    title TEXT,                             -- what the first prompt asked, in one line
    title_rank INTEGER NOT NULL,            -- 2: what a human asked; 1: the task that a parent gave; 0: other text
    status TEXT NOT NULL,                   -- active (someone is there), merged, discarded, completed, failed
    goal TEXT,                              -- what it is for, in the words of whoever began it
    run_id TEXT,                            -- the newest run that a step names
    workspace TEXT,                         -- what its source calls the place it works on, where that is not cwd
    closed_at INTEGER,                      -- when it ended; NULL if no end was reported
    request INTEGER,                        -- n of the newest prompt
    folder TEXT,                            -- where its calls run, as last said
    model_call INTEGER,                     -- n of the newest
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
    rules TEXT NOT NULL,                    -- the digest of the rules by which these rows were made
    first_id INTEGER NOT NULL UNIQUE        -- step n of this session has the id first_id + n
);
CREATE INDEX sessions_newest ON sessions (last_event_at);
CREATE INDEX sessions_source ON sessions (agent_id, source_session);
CREATE INDEX sessions_source_id ON sessions (source_session);
CREATE INDEX sessions_unsearchable ON sessions (session_id) WHERE text_size < size;

-- What models used in a session, on each day. The empty model stands for steps that name none.
CREATE TABLE usage (
    session_id TEXT NOT NULL,
    model TEXT NOT NULL,
    day INTEGER NOT NULL,                   -- counted from 1970 (UTC): prices change
    calls INTEGER NOT NULL,                 -- steps with tokens
    tokens_input INTEGER NOT NULL,
    tokens_output INTEGER NOT NULL,
    tokens_cache_read INTEGER NOT NULL,
    tokens_cache_write INTEGER NOT NULL,
    tokens_reasoning INTEGER NOT NULL,
    tokens_cache_write_1h INTEGER NOT NULL, -- those of tokens_cache_write that stay in the cache for an hour
    PRIMARY KEY (session_id, model, day)
) WITHOUT ROWID;

-- Labelled marks at positions of a journal: steps of type checkpoint, and compactions, which mark themselves.
CREATE TABLE checkpoints (
    checkpoint_id INTEGER PRIMARY KEY,      -- its step's id
    session_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    hash TEXT NOT NULL,                     -- what people call it by: that of its step
    trigger TEXT NOT NULL,                  -- manual, step_complete, policy_applied, session_start, compaction, phase
    label TEXT,
    position INTEGER NOT NULL,              -- the entry that it marks
    position_hash TEXT NOT NULL,            -- and its hash, as the checkpoint says it
    run_id TEXT,
    at_us INTEGER NOT NULL,
    git TEXT,                               -- JSON: head, ref, dirty
    tokens TEXT,                            -- JSON: what the session had used by then, as the checkpoint says it
    config_fingerprint TEXT,
    metadata TEXT,                          -- JSON
    replaced_by INTEGER,                    -- n of the checkpoint that took its place when there were too many
    is_pruned INTEGER NOT NULL              -- 1: retention took what it said; its position stays
);
CREATE INDEX checkpoints_session ON checkpoints (session_id, n);
CREATE INDEX checkpoints_run ON checkpoints (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX checkpoints_hash ON checkpoints (hash);

CREATE TABLE requests (
    request_id INTEGER PRIMARY KEY,         -- the id of the prompt's step; of the session's first step for what no human asked
    session_id TEXT NOT NULL,
    original_user_prompt TEXT,              -- cut at 65,536 characters, as is final_response; NULL for what no human asked
    final_response TEXT,                    -- the last text of the agent
    events TEXT,
    file_accessed_rate FLOAT NOT NULL DEFAULT 0,  -- file intents a minute, over at least one minute
    network_rate FLOAT NOT NULL DEFAULT 0,  -- network intents a minute, likewise
    created_at INTEGER NOT NULL,
    completed_at INTEGER,                   -- NULL while it is its session's newest and the session is open
    total_tokens INTEGER NOT NULL,
    n INTEGER NOT NULL,
    hash TEXT NOT NULL,
    last_at INTEGER NOT NULL,               -- of the newest step that belongs to it
    steps INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    file_intents INTEGER NOT NULL,
    network_intents INTEGER NOT NULL,
    kind TEXT,                              -- prompt, queued, command, plan, answer, task, hook, schedule; continuation: of the session before
    is_erased INTEGER NOT NULL              -- 1: someone asked, and the words were erased
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
    offset INTEGER NOT NULL,                -- where its line begins in the journal
    meta TEXT                               -- JSON: its other members, bounded; view session_events has each as a column
);
CREATE INDEX steps_hash ON steps (hash);
CREATE INDEX steps_source ON steps (source_id) WHERE source_id IS NOT NULL;
CREATE INDEX steps_newest ON steps (at_us);
CREATE INDEX steps_agent ON steps (agent_id, at_us);
CREATE INDEX steps_type ON steps (type, at_us);
CREATE INDEX steps_tool ON steps (tool, at_us) WHERE tool IS NOT NULL;
CREATE INDEX steps_corr ON steps (corr) WHERE type = 'tool_call' AND corr IS NOT NULL;
CREATE INDEX steps_deciding ON steps (corr) WHERE corr IS NOT NULL AND type IN ('permission', 'decision', 'bash_security',
    'security_static', 'security_triage', 'security_supervisor', 'security_decision');
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
CREATE INDEX session_edges_claimed ON session_edges (claimed_session) WHERE claimed_session IS NOT NULL;

-- What agents did and what was observed of it ------------------------------------------------------------------------

CREATE TABLE agent_events (
    event_id INTEGER PRIMARY KEY,           -- its step's id; of a file intent a digest of step and position, below zero
    pid INTEGER NOT NULL DEFAULT 0,
    request_id INTEGER NOT NULL,
    ts INTEGER NOT NULL,
    source TEXT NOT NULL,                   -- the agent
    type TEXT NOT NULL,                     -- PreToolUse, PostToolUse, PermissionRequest, file_intent, else the step's type
    cwd TEXT NOT NULL,
    permission_mode TEXT,
    tool_name TEXT,
    tool_input TEXT,                        -- JSON: what names the effect; all of it is in the journal
    tool_response TEXT,                     -- JSON, bounded
    tool_use_id TEXT,
    step_id INTEGER NOT NULL                -- of the call for a file intent, else event_id
);
CREATE INDEX agent_events_request ON agent_events (request_id, ts);
CREATE INDEX agent_events_call ON agent_events (tool_use_id) WHERE tool_use_id IS NOT NULL AND type <> 'file_intent';
CREATE INDEX agent_events_intents ON agent_events (step_id) WHERE type = 'file_intent';

CREATE TABLE system_events (
    event_id INTEGER PRIMARY KEY,           -- its step's id
    pid INTEGER NOT NULL DEFAULT 0,
    request_id INTEGER NOT NULL,            -- of the call that caused it, else the session's own
    ts INTEGER NOT NULL,
    source TEXT NOT NULL,
    type TEXT NOT NULL,                     -- create, modify, delete, rename…, else the step's type
    cwd TEXT NOT NULL,
    args TEXT                               -- JSON
);
CREATE INDEX system_events_request ON system_events (request_id, ts);

-- What calls meant to do. Nothing here says that it happened, but `outcome`.
CREATE TABLE intents (
    step_id INTEGER NOT NULL,               -- of the call
    k INTEGER NOT NULL,                     -- position in the call
    domain TEXT NOT NULL,                   -- file, network, process, privilege, unknown
    operation TEXT NOT NULL,
    target TEXT NOT NULL,
    is_known INTEGER NOT NULL,              -- 0: the target is a pattern, or only a part of it is known
    command INTEGER NOT NULL,               -- which simple command of the call
    words TEXT,                             -- JSON: the words that it comes from, where they are not the target
    confidence REAL NOT NULL,               -- that it happened if the call succeeded
    outcome TEXT NOT NULL,                  -- intended, confirmed, denied, failed, uncertain
    PRIMARY KEY (step_id, k)
) WITHOUT ROWID;
CREATE INDEX intents_open ON intents (step_id) WHERE outcome = 'intended';

-- Which text a script had that a call ran: that of the step which wrote it, in the same session.
CREATE TABLE scripts (
    step_id INTEGER NOT NULL,               -- of the call
    path TEXT NOT NULL,
    source_step INTEGER NOT NULL,
    PRIMARY KEY (step_id, path)
) WITHOUT ROWID;

-- Who touched what and when: confirmed intents and observed effects. Versions and relations are made of these.
CREATE TABLE accesses (
    thing INTEGER NOT NULL,                 -- a digest of kind and URI
    at_us INTEGER NOT NULL,
    step_id INTEGER NOT NULL,               -- of the call, or of the observed effect
    k INTEGER NOT NULL,
    operation TEXT NOT NULL,
    actor TEXT NOT NULL,                    -- agent_event, system_event
    request_id INTEGER NOT NULL,
    confidence REAL NOT NULL,
    digest TEXT,                            -- sha256:… of the whole content, where it is known
    size_bytes INTEGER,
    shown INTEGER NOT NULL,                 -- 1: what was read reached the model
    result INTEGER,                         -- n of the step that says so
    cause INTEGER,                          -- of an observed effect: the call that it is put down to, by content or time
    cause_confidence REAL,                  -- 0: by none of its session's calls; NULL: there were none to look at
    artifact_id INTEGER,                    -- the version that it read, made or removed; NULL until that is settled
    evidence TEXT NOT NULL,                 -- JSON
    PRIMARY KEY (thing, at_us, step_id, k)
) WITHOUT ROWID;
CREATE UNIQUE INDEX accesses_step ON accesses (step_id, k);

CREATE TABLE things (
    thing INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    uri TEXT NOT NULL
);

-- What one access read went into what another one wrote.
CREATE TABLE flows (
    target_step INTEGER NOT NULL,
    target_k INTEGER NOT NULL,
    source_step INTEGER NOT NULL,
    source_k INTEGER NOT NULL,
    confidence REAL NOT NULL,
    via TEXT NOT NULL,                      -- command, model
    PRIMARY KEY (target_step, target_k, source_step, source_k)
) WITHOUT ROWID;
CREATE INDEX flows_source ON flows (source_step, source_k);

-- Things whose versions and relations are to be made again. Empty between two projections that ended well.
CREATE TABLE unsettled (thing INTEGER PRIMARY KEY);

-- The graph ----------------------------------------------------------------------------------------------------------

CREATE TABLE artifacts (
    artifact_id INTEGER PRIMARY KEY,        -- one version of one thing
    kind TEXT NOT NULL,                     -- file, url, mcp_resource, commit, package, search
    uri TEXT NOT NULL,                      -- file:///absolute/path, file:relative
    digest TEXT NOT NULL DEFAULT '',        -- sha256:…, empty where it is not known
    created_at INTEGER,                     -- when this version was first seen
    updated_at INTEGER,                     -- and last
    metadata TEXT,                          -- JSON
    version INTEGER NOT NULL,               -- 0: as it was found; 1 and up: as agents and others left it
    thing INTEGER NOT NULL,
    made_by INTEGER,                        -- the step that made this version, NULL where that was not seen
    deleted_at INTEGER
);
CREATE INDEX artifacts_uri ON artifacts (kind, uri, digest);
CREATE INDEX artifacts_thing ON artifacts (thing, version);

-- Confirmed edges. No edge joins two versions of one URI: what changed a version consumed the one before.
CREATE TABLE relations (
    relation_id INTEGER PRIMARY KEY,        -- a digest of the five columns that follow
    src_kind TEXT NOT NULL CHECK (src_kind IN ('request', 'agent_event', 'system_event', 'artifact')),
    src_id INTEGER NOT NULL,
    dst_kind TEXT NOT NULL CHECK (dst_kind IN ('request', 'agent_event', 'system_event', 'artifact')),
    dst_id INTEGER NOT NULL,
    relation_type TEXT NOT NULL,            -- produced, modified, deleted, consumed_by, derived_from, caused
    confidence REAL NOT NULL DEFAULT 1,
    evidence TEXT,                          -- JSON
    created_at INTEGER NOT NULL
);
CREATE INDEX relations_src ON relations (src_kind, src_id, dst_kind);  -- the id keeps the five columns unique
CREATE INDEX relations_dst ON relations (dst_kind, dst_id, src_kind);

-- Which version makes one request derive from another: what is behind relations of two requests.
CREATE TABLE links (
    artifact_id INTEGER NOT NULL,
    src_request INTEGER NOT NULL,
    dst_request INTEGER NOT NULL,
    at_us INTEGER NOT NULL,
    confidence REAL NOT NULL,
    PRIMARY KEY (artifact_id, src_request, dst_request)
) WITHOUT ROWID;
CREATE INDEX links_requests ON links (src_request, dst_request);

-- What files held that agents read as orders, that run, or that outlive a session: lineage/registry.py. Secrets were replaced
-- before the step was sealed.
CREATE TABLE artifact_observations (
    observation_id INTEGER PRIMARY KEY,
    artifact_id INTEGER NOT NULL,
    request_id INTEGER,
    agent_event_id INTEGER,
    session_id TEXT,
    digest TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    content_prefix TEXT,
    content_truncated INTEGER NOT NULL DEFAULT 0,
    observed_at INTEGER NOT NULL,
    evidence TEXT
);
CREATE INDEX artifact_observations_event ON artifact_observations (agent_event_id);
CREATE INDEX artifact_observations_artifact ON artifact_observations (artifact_id, digest, observed_at);

CREATE TABLE artifact_risk_tags (
    tag_id INTEGER PRIMARY KEY,
    artifact_id INTEGER NOT NULL,
    digest TEXT NOT NULL,
    rule_id TEXT NOT NULL,
    severity TEXT NOT NULL,
    action TEXT NOT NULL,
    message TEXT NOT NULL,
    path TEXT,
    confidence REAL NOT NULL DEFAULT 1,
    source_request_id INTEGER,
    source_event_id INTEGER,
    source_session_id TEXT,
    observed_at INTEGER NOT NULL,
    evidence TEXT,
    UNIQUE (artifact_id, digest, rule_id, message)
);

-- One row for each URI, over all its versions: what is asked before a call, by kind and URI.
CREATE TABLE artifact_facts (
    kind TEXT NOT NULL,
    uri TEXT NOT NULL,
    current_artifact_id INTEGER,
    current_digest TEXT,
    last_seen_at INTEGER NOT NULL,
    last_modified_at INTEGER,
    last_modified_source TEXT,
    last_modified_request_id INTEGER,
    last_modified_session_id TEXT,
    last_system_event_id INTEGER,
    last_agent_event_id INTEGER,
    recent_unmatched_effect_count INTEGER NOT NULL DEFAULT 0 CHECK (recent_unmatched_effect_count >= 0),
    recent_cross_session_write_count INTEGER NOT NULL DEFAULT 0 CHECK (recent_cross_session_write_count >= 0),
    is_agent_authored INTEGER NOT NULL DEFAULT 0,
    is_unmatched_modified INTEGER NOT NULL DEFAULT 0,
    is_executable INTEGER NOT NULL DEFAULT 0,
    is_memory_artifact INTEGER NOT NULL DEFAULT 0,
    is_persistent_target INTEGER NOT NULL DEFAULT 0,
    is_control_plane INTEGER NOT NULL DEFAULT 0,
    dashboard_visible INTEGER NOT NULL DEFAULT 1,
    risk_level TEXT,
    risk_rule_id TEXT,
    risk_digest TEXT,
    risk_updated_at INTEGER,
    metadata TEXT,
    PRIMARY KEY (kind, uri)
) WITHOUT ROWID;
CREATE INDEX artifact_facts_modified ON artifact_facts (last_modified_at) WHERE last_modified_at IS NOT NULL;

CREATE TABLE alerts (
    alert_id INTEGER PRIMARY KEY AUTOINCREMENT,
    request_id INTEGER,
    entity_kind TEXT CHECK (entity_kind IN ('request', 'agent_event', 'system_event', 'artifact')),
    entity_id INTEGER,
    severity TEXT NOT NULL CHECK (severity IN ('info', 'low', 'medium', 'high', 'critical')),
    action TEXT NOT NULL CHECK (action IN ('allow', 'warn', 'ask', 'block')),
    rule_id TEXT NOT NULL,
    message TEXT NOT NULL,
    path TEXT,
    evidence TEXT,
    created_at INTEGER NOT NULL,
    prev_hash TEXT,
    entry_hash TEXT,
    CHECK ((entity_kind IS NULL) = (entity_id IS NULL))
);
CREATE INDEX alerts_request ON alerts (request_id, created_at);
CREATE INDEX alerts_severity ON alerts (severity, created_at);

-- One document a step, rowid = steps.id. It keeps no text: snippets are made from the journal. A single document cannot be
-- taken out of such an index, so what must go takes the whole index with it, and the journals fill it again.
CREATE VIRTUAL TABLE search USING fts5 (
    output, text, thinking, args, prompt, error,
    content = '', tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO search (search, rank) VALUES ('hashsize', 8000000);  -- bytes held back before a piece of the index is written
