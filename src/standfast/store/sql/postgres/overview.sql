-- A cast of bytes to text writes them in hexadecimal here.

-- name: plans_found
SELECT {columns} FROM plans WHERE LOWER(title) LIKE :pattern ESCAPE '!' OR LOWER(question) LIKE :pattern ESCAPE '!'
OR LOWER(path) LIKE :pattern ESCAPE '!' OR LOWER(checkout) LIKE :pattern ESCAPE '!'
OR id IN (SELECT plan_id FROM plan_texts WHERE LOWER(CONVERT_FROM(markdown, 'UTF8')) LIKE :pattern ESCAPE '!')
ORDER BY created_at DESC, number DESC LIMIT :most;
