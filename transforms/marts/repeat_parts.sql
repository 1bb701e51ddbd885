-- Ranges of the things of repeat_ranged, all of the object for a whole read: those of earlier
-- fetches as known when the first day of a fetch of the day ended (`is_told`), and those of fetches
-- of the day (`own_date`).
-- Grain: one range of a fetch and day.
-- Reads: object_transfers (days of the look-back), repeat_told, repeat_placed, repeat_wanted,
--   repeat_ranged, repeat_fetches.
-- Parameters: $date.
WITH named AS (
    SELECT wanted_number, fetch_number, transfer_id, MIN(start_us) AS start_us
    FROM repeat_told
    WHERE wanted_number IN (SELECT wanted_number FROM repeat_ranged)
    GROUP BY wanted_number, fetch_number, transfer_id
),

placed AS (
    SELECT
        wanted_number, fetch_number,
        MAX(content) AS content,
        MAX(run_place) AS run_place,
        MAX(node_place) AS node_place,
        MAX(zone_place) AS zone_place,
        MAX(region_place) AS region_place
    FROM repeat_placed
    WHERE wanted_number IN (SELECT wanted_number FROM repeat_ranged)
    GROUP BY wanted_number, fetch_number
)

SELECT
    n.wanted_number,
    n.fetch_number,
    n.start_us,
    p.content,
    p.run_place,
    p.node_place,
    p.zone_place,
    p.region_place,
    t.date <= w.start_date AS is_told,
    CASE WHEN f.transfer_id IS NOT NULL THEN t.date END AS own_date,
    r.part.start AS start,
    r.part.stop AS stop,
    r.part.count AS count
FROM object_transfers AS t
INNER JOIN named AS n ON t.transfer_id = n.transfer_id
INNER JOIN placed AS p
    ON n.wanted_number = p.wanted_number AND n.fetch_number = p.fetch_number
INNER JOIN repeat_wanted AS w ON n.wanted_number = w.wanted_number
LEFT JOIN repeat_fetches AS f
    ON n.transfer_id = f.transfer_id AND w.start_date = f.start_date
CROSS JOIN LATERAL UNNEST(
    CASE
        WHEN t.is_complete THEN [{'start': 0, 'stop': t.object_size_bytes, 'count': 1}]
        ELSE t.read_ranges
    END
) AS r (part)
WHERE
    (t.read_ranges IS NOT NULL OR t.is_complete)
    AND t.date <= CAST($date AS DATE)
    AND (t.date <= w.start_date OR f.transfer_id IS NOT NULL)
