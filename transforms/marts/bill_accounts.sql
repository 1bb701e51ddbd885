-- Accounts whose bill reaches over the whole day: there no line means that nothing is billed.
-- A line that ends behind its delivery (a fee of the month) says nothing of the days to come.
-- Grain: one provider and account.
-- Reads: bill_newest.
-- Parameters: $date, $day_end.
SELECT provider, account_id
FROM bill_newest
WHERE
    billing_period = STRFTIME(CAST($date AS DATE), '%Y-%m')
    AND COALESCE(usage_end_at, usage_start_at) <= delivered_at
GROUP BY provider, account_id
HAVING MAX(COALESCE(usage_end_at, usage_start_at)) >= CAST($day_end AS TIMESTAMPTZ)
