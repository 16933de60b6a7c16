-- name: plans_due
SELECT {columns} FROM plans WHERE status = 'pending' AND expires_at <= :now ORDER BY expires_at, id LIMIT 100;

-- name: plans_next_due
SELECT COALESCE(MIN(expires_at), 0) FROM plans WHERE status = 'pending';

-- name: plan_pending
SELECT {columns} FROM plans WHERE session_id = :session AND status = 'pending';

-- name: plans_by_number
SELECT {columns} FROM plans WHERE number = :number ORDER BY created_at, id LIMIT 20;

-- name: plan_by_number_in_project
SELECT {columns} FROM plans WHERE project_id = :project AND number = :number;

-- name: plan_by_call
SELECT {columns} FROM plans WHERE session_id = :session AND turn_id = :turn AND tool_call_id = :call;

-- name: plans_of_session
SELECT {columns} FROM plans WHERE session_id = :session ORDER BY created_at DESC, number DESC LIMIT :most;

-- name: plans_recent
SELECT {columns} FROM plans ORDER BY created_at DESC, number DESC LIMIT :most;

-- name: plans_recent_with_status
SELECT {columns} FROM plans WHERE status = :status ORDER BY created_at DESC, number DESC LIMIT :most;

-- name: plans_ended_since
SELECT {columns} FROM plans
WHERE session_id = :session AND status IN ('rejected', 'expired', 'interrupted') AND created_at >= :since
ORDER BY created_at DESC, number DESC LIMIT 5;

-- name: plans_pending_of_other_boots
SELECT {columns} FROM plans WHERE status = 'pending' AND boot <> :boot ORDER BY id;

-- name: plan_approved_bytes
SELECT {columns} FROM plans WHERE project_id = :project AND sha256 = :sha256 AND status = 'approved'
ORDER BY created_at DESC LIMIT 1;

-- name: executions_live_of_other_boots
SELECT {columns} FROM executions WHERE status IN ('queued', 'running') AND boot <> :boot ORDER BY id;

-- name: execution_live
SELECT {columns} FROM executions WHERE session_id = :session AND status IN ('queued', 'running');

-- name: execution_of_turn
SELECT {columns} FROM executions WHERE turn_id = :turn AND status = 'running';

-- name: execution_latest
SELECT {columns} FROM executions WHERE plan_id = :plan ORDER BY created_at DESC, id DESC LIMIT 1;

-- name: trackers_of_session
SELECT {columns} FROM trackers WHERE session_id = :session ORDER BY created_at, plan_id;

-- name: trackers_of_plan
SELECT {columns} FROM trackers WHERE plan_id = :plan ORDER BY created_at, session_id;

-- name: tracker_open
SELECT {columns} FROM trackers WHERE session_id = :session AND status IN ('active', 'complete');

-- name: ticks_of_tracker
SELECT {columns} FROM ticks WHERE session_id = :session AND plan_id = :plan ORDER BY n;

-- name: ticks_of_task
SELECT {columns} FROM ticks WHERE session_id = :session AND plan_id = :plan AND position = :position
ORDER BY n DESC;

-- name: evidence_of_tick
SELECT {columns} FROM evidence WHERE tick_id = :tick ORDER BY id;

-- name: intents_open
SELECT {columns} FROM intents WHERE status IN ('intended', 'kept') ORDER BY created_at, id;

-- name: plans_worked_on
SELECT {columns} FROM plans WHERE project_id = :project AND status = 'approved' AND EXISTS (
    SELECT 1 FROM trackers t WHERE t.plan_id = plans.id AND t.status IN ('active', 'complete')
)
ORDER BY created_at DESC, number DESC LIMIT :most;
