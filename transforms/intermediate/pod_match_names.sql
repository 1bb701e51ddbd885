-- When a name is anybody's at all, by widened lives.
-- Grain: namespace, name.
-- Reads: pod_match_lives.
-- Parameters: $guard_us (skew guard, microseconds).
SELECT
    namespace,
    pod_name,
    MIN(life_start_us) - CAST($guard_us AS BIGINT) AS from_us,
    MAX(end_us) + CAST($guard_us AS BIGINT) AS until_us
FROM pod_match_lives
WHERE namespace IS NOT NULL AND pod_name IS NOT NULL
GROUP BY namespace, pod_name
