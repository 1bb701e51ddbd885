-- Which content of a thing each of its fetches fetched, where a thing without a version got another
-- one: a write lies between two reads, or they state another ETag or size. In the order of time,
-- so that a content which comes back is another one. What states neither goes with the latest.
-- A write and a read of one instant: the read is of what was written.
-- Grain: wanted_number, transfer_id, of things that changed.
-- Reads: repeat_told, repeat_wanted, object_transfers (days of the look-back).
WITH changes AS (
    SELECT DISTINCT w.wanted_number, epoch_us(t.changed_at) AS us
    FROM (
        SELECT
            date, provider, UNNEST(change_times) AS changed_at,
            CASE
                WHEN version_id IS NULL THEN object_id
                ELSE LEFT(object_id, LENGTH(object_id) - LENGTH(version_id) - 1)
            END AS object_id
        FROM object_transfers
        WHERE change_times IS NOT NULL
    ) AS t
    INNER JOIN repeat_wanted AS w
        ON w.may_change
        AND t.provider = w.provider
        AND t.object_id = w.object_id
        AND t.date <= w.start_date
),

changed AS (
    SELECT wanted_number FROM changes
    UNION
    SELECT t.wanted_number
    FROM repeat_told AS t
    INNER JOIN repeat_wanted AS w ON t.wanted_number = w.wanted_number
    WHERE w.may_change
    GROUP BY t.wanted_number
    HAVING MIN(t.size_bytes) < MAX(t.size_bytes) OR MIN(t.etag) < MAX(t.etag)
),

events AS (
    SELECT
        wanted_number,
        transfer_id,
        MIN(start_us) AS us,
        CASE WHEN MIN(size_bytes) = MAX(size_bytes) THEN MIN(size_bytes) END AS size_bytes,
        CASE WHEN MIN(etag) = MAX(etag) THEN MIN(etag) END AS etag,
        0 AS is_write
    FROM repeat_told
    WHERE wanted_number IN (SELECT wanted_number FROM changed)
    GROUP BY wanted_number, transfer_id
    UNION ALL
    SELECT wanted_number, NULL, us, NULL, NULL, 1 AS is_write
    FROM changes
),

written AS (
    SELECT
        *,
        SUM(is_write) OVER (
            PARTITION BY wanted_number ORDER BY us, is_write DESC, transfer_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS write_count
    FROM events
),

compared AS (
    SELECT
        *,
        LAST_VALUE(size_bytes IGNORE NULLS) OVER earlier AS known_bytes,
        LAST_VALUE(etag IGNORE NULLS) OVER earlier AS known_etag
    FROM written
    WHERE is_write = 0
    WINDOW earlier AS (
        PARTITION BY wanted_number, write_count ORDER BY us, transfer_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
),

broken AS (
    SELECT
        wanted_number,
        transfer_id,
        write_count,
        SUM(CASE WHEN size_bytes <> known_bytes OR etag <> known_etag THEN 1 ELSE 0 END) OVER (
            PARTITION BY wanted_number, write_count ORDER BY us, transfer_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS break_count
    FROM compared
)

SELECT
    wanted_number,
    transfer_id,
    CAST(write_count * 4294967296 + break_count AS BIGINT) AS content
FROM broken
