-- name: todo_lists
SELECT {columns} FROM todo_lists WHERE session_id = :session ORDER BY updated_at DESC, agent, source;

-- name: todo_revision
SELECT {columns} FROM todo_revisions WHERE session_id = :session AND agent = :agent AND source = :source AND n = :n;

-- name: todo_revisions
SELECT {columns} FROM todo_revisions WHERE session_id = :session AND agent = :agent AND source = :source
ORDER BY n DESC LIMIT :most;

-- name: todo_revisions_of_session
SELECT {columns} FROM todo_revisions WHERE session_id = :session ORDER BY agent, source, n DESC;

-- name: turns_since
SELECT COUNT(*) FROM turns WHERE session_id = :session AND started_at > :after;
