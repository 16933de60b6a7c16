-- Schema 1. Portable text: BLOB and INTEGER are replaced by the dialect's own words where they differ.
-- SQL stores and selects; it decides nothing. The CHECK words repeat the domain's tables, and a test compares.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE projects (
    id         TEXT PRIMARY KEY,
    identity   TEXT NOT NULL UNIQUE,
    plan_seq   INTEGER NOT NULL,
    created_at INTEGER NOT NULL
);

CREATE TABLE sessions (
    id                TEXT PRIMARY KEY,
    status            TEXT NOT NULL CHECK (status IN ('open', 'closed')),
    client            TEXT NOT NULL,
    client_session_id TEXT NOT NULL,
    project_id        TEXT REFERENCES projects (id),
    checkout          TEXT,
    kind              TEXT NOT NULL CHECK (kind IN ('interactive', 'scheduled', 'ephemeral', 'configuration')),
    mode              TEXT NOT NULL CHECK (mode IN ('agent', 'plan')),
    permission_mode   TEXT NOT NULL CHECK (permission_mode IN ('client', 'ask', 'accept_edits', 'auto')),
    model             TEXT NOT NULL,
    attended          INTEGER NOT NULL,
    own_plan_mode     INTEGER NOT NULL,
    reports_turns     INTEGER NOT NULL,
    shared            INTEGER NOT NULL,
    process           TEXT NOT NULL,
    former_processes  TEXT NOT NULL,
    parent_id         TEXT REFERENCES sessions (id),
    fork_entry        TEXT,
    leaf_entry        TEXT,
    marker_shown      TEXT NOT NULL,
    marker_due        INTEGER NOT NULL,
    compactions       INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    UNIQUE (client, client_session_id)
);
CREATE INDEX sessions_by_update ON sessions (updated_at, id);

CREATE TABLE turns (
    id             TEXT PRIMARY KEY,
    session_id     TEXT NOT NULL REFERENCES sessions (id),
    status         TEXT NOT NULL CHECK (status IN ('active', 'ended')),
    source         TEXT NOT NULL CHECK (source IN ('prompt', 'message', 'connection')),
    process        TEXT NOT NULL,
    client_turn_id TEXT NOT NULL,
    stop_reason    TEXT CHECK (stop_reason IN ('completed', 'aborted', 'error', 'lost')),
    started_at     INTEGER NOT NULL,
    ended_at       INTEGER
);
CREATE UNIQUE INDEX turns_one_active ON turns (session_id) WHERE status = 'active';
CREATE INDEX turns_by_client ON turns (session_id, client_turn_id);

CREATE TABLE entries (
    session_id TEXT NOT NULL REFERENCES sessions (id),
    entry_id   TEXT NOT NULL,
    parent     TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (session_id, entry_id)
);

CREATE TABLE plans (
    id              TEXT PRIMARY KEY,
    number          INTEGER NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'expired', 'interrupted')),
    version         INTEGER NOT NULL,
    project_id      TEXT NOT NULL REFERENCES projects (id),
    session_id      TEXT NOT NULL REFERENCES sessions (id),
    turn_id         TEXT REFERENCES turns (id),
    tool_call_id    TEXT,
    origin          TEXT NOT NULL CHECK (origin IN ('submitted', 'adopted', 'reoffered')),
    title           TEXT NOT NULL,
    question        TEXT NOT NULL,
    sha256          TEXT NOT NULL,
    size            INTEGER NOT NULL,
    tasks           INTEGER NOT NULL,
    checkout        TEXT NOT NULL,
    path            TEXT NOT NULL,
    permission_mode TEXT CHECK (permission_mode IN ('client', 'ask', 'accept_edits', 'auto')),
    evidence        TEXT NOT NULL CHECK (evidence IN ('none', 'any', 'command', 'human')),
    resolver        TEXT,
    note            TEXT,
    error_code      TEXT,
    supersedes      TEXT REFERENCES plans (id),
    replaces        TEXT REFERENCES plans (id),
    boot            TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER NOT NULL,
    resolved_at     INTEGER,
    UNIQUE (project_id, number)
);
CREATE UNIQUE INDEX plans_one_pending ON plans (session_id) WHERE status = 'pending';
CREATE INDEX plans_due ON plans (expires_at) WHERE status = 'pending';
CREATE INDEX plans_by_session ON plans (session_id, created_at);
CREATE INDEX plans_by_number ON plans (number);

CREATE TABLE plan_texts (
    plan_id   TEXT PRIMARY KEY REFERENCES plans (id),
    markdown  BLOB NOT NULL,
    checklist TEXT NOT NULL
);

CREATE TABLE executions (
    id         TEXT PRIMARY KEY,
    plan_id    TEXT NOT NULL REFERENCES plans (id),
    session_id TEXT NOT NULL REFERENCES sessions (id),
    status     TEXT NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'interrupted')),
    turn_id    TEXT REFERENCES turns (id),
    claimed_by TEXT,
    boot       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    claimed_at INTEGER,
    ended_at   INTEGER
);
CREATE UNIQUE INDEX executions_one_live ON executions (session_id) WHERE status IN ('queued', 'running');
CREATE INDEX executions_by_plan ON executions (plan_id);

CREATE TABLE trackers (
    plan_id    TEXT NOT NULL REFERENCES plans (id),
    session_id TEXT NOT NULL REFERENCES sessions (id),
    status     TEXT NOT NULL CHECK (status IN ('active', 'complete', 'superseded', 'abandoned')),
    entry      TEXT,
    on_branch  INTEGER NOT NULL,
    states     TEXT NOT NULL,
    begun      TEXT NOT NULL,
    ticks      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (session_id, plan_id)
);
CREATE UNIQUE INDEX trackers_one_open ON trackers (session_id) WHERE status IN ('active', 'complete');
CREATE INDEX trackers_by_plan ON trackers (plan_id);

CREATE TABLE ticks (
    id         TEXT PRIMARY KEY,
    plan_id    TEXT NOT NULL REFERENCES plans (id),
    session_id TEXT NOT NULL REFERENCES sessions (id),
    n          INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    action     TEXT NOT NULL CHECK (action IN
               ('begin', 'tick', 'await', 'confirm', 'untick', 'resolve_done', 'resolve_open', 'carry')),
    entry      TEXT,
    turn_id    TEXT REFERENCES turns (id),
    actor      TEXT NOT NULL,
    note       TEXT,
    source     TEXT,
    at         INTEGER NOT NULL,
    UNIQUE (session_id, plan_id, n)
);
CREATE INDEX ticks_by_position ON ticks (session_id, plan_id, position, n);

CREATE TABLE evidence (
    id         TEXT PRIMARY KEY,
    tick_id    TEXT NOT NULL REFERENCES ticks (id),
    kind       TEXT NOT NULL CHECK (kind IN ('reported', 'human', 'commit', 'url', 'artifact')),
    value      TEXT NOT NULL,
    vouched_by TEXT NOT NULL CHECK (vouched_by IN ('agent', 'person', 'host')),
    at         INTEGER NOT NULL
);
CREATE INDEX evidence_by_tick ON evidence (tick_id);

CREATE TABLE messages (
    id         TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id),
    status     TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'cancelled')),
    kind       TEXT NOT NULL CHECK (kind IN ('verdict', 'remark')),
    plan_id    TEXT REFERENCES plans (id),
    text       TEXT NOT NULL,
    boot       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    settled_at INTEGER
);
CREATE INDEX messages_pending ON messages (session_id, created_at) WHERE status = 'pending';

CREATE TABLE intents (
    id         TEXT PRIMARY KEY,
    status     TEXT NOT NULL CHECK (status IN ('intended', 'kept', 'dropped', 'done')),
    plan_id    TEXT NOT NULL,
    checkout   TEXT NOT NULL,
    directory  TEXT NOT NULL,
    path       TEXT NOT NULL,
    temp_name  TEXT NOT NULL,
    sha256     TEXT NOT NULL,
    size       INTEGER NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE INDEX intents_open ON intents (created_at) WHERE status IN ('intended', 'kept');

CREATE TABLE settings (
    scope  TEXT NOT NULL,
    key    TEXT NOT NULL,
    value  TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
);

CREATE TABLE receipts (
    actor     TEXT NOT NULL,
    operation TEXT NOT NULL,
    key       TEXT NOT NULL,
    id        TEXT NOT NULL,
    digest    TEXT NOT NULL,
    answer    TEXT NOT NULL,
    kept      INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (actor, operation, key)
);
CREATE INDEX receipts_by_age ON receipts (at) WHERE kept = 0;

CREATE TABLE events (
    seq        SERIAL_KEY,
    aggregate  TEXT NOT NULL,
    n          INTEGER NOT NULL,
    session_id TEXT,
    kind       TEXT NOT NULL,
    at         INTEGER NOT NULL,
    actor      TEXT NOT NULL,
    boot       TEXT NOT NULL,
    data       TEXT NOT NULL,
    patch      TEXT NOT NULL,
    digest     TEXT NOT NULL,
    hash       TEXT NOT NULL,
    UNIQUE (aggregate, n)
);
CREATE INDEX events_by_session ON events (session_id, seq);
