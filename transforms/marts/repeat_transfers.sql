-- Reads that repeat an earlier one within a run, a node or the fleet (definitions.md 26).
-- Grain: one read of the day and scope.
-- Reads: repeat_reads, repeat_judged, repeat_history, runs_of_day.
-- Parameters: $date.
WITH measured AS (
    SELECT
        transfer_id, scope, scope_key, transferred_bytes,
        -- Earlier reads of the scope go before reads of an unknown place.
        CASE WHEN previous IS NOT NULL THEN previous ELSE possible END AS earlier,
        CASE
            WHEN object_size_bytes IS NULL THEN 0
            ELSE
                GREATEST(0, read_before + transferred_bytes - object_size_bytes)
                - GREATEST(0, read_before - object_size_bytes)
        END AS min_repeat_bytes
    FROM repeat_judged
),

known AS (
    SELECT
        transfer_id, scope, earlier, min_repeat_bytes,
        CASE WHEN earlier IS NOT NULL THEN transferred_bytes ELSE min_repeat_bytes END
            AS max_repeat_bytes,
        FALSE AS is_unplaced
    FROM measured
    WHERE scope_key IS NOT NULL AND (earlier IS NOT NULL OR min_repeat_bytes > 0)
),

-- A read of an unknown run or node may repeat in that scope what it repeats in the fleet.
unplaced AS (
    SELECT
        m.transfer_id, m.scope, k.earlier,
        0 AS min_repeat_bytes,
        k.max_repeat_bytes,
        TRUE AS is_unplaced
    FROM measured AS m
    INNER JOIN known AS k ON m.transfer_id = k.transfer_id AND k.scope = 'fleet'
    WHERE m.scope_key IS NULL
),

repeats AS (
    SELECT * FROM known
    UNION ALL
    SELECT * FROM unplaced
)

SELECT
    row_id([id_text(CAST($date AS DATE)), id_text(p.transfer_id), id_text(p.scope)])
        AS repeat_transfer_id,
    p.transfer_id,
    p.scope,
    CASE
        WHEN p.is_unplaced THEN NULL
        WHEN p.scope = 'run' THEN r.run_uuid
        WHEN p.scope = 'node' THEN r.node
    END AS scope_id,
    r.start_at,
    COALESCE(make_timestamptz(p.earlier.us), r.start_at) AS previous_at,
    p.earlier.id AS previous_transfer_id,
    p.earlier.run AS previous_run_uuid,
    r.cluster,
    r.node,
    r.run_uuid,
    r.attempt,
    w.project,
    r.object_id,
    r.resource_id,
    r.dataset_id,
    'object' AS grade,
    r.object_size_bytes,
    r.transferred_bytes,
    CAST(p.min_repeat_bytes AS BIGINT) AS min_repeat_bytes,
    CAST(p.max_repeat_bytes AS BIGINT) AS max_repeat_bytes,
    CAST(NULL AS DECIMAL(18, 9)) AS min_avoidable_usd,
    CAST(NULL AS DECIMAL(18, 9)) AS max_avoidable_usd,
    r.reader_region,
    r.bucket_region,
    r.match_kind,
    CAST(NULL AS VARCHAR) AS remedy,
    h.history_basis
FROM repeats AS p
INNER JOIN repeat_reads AS r ON p.transfer_id = r.transfer_id
INNER JOIN repeat_history AS h ON r.start_date = h.start_date
LEFT JOIN runs_of_day AS w ON r.run_uuid = w.run_uuid
