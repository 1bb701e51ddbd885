-- Pods among those that share a stretch whose name alone decides: no other pod ever has it, so that
-- nothing contradicts it while this pod's own interval holds the time.
-- Grain: stretch, by its number in pod_match_holders, and pod. `start_us` and `end_us`: the longest
-- of the pod's intervals with that address, unwidened.
-- Reads: pod_match_members, pod_match_pods, pod_match_lives.
WITH members AS (
    SELECT m.outcome, m.address, p.pod_number, p.pod_uid, p.namespace, p.pod_name
    FROM pod_match_members AS m
    INNER JOIN pod_match_pods AS p ON m.holder = p.pod_number
    WHERE m.is_pod AND p.is_plain
),

names AS (
    SELECT namespace, pod_name
    FROM pod_match_lives
    WHERE (namespace, pod_name) IN (SELECT (namespace, pod_name) FROM members)
    GROUP BY namespace, pod_name
    HAVING MIN(pod_number) = MAX(pod_number)
),

longest AS (
    SELECT
        pod_number, address,
        ARG_MAX({'start_us': start_us, 'end_us': end_us}, end_us - start_us) AS held
    FROM pod_match_lives
    WHERE NOT host_network AND pod_number IN (SELECT pod_number FROM members)
    GROUP BY pod_number, address
)

SELECT
    m.outcome, m.pod_number, m.pod_uid, m.namespace, m.pod_name,
    l.held.start_us AS start_us,
    l.held.end_us AS end_us
FROM members AS m
INNER JOIN names AS n ON m.namespace = n.namespace AND m.pod_name = n.pod_name
INNER JOIN longest AS l ON m.pod_number = l.pod_number AND m.address = l.address
