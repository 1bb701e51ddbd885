-- All fetches of repeat_told, each once for each scope. A fetch of an unknown place has no place in
-- that scope; the fleet is place 0.
-- Grain: one row of repeat_told and scope.
-- Reads: repeat_placed.
SELECT
    p.wanted_number,
    s.scope,
    place_of_scope(s.scope, p.run_place, p.node_place, p.zone_place, p.region_place)
        AS place_number,
    p.content,
    p.fetch_number,
    p.start_us,
    p.is_before,
    p.bytes,
    p.has_read,
    p.is_loose
FROM repeat_placed AS p
CROSS JOIN (VALUES ('run'), ('node'), ('zone'), ('region'), ('fleet')) AS s (scope)
