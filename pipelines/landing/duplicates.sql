-- duplicates: rows of new parts whose record was staged before, by them or by an earlier part.
-- Grain: (part_order, row_number).
-- Reads: staged(part_order, row_number, export_file_id, record_index, record_id, is_new): rows of
--   the new parts in commit order, and rows of the same records in earlier parts of the same scope
--   and format whose event range meets theirs (part_order below all new ones).
-- Parameters: none.
--
-- Nearly all records are new. Those that may repeat are found first by a hash, which is ten times
-- cheaper than to group all ids; equal hashes of other ids do no harm.
WITH several AS (
    SELECT HASH(record_id) AS record_hash
    FROM staged
    GROUP BY HASH(record_id)
    HAVING COUNT(*) > 1
),

first_seen AS (
    SELECT
        record_id,
        MIN(part_order) AS part_order,
        ARG_MIN(record_index, (part_order, row_number)) AS record_index,
        ARG_MIN(export_file_id, (part_order, row_number)) AS export_file_id
    FROM staged
    WHERE HASH(record_id) IN (SELECT record_hash FROM several)
    GROUP BY record_id
    HAVING COUNT(DISTINCT (part_order, export_file_id, record_index)) > 1
)

SELECT s.part_order, s.row_number, s.export_file_id, s.record_index
FROM staged AS s
INNER JOIN first_seen AS f ON s.record_id = f.record_id
WHERE
    s.is_new
    AND NOT (
        s.part_order = f.part_order
        AND s.export_file_id = f.export_file_id
        AND s.record_index = f.record_index
    )
