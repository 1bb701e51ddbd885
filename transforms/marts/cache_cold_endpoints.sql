-- Resources that only cold runs contacted: runs that read some content first in its region. In a
-- warm run they do not show, so that access rules drawn from warm runs would break the next cold
-- one.
-- Grain: one resource and operation; none where no run was warm.
-- Reads: cache_reads, run_dependency_days.
-- Parameters: $first, $last (days, inclusive).
WITH firsts AS (
    SELECT
        run_uuid,
        ROW_NUMBER() OVER (PARTITION BY region, content ORDER BY rowid) = 1 AS is_first
    FROM cache_reads
    WHERE is_counted AND run_uuid IS NOT NULL
),

cold AS (
    SELECT DISTINCT run_uuid FROM firsts WHERE is_first
),

warm AS (
    SELECT DISTINCT run_uuid FROM firsts
    EXCEPT
    SELECT run_uuid FROM cold
),

contacts AS (
    SELECT DISTINCT run_uuid, resource_id, operation
    FROM run_dependency_days
    WHERE
        operation IN ('connect', 'resolve', 'pull', 'clone')
        AND date BETWEEN CAST($first AS DATE) AND CAST($last AS DATE)
)

SELECT
    c.resource_id,
    c.operation,
    COUNT(*) AS cold_run_count
FROM contacts AS c
INNER JOIN cold AS k ON c.run_uuid = k.run_uuid
WHERE
    EXISTS (SELECT 1 FROM warm)
    AND NOT EXISTS (
        SELECT 1
        FROM contacts AS o
        INNER JOIN warm AS w ON o.run_uuid = w.run_uuid
        WHERE o.resource_id = c.resource_id AND o.operation = c.operation
    )
GROUP BY c.resource_id, c.operation
ORDER BY c.resource_id, c.operation
