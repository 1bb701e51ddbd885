-- All fetches of repeat_told, each once for each scope, with the content that it fetched. A fetch of
-- an unknown place has no key in that scope.
-- Grain: one row of repeat_told and scope.
-- Reads: repeat_told, repeat_contents.
SELECT
    t.wanted_number,
    s.scope,
    CASE s.scope
        WHEN 'run' THEN t.run_uuid
        WHEN 'node' THEN t.node_key
        WHEN 'zone' THEN t.reader_zone
        WHEN 'region' THEN t.reader_region
        ELSE ''
    END AS scope_key,
    COALESCE(c.content, 0) AS content,
    t.transfer_id,
    t.start_us,
    t.is_before,
    t.bytes,
    t.has_read,
    t.run_uuid,
    t.node_key,
    t.reader_zone
FROM repeat_told AS t
LEFT JOIN repeat_contents AS c
    ON t.wanted_number = c.wanted_number AND t.transfer_id = c.transfer_id
CROSS JOIN (VALUES ('run'), ('node'), ('zone'), ('region'), ('fleet')) AS s (scope)
