-- Times at which bursts with more than two changes of an object changed it; of others the first and
-- the last tell all. So lists, which the engine cannot spill, are held of few bursts.
-- Grain: one such burst.
-- Reads: transfer_matched, transfer_bursts, transfer_sums.
SELECT
    s.first_number,
    LIST_SORT(LIST(m.answered_us)) AS changed_us
FROM transfer_sums AS s
INNER JOIN transfer_matched AS m
    ON s.group_number = m.group_number
    AND s.holder = m.holder
    AND s.is_complete = m.is_complete
INNER JOIN transfer_bursts AS b ON m.rowid = b.number AND s.burst_number = b.burst_number
WHERE s.change_count > 2 AND m.is_today AND m.is_change
GROUP BY s.first_number
