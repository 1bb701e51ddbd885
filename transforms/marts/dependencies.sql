-- dependencies: what the fleet connects to (definitions.md 27): a table macro over a range of days,
-- `dependencies(DATE '…', DATE '…')`, and a view over all days.
-- Grain: one project, resource and operation; project `(no run)` for pods of no run, and
-- `(unattributed)` for what no pod is known for; null for runs whose project nothing names.
--   Resource `(unresolved)` holds what byte_balance chose and no row of the project's pods shows
--   (`(unattributed)`: of no pod), so that all rows add up to what was chosen, exactly.
-- Reads: run_dependency_days and byte_balance of the catalogue, with their `date`; the view reads the
--   macro dependencies.
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
        ) AS is_unmeasured,
        b.day IS NOT NULL AS is_balanced
    FROM run_dependency_days AS d
    LEFT JOIN (SELECT DISTINCT "date" AS day FROM byte_balance) AS b ON d."date" = b.day
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
        MAX(last_seen_at) AS last_seen_at,
        SUM(CAST(expected_us AS HUGEINT)) AS expected_us,
        SUM(CAST(covered_us AS HUGEINT)) AS covered_us,
        -- Known bytes of a sum that is shown as unknown.
        CASE WHEN COUNT(min_received_bytes) <> COUNT(received_bytes)
            THEN SUM(received_bytes) FILTER (WHERE is_balanced) END AS hidden_received,
        CASE WHEN COUNT(min_sent_bytes) <> COUNT(sent_bytes)
            THEN SUM(sent_bytes) FILTER (WHERE is_balanced) END AS hidden_sent
    FROM within
    GROUP BY owner, resource_id, operation
),

balances AS (
    SELECT
        CASE
            WHEN b.run_uuid IS NOT NULL THEN b.project
            WHEN b.pod_uid IS NOT NULL THEN '(no run)'
            ELSE '(unattributed)'
        END AS owner,
        b.*,
        b.direction = 'receive' AS is_received
    FROM byte_balance AS b
    CROSS JOIN spans AS s
    WHERE b."date" >= s.first_day AND b."date" <= s.last_day
),

left_over AS (
    SELECT
        owner,
        COUNT(DISTINCT run_uuid) AS run_count,
        COUNT(DISTINCT pod_uid) AS pod_count,
        SUM(unattributed_bytes) FILTER (WHERE is_received) AS received_bytes,
        CASE
            WHEN COUNT(*) FILTER (WHERE is_received)
                = COUNT(min_unattributed_bytes) FILTER (WHERE is_received)
                THEN SUM(min_unattributed_bytes) FILTER (WHERE is_received)
        END AS min_received_bytes,
        CASE
            WHEN COUNT(*) FILTER (WHERE is_received)
                = COUNT(max_unattributed_bytes) FILTER (WHERE is_received)
                THEN SUM(max_unattributed_bytes) FILTER (WHERE is_received)
        END AS max_received_bytes,
        SUM(unattributed_bytes) FILTER (WHERE NOT is_received) AS sent_bytes,
        CASE
            WHEN COUNT(*) FILTER (WHERE NOT is_received)
                = COUNT(min_unattributed_bytes) FILTER (WHERE NOT is_received)
                THEN SUM(min_unattributed_bytes) FILTER (WHERE NOT is_received)
        END AS min_sent_bytes,
        CASE
            WHEN COUNT(*) FILTER (WHERE NOT is_received)
                = COUNT(max_unattributed_bytes) FILTER (WHERE NOT is_received)
                THEN SUM(max_unattributed_bytes) FILTER (WHERE NOT is_received)
        END AS max_sent_bytes,
        MIN(hour_start_at) AS first_seen_at,
        MAX(hour_start_at) + INTERVAL 1 HOUR AS last_seen_at,
        SUM(CAST(expected_us AS HUGEINT)) AS expected_us,
        SUM(CAST(covered_us AS HUGEINT)) AS covered_us
    FROM balances
    GROUP BY owner
),

hidden AS (
    SELECT
        owner,
        COALESCE(SUM(hidden_received), 0) AS received_bytes,
        COALESCE(SUM(hidden_sent), 0) AS sent_bytes
    FROM summed
    GROUP BY owner
),

counted AS (
    SELECT
        s.* EXCLUDE (hidden_received, hidden_sent),
        COALESCE(p.pod_count, 0) AS pod_count,
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
    UNION ALL BY NAME
    SELECT
        u.owner,
        '(unresolved)' AS resource_id,
        'other' AS operation,
        'remainder' AS resource_kind,
        CAST(NULL AS VARCHAR) AS service,
        u.run_count,
        u.pod_count,
        0 AS connection_count,
        0 AS request_count,
        0 AS denied_count,
        0 AS throttled_count,
        0 AS not_found_count,
        0 AS error_count,
        u.received_bytes + COALESCE(d.received_bytes, 0) AS received_bytes,
        u.min_received_bytes + COALESCE(d.received_bytes, 0) AS min_received_bytes,
        u.max_received_bytes + COALESCE(d.received_bytes, 0) AS max_received_bytes,
        u.sent_bytes + COALESCE(d.sent_bytes, 0) AS sent_bytes,
        u.min_sent_bytes + COALESCE(d.sent_bytes, 0) AS min_sent_bytes,
        u.max_sent_bytes + COALESCE(d.sent_bytes, 0) AS max_sent_bytes,
        u.first_seen_at,
        u.last_seen_at,
        u.expected_us,
        u.covered_us,
        CAST(NULL AS BOOLEAN) AS is_new
    FROM left_over AS u
    LEFT JOIN hidden AS d ON u.owner IS NOT DISTINCT FROM d.owner
)

-- Sums beyond the type stop at its ends. (LEAST would make a bound of null.)
SELECT
    owner AS project,
    resource_id,
    operation,
    service,
    resource_kind,
    run_count,
    pod_count,
    connection_count,
    request_count,
    denied_count,
    throttled_count,
    not_found_count,
    error_count,
    CAST(
        received_bytes - GREATEST(0, received_bytes - 9223372036854775807)
        - LEAST(0, received_bytes + 9223372036854775807) AS BIGINT
    ) AS received_bytes,
    CAST(
        min_received_bytes - GREATEST(0, min_received_bytes - 9223372036854775807)
        - LEAST(0, min_received_bytes + 9223372036854775807) AS BIGINT
    ) AS min_received_bytes,
    CAST(
        max_received_bytes - GREATEST(0, max_received_bytes - 9223372036854775807)
        - LEAST(0, max_received_bytes + 9223372036854775807) AS BIGINT
    ) AS max_received_bytes,
    CAST(
        sent_bytes - GREATEST(0, sent_bytes - 9223372036854775807)
        - LEAST(0, sent_bytes + 9223372036854775807) AS BIGINT
    ) AS sent_bytes,
    CAST(
        min_sent_bytes - GREATEST(0, min_sent_bytes - 9223372036854775807)
        - LEAST(0, min_sent_bytes + 9223372036854775807) AS BIGINT
    ) AS min_sent_bytes,
    CAST(
        max_sent_bytes - GREATEST(0, max_sent_bytes - 9223372036854775807)
        - LEAST(0, max_sent_bytes + 9223372036854775807) AS BIGINT
    ) AS max_sent_bytes,
    first_seen_at,
    last_seen_at,
    CASE WHEN expected_us > 0 THEN CAST(covered_us AS DOUBLE) / CAST(expected_us AS DOUBLE) END
        AS coverage_ratio,
    is_new
FROM counted
ORDER BY project NULLS LAST, resource_id, operation;

CREATE OR REPLACE VIEW dependencies AS
SELECT * FROM dependencies(CAST(NULL AS DATE), CAST(NULL AS DATE));
