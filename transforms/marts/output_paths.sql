-- What runs were to leave, by their store, lineage, checkpoints and declared writes. A path is
-- expected once, for the reason that comes first.
-- Grain: one expected output of one run.
-- Reads: output_runs, output_marks, declared_dependencies, run_artifacts, object_transfers (all
--   days).
-- Parameters: $date, $day_end.
WITH declared AS (
    SELECT
        d.*,
        RTRIM(d.resource_id, '/') AS path,
        COALESCE(d.connection = r.store, FALSE)
        OR (d.operation = 'write' AND COALESCE(d.component = 'polyaxon-sidecar', FALSE)) AS is_store
    FROM declared_dependencies AS d
    INNER JOIN output_runs AS r ON d.run_uuid = r.run_uuid
    WHERE d.resource_kind = 'bucket'
),

-- Of several paths with the store's connection the shortest is its root.
roots AS (
    SELECT
        run_uuid,
        ARG_MIN(path, {'length': LENGTH(path), 'path': path}) AS root,
        ARG_MIN(connection, {'length': LENGTH(path), 'path': path}) AS connection,
        MIN(declared_dependency_id, 10) AS evidence_ids
    FROM declared
    WHERE is_store
    GROUP BY run_uuid
),

stores AS (
    SELECT
        r.run_uuid,
        COALESCE(r.store, o.connection) AS name,
        CASE WHEN CONTAINS(o.root, r.run_uuid) THEN o.root ELSE o.root || '/' || r.run_uuid END
            AS path,
        COALESCE(o.evidence_ids, []) AS evidence_ids
    FROM output_runs AS r
    LEFT JOIN roots AS o ON r.run_uuid = o.run_uuid
    WHERE r.store IS NOT NULL OR o.run_uuid IS NOT NULL
),

files AS (
    SELECT
        a.run_uuid, a.name, a.kind, a.path, a.resource_id, a.record_id,
        COALESCE(a.kind = 'checkpoint', FALSE)
        OR REGEXP_MATCHES(
            LOWER(COALESCE(a.name, '') || ' ' || COALESCE(a.path, '')), 'checkpoint|ckpt'
        ) AS is_checkpoint
    FROM run_artifacts AS a
    INNER JOIN output_runs AS r ON a.run_uuid = r.run_uuid
    WHERE
        a.stated_in = 'lineage'
        AND a.is_input = FALSE
        AND a.event_count IS NULL
        AND a.kind NOT IN ('coderef', 'docker_image', 'dockerfile', 'env', 'metric', 'system')
        AND (a.resource_kind = 'bucket' OR (a.path IS NOT NULL AND a.resource_id IS NULL))
        AND NOT COALESCE(REGEXP_MATCHES(a.path, '^[a-z0-9+]+://') AND a.resource_id IS NULL, FALSE)
        AND (
            a.observed_at < CAST($day_end AS TIMESTAMPTZ)
            OR (
                a.observed_at = CAST($day_end AS TIMESTAMPTZ) AND a.observed_basis = 'landing_day'
            )
        )
),

wanted AS (
    SELECT
        run_uuid, path, name, CAST(NULL AS VARCHAR) AS part,
        'artifacts_store' AS expected_from, 0 AS place, evidence_ids, 'declared_dependencies' AS source
    FROM stores
    UNION ALL
    SELECT
        f.run_uuid,
        CASE
            WHEN f.resource_id IS NOT NULL THEN RTRIM(f.resource_id, '/')
            WHEN CONTAINS(f.path, f.run_uuid) AND CONTAINS(s.path, f.run_uuid)
                THEN SPLIT_PART(s.path, f.run_uuid, 1) || f.run_uuid
                    || RTRIM(SPLIT_PART(f.path, f.run_uuid, 2), '/')
            ELSE s.path || '/' || TRIM(f.path, '/')
        END AS path,
        f.name,
        CASE WHEN f.resource_id IS NULL AND s.path IS NULL THEN TRIM(f.path, '/') END AS part,
        CASE WHEN f.is_checkpoint THEN 'checkpoint' ELSE 'lineage' END AS expected_from,
        1 AS place,
        [f.record_id] AS evidence_ids,
        'run_artifacts' AS source
    FROM files AS f
    LEFT JOIN stores AS s ON f.run_uuid = s.run_uuid
    UNION ALL
    SELECT
        run_uuid, resource_id AS path, NULL AS name, NULL AS part,
        CASE
            WHEN REGEXP_MATCHES(LOWER(resource_id), 'checkpoint|ckpt') THEN 'checkpoint'
            ELSE 'declared'
        END AS expected_from,
        2 AS place, record_ids AS evidence_ids, 'stage_marks' AS source
    FROM output_marks
    UNION ALL
    SELECT
        run_uuid, path, connection AS name, NULL AS part,
        CASE
            WHEN REGEXP_MATCHES(LOWER(path), 'checkpoint|ckpt') THEN 'checkpoint'
            WHEN declared_in = 'lineage' THEN 'lineage'
            ELSE 'declared'
        END AS expected_from,
        3 AS place, [declared_dependency_id] AS evidence_ids, 'declared_dependencies' AS source
    FROM declared
    WHERE operation = 'write' AND NOT is_store
),

-- Checkpoints that it wrote, or tried to, where nothing else lets expect any.
saved AS (
    SELECT
        t.run_uuid,
        CASE
            WHEN STARTS_WITH(t.object_id, RTRIM(t.resource_id, '/') || '/')
                THEN RTRIM(t.resource_id, '/')
            WHEN STARTS_WITH(t.object_id, 'az://')
                THEN ARRAY_TO_STRING(STRING_SPLIT(t.object_id, '/')[1:4], '/')
            ELSE ARRAY_TO_STRING(STRING_SPLIT(t.object_id, '/')[1:3], '/')
        END AS path,
        MIN(t.transfer_id, 3) AS evidence_ids
    FROM object_transfers AS t
    INNER JOIN output_runs AS r ON t.run_uuid = r.run_uuid
    WHERE
        t.date <= CAST($date AS DATE)
        AND t.operation IN ('write', 'copy')
        AND t.key IS NOT NULL
        AND REGEXP_MATCHES(LOWER(t.object_id), 'checkpoint|ckpt')
        AND NOT EXISTS (
            SELECT 1 FROM wanted AS w
            WHERE
                w.run_uuid = t.run_uuid
                AND COALESCE(
                    STARTS_WITH(t.object_id, w.path || '/') OR t.object_id = w.path,
                    CONTAINS(t.key, t.run_uuid)
                )
        )
    GROUP BY t.run_uuid, path
),

expected AS (
    SELECT * FROM wanted
    UNION ALL
    SELECT
        run_uuid, path, NULL AS name, NULL AS part, 'checkpoint' AS expected_from, 4 AS place,
        evidence_ids, 'object_transfers' AS source
    FROM saved
),

-- One path once; without a path one name once.
chosen AS (
    SELECT
        run_uuid,
        path AS resource_id,
        CASE WHEN path IS NULL THEN name END AS unplaced,
        ARG_MIN(name, {'place': place, 'name': name}) FILTER (WHERE name IS NOT NULL) AS name,
        MIN(part) AS part,
        ARG_MIN(expected_from, {'place': place, 'from': expected_from}) AS expected_from,
        LIST_SORT(LIST_DISTINCT(FLATTEN(LIST(evidence_ids)))) AS evidence_ids,
        LIST_SORT(LIST(DISTINCT source)) AS sources
    FROM expected
    GROUP BY run_uuid, path, unplaced
)

SELECT
    run_uuid,
    resource_id,
    name,
    part,
    expected_from,
    CASE
        WHEN STARTS_WITH(resource_id, 'az://') THEN SPLIT_PART(resource_id, '/', 4)
        ELSE SPLIT_PART(resource_id, '/', 3)
    END AS bucket,
    evidence_ids,
    sources,
    row_id([id_text(run_uuid), id_text(resource_id), id_text(name)]) AS run_output_id
FROM chosen
