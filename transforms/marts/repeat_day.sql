-- What was read of an object before each read of the day, on the day on which that read began.
-- Reads are named by their place in the order of the object's reads of that day.
-- Grain: one read of the day and scope.
-- Reads: repeat_told, repeat_reads.
WITH told AS (
    SELECT
        start_date, provider, object_id, scope, scope_key, transfer_id, run_uuid, start_us, bytes,
        size_class, TRUE AS has_read
    FROM repeat_told
    WHERE NOT is_before
    UNION ALL
    -- A read of the day may have moved nothing yet when its first day ended.
    SELECT
        r.start_date, r.provider, r.object_id, s.scope,
        CASE s.scope
            WHEN 'run' THEN r.run_uuid
            WHEN 'node' THEN r.cluster || '/' || r.node
            ELSE ''
        END AS scope_key,
        r.transfer_id, r.run_uuid, r.start_us,
        0 AS bytes,
        r.size_class, FALSE AS has_read
    FROM repeat_reads AS r
    CROSS JOIN (VALUES ('run'), ('node'), ('fleet')) AS s (scope)
),

members AS (
    SELECT
        start_date, provider, object_id, scope, transfer_id, start_us,
        MAX(scope_key) AS scope_key,
        MAX(run_uuid) AS run_uuid,
        MAX(size_class) AS size_class,
        SUM(bytes) AS bytes,
        BOOL_OR(has_read) AS has_read
    FROM told
    GROUP BY start_date, provider, object_id, scope, transfer_id, start_us
),

-- Most objects are read once a day: nothing comes before such a read on its day.
crowds AS (
    SELECT start_date, provider, object_id
    FROM members
    WHERE scope = 'fleet'
    GROUP BY start_date, provider, object_id
    HAVING COUNT(*) > 1
),

placed AS (
    SELECT
        m.*,
        ROW_NUMBER() OVER (
            PARTITION BY m.start_date, m.provider, m.object_id, m.scope
            ORDER BY m.start_us, m.transfer_id
        ) AS place
    FROM members AS m
    INNER JOIN crowds AS c
        ON m.start_date = c.start_date
        AND m.provider = c.provider
        AND m.object_id = c.object_id
),

pointed AS (
    SELECT *, CASE WHEN has_read THEN place END AS own
    FROM placed
),

crowded AS (
    SELECT
        start_date, provider, object_id, scope, scope_key, transfer_id, start_us, run_uuid,
        size_class,
        place,
        SUM(bytes) OVER before_in_place AS any_bytes,
        SUM(CASE WHEN size_class IS NOT NULL THEN bytes ELSE 0 END) OVER before_in_place
            AS sized_bytes,
        SUM(bytes) OVER before_of_size AS same_bytes,
        MAX(own) OVER before_in_place AS latest_any,
        MAX(CASE WHEN size_class IS NULL THEN own END) OVER before_in_place AS latest_unsized,
        MAX(own) OVER before_of_size AS latest_same,
        MAX(CASE WHEN scope_key IS NULL THEN own END) OVER before_anywhere AS lost_any,
        MAX(CASE WHEN scope_key IS NULL AND size_class IS NULL THEN own END) OVER before_anywhere
            AS lost_unsized,
        MAX(CASE WHEN scope_key IS NULL THEN own END) OVER before_anywhere_of_size AS lost_same
    FROM pointed
    WINDOW
        before_in_place AS (
            PARTITION BY start_date, provider, object_id, scope, scope_key
            ORDER BY place
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        before_of_size AS (
            PARTITION BY start_date, provider, object_id, scope, scope_key, size_class
            ORDER BY place
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        before_anywhere AS (
            PARTITION BY start_date, provider, object_id, scope
            ORDER BY place
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        before_anywhere_of_size AS (
            PARTITION BY start_date, provider, object_id, scope, size_class
            ORDER BY place
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
)

SELECT * FROM crowded
UNION ALL
SELECT
    m.start_date, m.provider, m.object_id, m.scope, m.scope_key, m.transfer_id, m.start_us,
    m.run_uuid, m.size_class,
    1 AS place,
    NULL AS any_bytes, NULL AS sized_bytes, NULL AS same_bytes, NULL AS latest_any,
    NULL AS latest_unsized, NULL AS latest_same, NULL AS lost_any, NULL AS lost_unsized,
    NULL AS lost_same
FROM members AS m
WHERE NOT EXISTS (
    SELECT 1 FROM crowds AS c
    WHERE
        m.start_date = c.start_date
        AND m.provider = c.provider
        AND m.object_id = c.object_id
)
