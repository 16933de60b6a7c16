-- Schema 2. What resume view a model was told last, and todo lists with their revisions.

ALTER TABLE sessions ADD COLUMN view_shown TEXT NOT NULL DEFAULT '';

CREATE TABLE todo_revisions (
    id         TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id),
    agent      TEXT NOT NULL,
    source     TEXT NOT NULL,
    n          INTEGER NOT NULL,
    list       INTEGER NOT NULL,
    entry      TEXT,
    turn_id    TEXT REFERENCES turns (id),
    provenance TEXT NOT NULL CHECK (provenance IN ('written', 'captured', 'restored', 'inherited')),
    actor      TEXT NOT NULL,
    items      TEXT NOT NULL,
    flags      TEXT NOT NULL,
    at         INTEGER NOT NULL,
    UNIQUE (session_id, agent, source, n)
);

CREATE TABLE todo_lists (
    session_id  TEXT NOT NULL REFERENCES sessions (id),
    agent       TEXT NOT NULL,
    source      TEXT NOT NULL,
    revision_id TEXT REFERENCES todo_revisions (id),
    revisions   INTEGER NOT NULL,
    highest     INTEGER NOT NULL,
    nudged      INTEGER NOT NULL,
    reminded_at INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (session_id, agent, source)
);
