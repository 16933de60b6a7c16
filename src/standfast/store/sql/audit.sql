-- name: all_projects
SELECT {columns} FROM projects;

-- name: all_sessions
SELECT {columns} FROM sessions;

-- name: all_turns
SELECT {columns} FROM turns;

-- name: all_entries
SELECT {columns} FROM entries;

-- name: all_plans
SELECT {columns} FROM plans;

-- name: all_plan_texts
SELECT {columns} FROM plan_texts;

-- name: all_executions
SELECT {columns} FROM executions;

-- name: all_trackers
SELECT {columns} FROM trackers;

-- name: all_ticks
SELECT {columns} FROM ticks;

-- name: all_evidence
SELECT {columns} FROM evidence;

-- name: all_messages
SELECT {columns} FROM messages;

-- name: all_intents
SELECT {columns} FROM intents;

-- name: all_settings
SELECT {columns} FROM settings;

-- name: all_todo_lists
SELECT {columns} FROM todo_lists ORDER BY session_id, agent, source;

-- name: all_todo_revisions
SELECT {columns} FROM todo_revisions ORDER BY id;
