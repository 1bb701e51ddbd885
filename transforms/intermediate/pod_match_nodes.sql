-- Windows in which a node is known to hold an address: its host-network pods', and from the
-- node's creation (else the first state) until another node takes the address.
-- Grain: one claim; `node_number` counts nodes, a cluster's each, from 1.
-- Reads: pod_match_lives, node_states.
WITH stated AS (
    SELECT
        cluster,
        node,
        UNNEST(addresses) AS address,
        epoch_us(COALESCE(created_at, observed_at)) AS start_us
    FROM node_states
    WHERE cluster IS NOT NULL
),

first_stated AS (
    SELECT cluster, node, address, MIN(start_us) AS start_us
    FROM stated
    WHERE address IS NOT NULL
    GROUP BY cluster, node, address
),

claims AS (
    SELECT
        cluster,
        node,
        address,
        start_us,
        COALESCE(
            MIN(start_us) OVER (
                PARTITION BY cluster, address ORDER BY start_us
                RANGE BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
            ),
            4000000000000000000
        ) AS end_us
    FROM first_stated
    UNION ALL
    SELECT cluster, node, address, start_us, end_us
    FROM pod_match_lives
    WHERE host_network AND address IS NOT NULL AND node IS NOT NULL
)

SELECT *, DENSE_RANK() OVER (ORDER BY cluster, node) AS node_number
FROM claims
