-- Lines of the bill about bytes that moved and requests, whose usage is of the day. A line of more
-- than a day is of each of its days: billed on the first one, explained on all.
-- A line that names one region names where it was used: of a transfer, from where.
-- Grain: one line and day of it.
-- Reads: bill_newest.
-- Parameters: $date, $day_start, $day_end.
WITH timed AS (
    SELECT
        *,
        COALESCE(usage_end_at > usage_start_at + INTERVAL '24' HOUR, FALSE) AS is_long,
        CAST(usage_start_at AS DATE) = CAST($date AS DATE) AS is_first,
        REGEXP_MATCHES(usage_type, '(^|-)Requests-|Class [AB] Operations') AS is_request
    FROM bill_newest
    WHERE
        usage_start_at < CAST($day_end AS TIMESTAMPTZ)
        AND (
            usage_bytes IS NOT NULL
            OR REGEXP_MATCHES(usage_type, '(^|-)Requests-|Class [AB] Operations')
        )
)

SELECT
    provider,
    account_id,
    usage_type,
    line_item_type,
    LOWER(COALESCE(from_region, CASE WHEN to_region IS NULL THEN region END)) AS from_region,
    LOWER(to_region) AS to_region,
    COALESCE(resource_id, resource_name) AS resource_id,
    CASE WHEN is_long THEN usage_end_at END AS period_end_at,
    COALESCE(is_request, FALSE) AND usage_bytes IS NULL AS is_request,
    is_first,
    usage_bytes,
    CASE WHEN usage_bytes IS NULL AND usage_amount = FLOOR(usage_amount)
        THEN TRY_CAST(usage_amount AS BIGINT) END AS usage_requests,
    cost_usd,
    is_final
FROM timed
WHERE is_first OR (is_long AND usage_end_at > CAST($day_start AS TIMESTAMPTZ))
