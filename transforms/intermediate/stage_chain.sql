-- The order in which a pod's containers take their turns: init containers one by one, then the main
-- container. Others start beside them and are in no chain.
-- `first_us` is the first proof that the kubelet turned to the container: its pull, its creation or
-- its start; `before_us` the end of the turn before, for the first turn the first proof of any.
-- Grain: one container.
-- Reads: stage_containers, stage_pulls, stage_events, stage_runs.
WITH proofs AS (
    SELECT pod_uid, container, start_us AS us, 'event' AS basis FROM stage_pulls
    UNION ALL
    SELECT pod_uid, container, first_us AS us, 'event' AS basis
    FROM stage_events
    WHERE kind = 'created' AND container IS NOT NULL
    UNION ALL
    SELECT pod_uid, container, start_us AS us, start_basis AS basis FROM stage_runs
),

firsts AS (
    SELECT pod_uid, container, MIN(us) AS first_us, ARG_MIN(basis, {'us': us, 'b': basis}) AS basis
    FROM proofs
    GROUP BY pod_uid, container
),

ends AS (
    SELECT
        pod_uid, container, MAX(end_us) AS end_us,
        ARG_MAX(end_basis, {'us': end_us, 'basis': end_basis}) AS end_basis
    FROM stage_runs
    WHERE is_last AND is_end_proven
    GROUP BY pod_uid, container
),

members AS (
    SELECT
        c.pod_uid, c.container, c.container_role, c.ordinal,
        f.first_us, f.basis AS first_basis, e.end_us, e.end_basis,
        MIN(f.first_us) OVER (PARTITION BY c.pod_uid) AS containers_us,
        CASE
            WHEN c.container_role = 'init' THEN 0
            WHEN
                c.container_role = 'main'
                AND ROW_NUMBER() OVER (
                    PARTITION BY c.pod_uid, c.container_role ORDER BY c.ordinal, c.container
                ) = 1
                THEN 1
        END AS turn
    FROM stage_containers AS c
    LEFT JOIN firsts AS f ON c.pod_uid = f.pod_uid AND c.container = f.container
    LEFT JOIN ends AS e ON c.pod_uid = e.pod_uid AND c.container = e.container
),

chained AS (
    SELECT
        pod_uid, container, turn,
        ROW_NUMBER() OVER turns AS place,
        LAG(end_us) OVER turns AS end_before_us,
        LAG(end_basis) OVER turns AS end_before_basis,
        LEAD(first_us) OVER turns AS next_us,
        LEAD(first_basis) OVER turns AS next_basis
    FROM members
    WHERE turn IS NOT NULL
    WINDOW turns AS (PARTITION BY pod_uid ORDER BY turn, ordinal, container)
),

-- The first turn begins with the pod's containers, within the second that the kubelet cuts off.
first_turns AS (
    SELECT
        m.pod_uid,
        CASE
            WHEN m.first_us - m.containers_us <= 1000000 THEN m.first_us
            ELSE m.containers_us
        END AS containers_us
    FROM members AS m
    INNER JOIN chained AS h
        ON m.pod_uid = h.pod_uid AND m.container = h.container AND h.place = 1
)

SELECT
    m.pod_uid, m.container, m.container_role, m.ordinal, m.first_us, m.first_basis,
    COALESCE(t.containers_us, m.containers_us) AS containers_us,
    h.place,
    CASE WHEN h.place = 1 THEN COALESCE(t.containers_us, m.containers_us) ELSE h.end_before_us END
        AS before_us,
    CASE WHEN h.place = 1 THEN 'event' ELSE h.end_before_basis END AS before_basis,
    h.next_us, h.next_basis
FROM members AS m
LEFT JOIN chained AS h ON m.pod_uid = h.pod_uid AND m.container = h.container
LEFT JOIN first_turns AS t ON m.pod_uid = t.pod_uid
