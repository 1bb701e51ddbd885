-- Which of what was seen belongs to which declaration. `is_proof`: it is the declared operation on
-- the declared resource, or a part of it. Else it is only contact with the host that serves it.
-- Grain: one row of dependency_life and one declaration of its run.
-- Reads: dependency_life, declared_resources.
WITH seen AS (
    SELECT
        run_dependency_id, run_uuid, attempt, resource_id, endpoint, operation,
        CASE
            WHEN operation <> 'pull' THEN NULL
            WHEN resource_id LIKE '%@%' THEN SPLIT_PART(resource_id, '@', 1)
            ELSE REGEXP_REPLACE(resource_id, ':[^/:]*$', '')
        END AS image_name
    FROM dependency_life
),

paired AS (
    SELECT
        s.run_dependency_id,
        s.attempt,
        d.run_uuid,
        d.container_role,
        d.resource_id,
        d.operation,
        d.version,
        d.credential,
        -- Listing and asking for facts belong to reading and writing.
        COALESCE(
            d.image_name = s.image_name,
            (
                s.resource_id = d.resource_id
                OR (
                    d.scheme IN ('s3', 'gs', 'az')
                    AND STARTS_WITH(s.resource_id, d.resource_id || '/')
                )
            )
            AND (
                s.operation = d.operation
                OR (s.operation IN ('list', 'head') AND d.operation IN ('read', 'write'))
            )
        ) AS is_proof,
        s.operation = 'connect'
        AND (
            COALESCE(s.endpoint = d.host, FALSE)
            OR (d.bucket IS NOT NULL AND COALESCE(STARTS_WITH(s.endpoint, d.bucket || '.'), FALSE))
        ) AS is_contact
    FROM seen AS s
    INNER JOIN declared_resources AS d ON s.run_uuid = d.run_uuid
)

SELECT * FROM paired WHERE is_proof OR is_contact
