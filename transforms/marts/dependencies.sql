-- dependencies: what the fleet connects to (definitions.md 27): a table macro over a range of days,
-- `dependencies(DATE '…', DATE '…')`, and a view over all days.
-- Grain: one project, resource and operation; project `(no run)` for pods of no run, and
-- `(unattributed)` for what no pod is known for; null for runs whose project nothing names.
-- Reads: run_dependency_days of the catalogue, with its `date`; the view reads the macro
--   dependencies.
-- Parameters: from_date and to_date, both inclusive; null means the first and the last day.
--   is_new: not seen in the 30 days before the range; null if it was not seen in those of them that
--   are built, but not all are.
CREATE OR REPLACE MACRO dependencies(from_date, to_date) AS TABLE
WITH known_days AS (
    SELECT DISTINCT "date" AS day FROM run_dependency_days
),

edges AS (
    SELECT MIN(day) AS first_known, MAX(day) AS last_known FROM known_days
),

spans AS (
    SELECT
        COALESCE(CAST(from_date AS DATE), first_known) AS first_day,
        COALESCE(CAST(to_date AS DATE), last_known) AS last_day
    FROM edges
),

named AS (
    SELECT
        d.*,
        CASE
            WHEN d.run_uuid IS NOT NULL THEN d.project
            WHEN LEN(d.pod_uids) > 0 THEN '(no run)'
            ELSE '(unattributed)'
        END AS owner,
        -- Contact whose bytes nothing measured: what else was measured is no upper bound.
        d.measured_by = 'none'
        AND d.accounted_in IS NULL
        AND NOT (
            d.operation = 'connect'
            AND d.connection_count > 0
            AND d.denied_count >= d.connection_count
        ) AS is_unmeasured
    FROM run_dependency_days AS d
),

before AS (
    SELECT DISTINCT n.owner, n.resource_id, n.operation
    FROM named AS n
    CROSS JOIN spans AS s
    WHERE n."date" >= s.first_day - 30 AND n."date" < s.first_day
),

history AS (
    SELECT COUNT(*) = 30 AS is_whole
    FROM known_days AS k
    CROSS JOIN spans AS s
    WHERE k.day >= s.first_day - 30 AND k.day < s.first_day
),

within AS (
    SELECT n.*
    FROM named AS n
    CROSS JOIN spans AS s
    WHERE n."date" >= s.first_day AND n."date" <= s.last_day
),

pods AS (
    SELECT owner, resource_id, operation, COUNT(DISTINCT pod_uid) AS pod_count
    FROM (
        SELECT owner, resource_id, operation, UNNEST(pod_uids) AS pod_uid
        FROM within
    )
    GROUP BY owner, resource_id, operation
),

summed AS (
    SELECT
        owner,
        resource_id,
        operation,
        MIN(resource_kind) AS resource_kind,
        MIN(service) AS service,
        COUNT(DISTINCT run_uuid) AS run_count,
        CAST(SUM(connection_count) AS BIGINT) AS connection_count,
        CAST(SUM(request_count) AS BIGINT) AS request_count,
        CAST(SUM(denied_count) AS BIGINT) AS denied_count,
        CAST(SUM(throttled_count) AS BIGINT) AS throttled_count,
        CAST(SUM(not_found_count) AS BIGINT) AS not_found_count,
        CAST(SUM(error_count) AS BIGINT) AS error_count,
        CASE WHEN COUNT(min_received_bytes) = COUNT(received_bytes) THEN SUM(received_bytes) END
            AS received_bytes,
        SUM(min_received_bytes) AS min_received_bytes,
        CASE
            WHEN
                COUNT(min_received_bytes) = COUNT(max_received_bytes)
                AND NOT BOOL_OR(is_unmeasured)
                THEN SUM(max_received_bytes)
        END AS max_received_bytes,
        CASE WHEN COUNT(min_sent_bytes) = COUNT(sent_bytes) THEN SUM(sent_bytes) END
            AS sent_bytes,
        SUM(min_sent_bytes) AS min_sent_bytes,
        CASE
            WHEN
                COUNT(min_sent_bytes) = COUNT(max_sent_bytes)
                AND NOT BOOL_OR(is_unmeasured)
                THEN SUM(max_sent_bytes)
        END AS max_sent_bytes,
        MIN(first_seen_at) AS first_seen_at,
        MAX(last_seen_at) AS last_seen_at
    FROM within
    GROUP BY owner, resource_id, operation
)

-- Sums beyond the type stop at its end. (LEAST would make a bound of null.)
SELECT
    s.owner AS project,
    s.resource_id,
    s.operation,
    s.service,
    s.resource_kind,
    s.run_count,
    COALESCE(p.pod_count, 0) AS pod_count,
    s.connection_count,
    s.request_count,
    s.denied_count,
    s.throttled_count,
    s.not_found_count,
    s.error_count,
    CAST(s.received_bytes - GREATEST(0, s.received_bytes - 9223372036854775807) AS BIGINT)
        AS received_bytes,
    CAST(s.min_received_bytes - GREATEST(0, s.min_received_bytes - 9223372036854775807) AS BIGINT)
        AS min_received_bytes,
    CAST(s.max_received_bytes - GREATEST(0, s.max_received_bytes - 9223372036854775807) AS BIGINT)
        AS max_received_bytes,
    CAST(s.sent_bytes - GREATEST(0, s.sent_bytes - 9223372036854775807) AS BIGINT)
        AS sent_bytes,
    CAST(s.min_sent_bytes - GREATEST(0, s.min_sent_bytes - 9223372036854775807) AS BIGINT)
        AS min_sent_bytes,
    CAST(s.max_sent_bytes - GREATEST(0, s.max_sent_bytes - 9223372036854775807) AS BIGINT)
        AS max_sent_bytes,
    s.first_seen_at,
    s.last_seen_at,
    CASE
        WHEN b.resource_id IS NOT NULL THEN FALSE
        WHEN h.is_whole THEN TRUE
    END AS is_new
FROM summed AS s
CROSS JOIN history AS h
LEFT JOIN pods AS p
    ON s.owner IS NOT DISTINCT FROM p.owner
    AND s.resource_id = p.resource_id
    AND s.operation = p.operation
LEFT JOIN before AS b
    ON s.owner IS NOT DISTINCT FROM b.owner
    AND s.resource_id = b.resource_id
    AND s.operation = b.operation
ORDER BY project NULLS LAST, s.resource_id, s.operation;

CREATE OR REPLACE VIEW dependencies AS
SELECT * FROM dependencies(CAST(NULL AS DATE), CAST(NULL AS DATE));
