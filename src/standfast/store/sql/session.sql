-- name: project_by_identity
SELECT {columns} FROM projects WHERE identity = :identity;

-- name: session_by_client
SELECT {columns} FROM sessions WHERE client = :client AND client_session_id = :client_session_id;

-- name: sessions_recent
SELECT {columns} FROM sessions ORDER BY updated_at DESC, id DESC LIMIT :most;

-- name: turn_active
SELECT {columns} FROM turns WHERE session_id = :session AND status = 'active';

-- name: turn_by_client
SELECT {columns} FROM turns WHERE session_id = :session AND client_turn_id = :client_turn_id
ORDER BY started_at DESC, id DESC LIMIT 1;

-- name: turns_of_connection
SELECT {columns} FROM turns WHERE session_id = :session AND process = :process AND status = 'active';

-- name: entry_ancestry
WITH RECURSIVE line (entry_id, parent) AS (
    SELECT entry_id, parent FROM entries WHERE session_id = :session AND entry_id = :entry
    UNION ALL
    SELECT e.entry_id, e.parent FROM entries e JOIN line l ON e.entry_id = l.parent WHERE e.session_id = :session
)
SELECT entry_id FROM line;

-- name: entries_of_session
SELECT {columns} FROM entries WHERE session_id = :session ORDER BY created_at, entry_id;

-- name: entries_count
SELECT COUNT(*) FROM entries WHERE session_id = :session;

-- name: settings_of
SELECT {columns} FROM settings WHERE scope = '' OR scope = :scope ORDER BY scope;

-- name: messages_pending
SELECT {columns} FROM messages WHERE session_id = :session AND status = 'pending' ORDER BY created_at, id;

-- name: messages_of_other_boots
SELECT {columns} FROM messages WHERE status = 'pending' AND boot <> :boot ORDER BY id;

-- name: sessions_in_plan_mode
SELECT {columns} FROM sessions WHERE mode = 'plan' ORDER BY id;
