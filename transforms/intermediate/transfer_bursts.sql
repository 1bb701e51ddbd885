-- The burst that each request belongs to, and its place there. The rest of a request stays where it
-- is, so that only what orders them is sorted.
-- Grain: one request; `number` is its row in transfer_matched.
-- Reads: transfer_matched.
-- Parameters: $gap_us.
WITH spaced AS (
    SELECT
        rowid AS number,
        group_number,
        holder,
        is_complete,
        ROW_NUMBER() OVER in_order AS place,
        is_complete OR COALESCE(
            event_us - LAG(event_us) OVER in_order > CAST($gap_us AS BIGINT), TRUE
        ) AS is_first
    FROM transfer_matched
    WINDOW in_order AS (
        PARTITION BY group_number, holder, is_complete ORDER BY event_us, record_id
    )
)

SELECT
    number,
    place,
    CAST(
        SUM(CASE WHEN is_first THEN 1 ELSE 0 END) OVER (
            PARTITION BY group_number, holder, is_complete ORDER BY place
            ROWS UNBOUNDED PRECEDING
        ) AS BIGINT
    ) AS burst_number
FROM spaced
