-- Lines of the newest delivery of each bill and billing period, each once: the rows to reconcile.
-- A provider delivers a period again and again, each time whole; the newest delivery replaces the
-- older ones, also lines that it has not any more. Read `all_billing_lines` (the input is asked for
-- with `repeated=True`): equal lines of one file are lines of their own, and a newer delivery
-- repeats most lines of an older one.
-- Rules, in this order:
-- * A part that a delivery has twice (overwritten, or landed from two places) is the file whose
--   usage reaches further, then the one with more lines, then the smaller id.
-- * Of a bill's period the delivery of the greatest `delivered_at` counts; then, where several are
--   known to be of one day only, the one whose usage reaches further, with more lines, smaller id.
-- * Where two bills hold one account's period, as a report and FOCUS of the same account, the one
--   that names regions of transfers (`aws_cur`) counts, then the newest, then the smaller id.
-- Grain: one line of a bill.
-- Reads: all_billing_lines.
-- Parameters: none.
WITH files AS (
    SELECT
        provider, bill_id, billing_period, delivery_id, delivery_part, export_file_id,
        MAX(delivered_at) AS delivered_at,
        MAX(usage_end_at) AS last_usage_at,
        COUNT(*) AS line_count
    FROM all_billing_lines
    GROUP BY
        provider, bill_id, billing_period, delivery_id, delivery_part, export_file_id
),

parts AS (
    SELECT *
    FROM files
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY provider, bill_id, billing_period, delivery_id, delivery_part
        ORDER BY last_usage_at DESC NULLS LAST, line_count DESC, export_file_id
    ) = 1
),

deliveries AS (
    SELECT
        provider, bill_id, billing_period, delivery_id,
        MAX(delivered_at) AS delivered_at,
        MAX(last_usage_at) AS last_usage_at,
        SUM(line_count) AS line_count
    FROM parts
    GROUP BY provider, bill_id, billing_period, delivery_id
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY provider, bill_id, billing_period
        ORDER BY
            MAX(delivered_at) DESC, MAX(last_usage_at) DESC NULLS LAST, SUM(line_count) DESC,
            delivery_id
    ) = 1
),

newest AS (
    SELECT
        l.*,
        d.delivered_at AS newest_delivered_at
    FROM all_billing_lines AS l
    INNER JOIN parts AS p
        ON
            l.provider = p.provider
            AND l.bill_id = p.bill_id
            AND l.billing_period = p.billing_period
            AND l.delivery_id = p.delivery_id
            AND l.delivery_part = p.delivery_part
            AND l.export_file_id = p.export_file_id
    INNER JOIN deliveries AS d
        ON
            l.provider = d.provider
            AND l.bill_id = d.bill_id
            AND l.billing_period = d.billing_period
            AND l.delivery_id = d.delivery_id
),

accounts AS (
    SELECT provider, account_id, billing_period, bill_id
    FROM newest
    GROUP BY provider, account_id, billing_period, bill_id, source_format
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY provider, account_id, billing_period
        ORDER BY
            CASE source_format WHEN 'aws_cur' THEN 0 ELSE 1 END, MAX(newest_delivered_at) DESC,
            bill_id
    ) = 1
)

SELECT n.* EXCLUDE (newest_delivered_at)
FROM newest AS n
INNER JOIN accounts AS a
    ON
        n.provider = a.provider
        AND n.account_id IS NOT DISTINCT FROM a.account_id
        AND n.billing_period = a.billing_period
        AND n.bill_id = a.bill_id
ORDER BY n.export_file_id, n.record_index, n.row_index
