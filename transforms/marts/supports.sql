-- supports: whether a measured range supports a statement such as "this run read more than X".
-- `supports(min_bytes, max_bytes, threshold)` is `yes` if even the certain bytes exceed the
-- threshold, `no` if not even the possible ones do, else `unknown`; so is everything with a null that
-- decides: samples and counters that began anew have no upper bound, and never say `no`.
-- `runs_reading_more_than(threshold)` asks it of what each run received in all. A run says `no` only
-- if nothing that it did is unmeasured, every source saw all of it without doubt, and none of its pods
-- asked for a device whose traffic passes no interface (RDMA, EFA).
-- Grain: a scalar macro; a table macro of one row per run.
-- Reads: run_dependencies and byte_balance of the catalogue; runs_reading_more_than reads the macro supports.
CREATE OR REPLACE MACRO supports(min_bytes, max_bytes, threshold) AS
    CASE
        WHEN min_bytes > threshold THEN 'yes'
        WHEN max_bytes <= threshold THEN 'no'
        ELSE 'unknown'
    END;

CREATE OR REPLACE MACRO runs_reading_more_than(threshold) AS TABLE
WITH summed AS (
    SELECT
        run_uuid,
        SUM(min_received_bytes) AS min_received_bytes,
        SUM(received_bytes) AS received_bytes,
        CASE
            WHEN BOOL_AND(
                max_received_bytes IS NOT NULL
                OR (max_sent_bytes IS NOT NULL AND min_received_bytes IS NULL)
                OR accounted_in IS NOT NULL
                OR first_seen_at IS NULL
            ) AND BOOL_AND(empty_means = 'nothing_happened')
                AND run_uuid NOT IN (
                    SELECT b.run_uuid FROM byte_balance AS b
                    WHERE b.rdma IS NOT NULL AND b.run_uuid IS NOT NULL
                )
                THEN SUM(COALESCE(max_received_bytes, 0))
        END AS max_received_bytes
    FROM run_dependencies
    GROUP BY run_uuid
)

SELECT
    run_uuid,
    min_received_bytes,
    received_bytes,
    max_received_bytes,
    supports(min_received_bytes, max_received_bytes, threshold) AS supports
FROM summed
ORDER BY run_uuid;
