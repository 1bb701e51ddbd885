-- Git repositories and model-hub repositories that a run declares, with the host that serves each.
-- Grain: run, day, resource.
-- Reads: declared_dependencies (days of the look-back).
-- Parameters: $look_back_start.
WITH declared AS (
    SELECT DISTINCT
        date,
        run_uuid,
        resource_id,
        REGEXP_EXTRACT(
            resource_id, '^git\+(?:https?|ssh|git)://(?:[^/@]*@)?([^/:@]+)', 1
        ) AS git_host
    FROM declared_dependencies
    WHERE
        date >= CAST($look_back_start AS DATE)
        AND REGEXP_MATCHES(resource_id, '^(git\+[a-z]+|hf)://.')
)

SELECT
    date,
    run_uuid,
    resource_id,
    CASE WHEN resource_id LIKE 'hf://%' THEN 'model_hub' ELSE 'git' END AS resource_kind,
    NULLIF(LOWER(git_host), '') AS host
FROM declared
