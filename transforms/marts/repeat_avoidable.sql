-- What the repeated bytes cost over all charges on their path; null where one of them is not known.
-- Grain: one fetch of the day and scope.
-- Reads: priced_counts, repeat_amounts.
SELECT
    c.repeat_number,
    CASE WHEN COUNT(*) = COUNT(a.min_usd) THEN SUM(a.min_usd) END AS min_usd,
    CASE WHEN COUNT(*) = COUNT(a.max_usd) THEN SUM(a.max_usd) END AS max_usd
FROM priced_counts AS c
INNER JOIN repeat_amounts AS a ON c.item_id = a.item_id
GROUP BY c.repeat_number
