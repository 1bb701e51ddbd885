-- Items that need the whole ladder.
-- Grain: one item, numbered.
-- Reads: pod_match_met.
SELECT
    ROW_NUMBER() OVER () AS item_number,
    item_id,
    stated_cluster AS cluster,
    stated_address AS address,
    stated_namespace AS namespace,
    stated_pod_name AS pod_name,
    stated_pod_uid AS pod_uid,
    event_us
FROM pod_match_met
WHERE
    needs_ladder
    -- Said again for the engine, which asks this of the input before it joins.
    AND (
        stated_namespace IS NOT NULL OR stated_pod_name IS NOT NULL OR stated_pod_uid IS NOT NULL
    )
