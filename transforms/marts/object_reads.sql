-- Reads of objects that moved bytes, or of which the log leaves out how many; a 304 moved none.
-- What the storage reads for itself, as for replication, is nobody's read.
-- Grain: one transfer and day.
-- Reads: object_transfers.
-- Parameters: none.
SELECT *
FROM object_transfers
WHERE
    operation = 'read'
    AND (transferred_bytes > 0 OR unlogged_bytes_count > not_modified_count)
    AND NOT REGEXP_MATCHES(COALESCE(principal, ''), '^(svc:|AmazonS3$)')
