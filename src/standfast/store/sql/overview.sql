-- name: plans_pending_count
SELECT COUNT(*) FROM plans WHERE status = 'pending' AND expires_at > :now;

-- name: trackers_open_of_recent
SELECT {columns} FROM trackers WHERE status IN ('active', 'complete')
AND session_id IN (SELECT id FROM sessions ORDER BY updated_at DESC, id DESC LIMIT :most);

-- name: turns_active_of_recent
SELECT {columns} FROM turns WHERE status = 'active'
AND session_id IN (SELECT id FROM sessions ORDER BY updated_at DESC, id DESC LIMIT :most);

-- name: executions_live_of_recent
SELECT {columns} FROM executions WHERE status IN ('queued', 'running')
AND session_id IN (SELECT id FROM sessions ORDER BY updated_at DESC, id DESC LIMIT :most);

-- name: plans_tracked_of_recent
SELECT {columns} FROM plans WHERE id IN (
    SELECT plan_id FROM trackers WHERE status IN ('active', 'complete')
    AND session_id IN (SELECT id FROM sessions ORDER BY updated_at DESC, id DESC LIMIT :most));

-- name: plans_newest_of_recent
SELECT {columns} FROM plans WHERE session_id IN (
    SELECT id FROM sessions ORDER BY updated_at DESC, id DESC LIMIT :most)
AND number = (SELECT MAX(other.number) FROM plans other WHERE other.session_id = plans.session_id);

-- name: plans_found
SELECT {columns} FROM plans WHERE LOWER(title) LIKE :pattern ESCAPE '!' OR LOWER(question) LIKE :pattern ESCAPE '!'
OR LOWER(path) LIKE :pattern ESCAPE '!' OR LOWER(checkout) LIKE :pattern ESCAPE '!'
OR id IN (SELECT plan_id FROM plan_texts WHERE LOWER(CAST(markdown AS TEXT)) LIKE :pattern ESCAPE '!')
ORDER BY created_at DESC, number DESC LIMIT :most;

-- name: sessions_found
SELECT {columns} FROM sessions WHERE id = :text OR LOWER(client) LIKE :pattern ESCAPE '!'
OR LOWER(client_session_id) LIKE :pattern ESCAPE '!' OR LOWER(checkout) LIKE :pattern ESCAPE '!'
ORDER BY updated_at DESC, id DESC LIMIT :most;

-- name: plan_before
SELECT {columns} FROM plans WHERE session_id = :session AND number < :number ORDER BY number DESC LIMIT 1;

-- name: events_before
SELECT {columns} FROM events WHERE seq < :before AND kind LIKE :kind ORDER BY seq DESC LIMIT :most;

-- name: events_before_in_session
SELECT {columns} FROM events WHERE session_id = :session AND seq < :before AND kind LIKE :kind
ORDER BY seq DESC LIMIT :most;
