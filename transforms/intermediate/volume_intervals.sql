-- What moved between two ends over an interval: differences and totals of connections as they were
-- recorded, and what counters and running totals grew by.
-- `from_us` and `until_us` are the interval (`true_from_us`, where days that did not see its end
-- have no part), `certain_bytes` is what certainly moved in it, `hides_bytes` that more may have;
-- it is no `is_record` where that is all that it tells.
-- Grain: one interval of one record.
-- Reads: volume_named, volume_begun, volume_left_out, volume_growth, volume_false_totals.
SELECT
    v.*,
    COALESCE(b.true_from_us, epoch_us(v.start_at)) AS true_from_us,
    COALESCE(b.from_us, epoch_us(v.start_at)) AS from_us,
    GREATEST(epoch_us(v.end_at), epoch_us(v.start_at) + 1) AS until_us,
    v.bytes AS certain_bytes,
    FALSE AS hides_bytes,
    TRUE AS is_record
FROM volume_named AS v
ANTI JOIN volume_left_out AS o
    ON v.export_file_id = o.export_file_id
    AND v.record_index = o.record_index
    AND v.row_index = o.row_index
LEFT JOIN volume_begun AS b
    ON v.export_file_id = b.export_file_id
    AND v.record_index = b.record_index
    AND v.row_index = b.row_index
WHERE
    v.temporality <> 'cumulative'
    AND v.repeats IS NULL
    AND NOT v.is_remote_memory
    AND NOT v.is_beginning
UNION ALL
SELECT
    v.* REPLACE (g.bytes AS bytes, g.packets AS packets),
    g.true_from_us,
    g.from_us,
    g.until_us,
    g.certain_bytes,
    g.hides_bytes,
    g.basis <> 'hidden' AS is_record
FROM volume_growth AS g
ANTI JOIN volume_false_totals AS f
    ON g.series = f.series AND g.true_from_us // 86400000000 = f.day_number
INNER JOIN volume_named AS v
    ON g.export_file_id = v.export_file_id
    AND g.record_index = v.record_index
    AND g.row_index = v.row_index
WHERE g.basis <> 'baseline' AND v.repeats IS NULL
