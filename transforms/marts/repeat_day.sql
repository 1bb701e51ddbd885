-- What was fetched of a content before each fetch, on the day on which that fetch began. Order:
-- start, then id.
-- Grain: one fetch of the day and scope.
-- Reads: repeat_scoped.
WITH members AS (
    SELECT
        wanted_number, scope, transfer_id, start_us,
        MAX(scope_key) AS scope_key,
        MAX(content) AS content,
        SUM(bytes) AS bytes,
        BOOL_OR(has_read) AS has_read,
        MAX(run_uuid) AS run_uuid,
        MAX(node_key) AS node_key,
        MAX(reader_zone) AS reader_zone
    FROM repeat_scoped
    WHERE NOT is_before
    GROUP BY wanted_number, scope, transfer_id, start_us
),

told AS (
    SELECT
        *,
        CASE
            WHEN has_read
                THEN STRUCT_PACK(
                    us := start_us, id := transfer_id, run := run_uuid, node := node_key,
                    zone := reader_zone
                )
        END AS own
    FROM members
)

SELECT
    wanted_number, scope, scope_key, content, transfer_id, start_us,
    SUM(bytes) OVER in_place AS bytes,
    LAST_VALUE(own IGNORE NULLS) OVER in_place AS latest,
    LAST_VALUE(CASE WHEN scope_key IS NULL THEN own END IGNORE NULLS) OVER anywhere AS lost
FROM told
WINDOW
    in_place AS (
        PARTITION BY wanted_number, scope, scope_key, content ORDER BY start_us, transfer_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ),
    anywhere AS (
        PARTITION BY wanted_number, scope, content ORDER BY start_us, transfer_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
