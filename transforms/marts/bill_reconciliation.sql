-- Billed, explained and what remains.
-- Grain: the key columns of bill_reconciliation.
-- Reads: bill_joined, bill_accounts, effective_amounts.
-- Parameters: $date.
WITH judged AS (
    SELECT
        j.*,
        j.has_line OR EXISTS (
            SELECT 1 FROM bill_accounts AS a
            WHERE
                j.provider = a.provider
                AND (j.account_id IS NULL OR a.account_id IS NULL OR j.account_id = a.account_id)
        ) AS has_bill,
        -- Charges are told apart from lines by bytes; what is charged by requests has none.
        COALESCE(j.is_request, j.explained_requests IS NOT NULL AND j.explained_bytes IS NULL)
            AS is_by_request
    FROM bill_joined AS j
),

summed AS (
    SELECT
        *,
        CASE WHEN NOT has_line OR is_explained THEN explained_bytes ELSE 0 END AS said_bytes,
        CASE WHEN NOT has_line OR is_explained THEN min_usd ELSE 0 END AS said_min,
        CASE WHEN NOT has_line OR is_explained THEN usd ELSE 0 END AS said_usd,
        CASE WHEN NOT has_line OR is_explained THEN max_usd ELSE 0 END AS said_max
    FROM judged
)

SELECT
    row_id([
        id_text(CAST($date AS DATE)), id_text(s.provider), id_text(s.account_id),
        id_text(s.usage_type), id_text(s.line_item_type), id_text(s.from_region),
        id_text(s.to_region), id_text(s.resource_id), id_time(s.period_end_at)
    ]) AS bill_reconciliation_id,
    CASE
        WHEN NOT s.has_bill OR (s.is_billed AND s.billed_usd IS NULL) THEN NULL
        WHEN ABS(COALESCE(s.billed_usd, 0) - s.said_usd) < 1000000000
            THEN CAST(COALESCE(s.billed_usd, 0) - s.said_usd AS DECIMAL(18, 9))
    END AS residual_usd,
    CASE
        WHEN NOT s.has_bill OR s.is_by_request THEN NULL
        ELSE TRY_CAST(COALESCE(s.billed_bytes, 0) - s.said_bytes AS BIGINT)
    END AS residual_bytes,
    s.provider,
    s.account_id,
    s.usage_type,
    s.line_item_type,
    s.from_region,
    s.to_region,
    s.resource_id,
    s.period_end_at,
    TRY_CAST(s.billed_bytes AS BIGINT) AS billed_bytes,
    CASE WHEN ABS(s.billed_usd) < 1000000000 THEN CAST(s.billed_usd AS DECIMAL(18, 9)) END
        AS billed_usd,
    CASE WHEN NOT s.is_by_request THEN TRY_CAST(s.said_bytes AS BIGINT) END AS explained_bytes,
    CASE WHEN s.said_min < 1000000000 THEN CAST(s.said_min AS DECIMAL(18, 9)) END
        AS min_explained_usd,
    CASE WHEN s.said_usd < 1000000000 THEN CAST(s.said_usd AS DECIMAL(18, 9)) END
        AS explained_usd,
    CASE WHEN s.said_max < 1000000000 THEN CAST(s.said_max AS DECIMAL(18, 9)) END
        AS max_explained_usd,
    e.usd AS effective_usd,
    CAST(s.line_count AS BIGINT) AS billed_line_count,
    CAST(s.row_count AS BIGINT) AS explained_row_count,
    s.transfer_cost_ids,
    s.is_final
FROM summed AS s
LEFT JOIN effective_amounts AS e ON s.item_id = e.item_id
-- A long line without charges of the day stands on its first day alone.
WHERE NOT s.has_line OR s.is_billed OR s.is_explained
