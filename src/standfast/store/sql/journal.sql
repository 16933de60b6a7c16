-- name: chain_head
SELECT n, hash FROM events WHERE aggregate = :aggregate ORDER BY n DESC LIMIT 1;

-- name: events_after
SELECT {columns} FROM events WHERE seq > :after ORDER BY seq LIMIT :most;

-- name: events_after_in_session
SELECT {columns} FROM events WHERE session_id = :session AND seq > :after ORDER BY seq LIMIT :most;

-- name: events_last
SELECT COALESCE(MAX(seq), 0) FROM events;

-- name: events_of_aggregate
SELECT {columns} FROM events WHERE aggregate = :aggregate ORDER BY n;

-- name: receipt_of
SELECT {columns} FROM receipts WHERE actor = :actor AND operation = :operation AND key = :key;

-- name: receipts_prune
DELETE FROM receipts WHERE kept = 0 AND at < :before;

-- name: meta_value
SELECT value FROM meta WHERE key = :key;

-- name: meta_insert
INSERT INTO meta (key, value) VALUES (:key, :value);
