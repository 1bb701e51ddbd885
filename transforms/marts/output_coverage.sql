-- How much of the time in which an output may be written is covered by the bucket's log.
-- Grain: one expected output with a bucket of which some time is.
-- Reads: output_paths, output_runs, node_coverage (all days).
-- Parameters: $date.
WITH covered AS (
    SELECT
        o.run_output_id, r.start_us, r.until_us,
        GREATEST(epoch_us(c.start_at), r.start_us) AS from_us,
        LEAST(epoch_us(c.end_at), r.until_us) AS to_us
    FROM output_paths AS o
    INNER JOIN output_runs AS r ON o.run_uuid = r.run_uuid
    INNER JOIN node_coverage AS c
        ON c.source = 'object_requests:' || o.bucket
        AND c.status = 'covered'
        AND c.date <= CAST($date AS DATE)
        AND epoch_us(c.start_at) < r.until_us
        AND epoch_us(c.end_at) > r.start_us
),

-- Time that an interval adds to those before it.
added AS (
    SELECT
        run_output_id, start_us, until_us,
        GREATEST(
            0,
            to_us - GREATEST(from_us, COALESCE(
                MAX(to_us) OVER (
                    PARTITION BY run_output_id ORDER BY from_us, to_us
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ), from_us
            ))
        ) AS added_us
    FROM covered
)

SELECT
    run_output_id,
    CAST(SUM(added_us) AS BIGINT) AS covered_us,
    SUM(added_us) >= MAX(until_us - start_us) AS is_covered
FROM added
GROUP BY run_output_id
