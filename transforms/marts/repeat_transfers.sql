-- Reads that repeat an earlier one within a run, a node or the fleet (definitions.md 26).
-- Grain: one read of the day and scope.
-- Reads: repeat_reads, repeat_members, repeat_scoped, repeat_history, runs_of_day.
-- Parameters: $date, $look_back_us.
WITH judged AS (
    SELECT
        r.transfer_id,
        s.scope,
        s.scope_key,
        r.transferred_bytes,
        CASE
            WHEN r.object_size_bytes IS NULL THEN 0
            ELSE
                GREATEST(
                    0,
                    s.read_before + r.bytes_before + r.transferred_bytes - r.object_size_bytes
                )
                - GREATEST(0, s.read_before + r.bytes_before - r.object_size_bytes)
        END AS min_repeat_bytes,
        -- Earlier reads of the scope go before reads of an unknown place.
        COALESCE(p.transfer_id, q.transfer_id) AS previous_transfer_id,
        COALESCE(p.start_at, q.start_at) AS previous_at,
        CASE WHEN p.transfer_id IS NOT NULL THEN p.run_uuid ELSE q.run_uuid END
            AS previous_run_uuid
    FROM repeat_reads AS r
    INNER JOIN repeat_scoped AS s
        ON r.transfer_id = s.transfer_id
        AND r.start_date = s.start_date
    LEFT JOIN repeat_members AS p
        ON s.start_date = p.start_date
        AND s.provider = p.provider
        AND s.object_id = p.object_id
        AND s.previous_place = p.place
        AND p.start_us >= s.start_us - $look_back_us
    LEFT JOIN repeat_members AS q
        ON s.start_date = q.start_date
        AND s.provider = q.provider
        AND s.object_id = q.object_id
        AND s.possible_place = q.place
        AND q.start_us >= s.start_us - $look_back_us
),

known AS (
    SELECT
        transfer_id, scope, previous_transfer_id, previous_at, previous_run_uuid,
        min_repeat_bytes,
        CASE WHEN previous_transfer_id IS NOT NULL THEN transferred_bytes ELSE min_repeat_bytes END
            AS max_repeat_bytes,
        FALSE AS is_unplaced
    FROM judged
    WHERE scope_key IS NOT NULL AND (previous_transfer_id IS NOT NULL OR min_repeat_bytes > 0)
),

-- A read of an unknown run or node may repeat in that scope what it repeats in the fleet.
unplaced AS (
    SELECT
        j.transfer_id, j.scope, k.previous_transfer_id, k.previous_at, k.previous_run_uuid,
        0 AS min_repeat_bytes,
        k.max_repeat_bytes,
        TRUE AS is_unplaced
    FROM judged AS j
    INNER JOIN known AS k ON j.transfer_id = k.transfer_id AND k.scope = 'fleet'
    WHERE j.scope_key IS NULL
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
    COALESCE(p.previous_at, r.start_at) AS previous_at,
    p.previous_transfer_id,
    p.previous_run_uuid,
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
