-- What the runs of the day declare that their components use.
-- Grain: one run, component, resource and operation.
-- Reads: run_versions, pod_states, run_artifacts, declared_dependencies (earlier days).
-- Parameters: $date, $day_start, $day_end, $span_start (start of the look-back).
WITH versions AS (
    SELECT
        run_uuid, observed_at, record_id, declared_accesses,
        finished_at IS NULL OR finished_at >= CAST($day_start AS TIMESTAMPTZ) AS is_of_day
    FROM run_versions
    WHERE
        observed_at >= CAST($span_start AS TIMESTAMPTZ)
        AND COALESCE(created_at, observed_at) < CAST($day_end AS TIMESTAMPTZ)
),

pods AS (
    SELECT
        run_uuid, observed_at, record_id, declared_accesses,
        observed_at >= CAST($day_start AS TIMESTAMPTZ) AS is_of_day
    FROM pod_states
    WHERE
        run_uuid IS NOT NULL
        AND run_component IS DISTINCT FROM 'polyaxon-cleaners'
        AND observed_at >= CAST($span_start AS TIMESTAMPTZ)
        AND created_at < CAST($day_end AS TIMESTAMPTZ)
),

runs_of_day AS (
    SELECT run_uuid FROM versions WHERE is_of_day
    UNION
    SELECT run_uuid FROM pods WHERE is_of_day
),

stated AS (
    SELECT
        run_uuid, observed_at, record_id, 'content' AS stated_in,
        UNNEST(declared_accesses) AS access
    FROM versions
    UNION ALL
    SELECT
        run_uuid, observed_at, record_id, 'pod_spec' AS stated_in,
        UNNEST(declared_accesses) AS access
    FROM pods
),

-- Data in buckets that a run logged: an input is read, another artifact written. A lineage has no
-- creation of its own; what the end of the landing day stands for was known on that day.
logged AS (
    SELECT
        run_uuid, observed_at, record_id, resource_id, resource_kind, version, connection,
        CASE WHEN is_input THEN 'read' ELSE 'write' END AS operation
    FROM run_artifacts
    WHERE
        stated_in = 'lineage'
        AND resource_kind = 'bucket'
        AND is_input IS NOT NULL
        AND observed_at >= CAST($span_start AS TIMESTAMPTZ)
        AND (
            observed_at < CAST($day_end AS TIMESTAMPTZ)
            OR (
                observed_at = CAST($day_end AS TIMESTAMPTZ) AND observed_basis = 'landing_day'
            )
        )
),

declared AS (
    SELECT
        run_uuid,
        access.component AS component,
        access.container_role AS container_role,
        access.resource_id AS resource_id,
        access.operation AS operation,
        access.resource_kind AS resource_kind,
        access.version AS version,
        access.credential AS credential,
        access.connection AS connection,
        access.needed_in_stage AS needed_in_stage,
        COALESCE(access.declared_in, stated_in) AS declared_in,
        epoch_us(observed_at) AS known_us,
        record_id
    FROM stated
    WHERE access.resource_id IS NOT NULL AND access.operation IS NOT NULL
    UNION ALL
    SELECT
        run_uuid, NULL AS component, NULL AS container_role, resource_id, operation, resource_kind,
        version, NULL AS credential, connection, NULL AS needed_in_stage,
        'lineage' AS declared_in,
        epoch_us(observed_at) AS known_us,
        record_id
    FROM logged
    UNION ALL
    SELECT
        run_uuid, component, container_role, resource_id, operation, resource_kind, version,
        credential, connection, needed_in_stage, declared_in,
        epoch_us(CAST(date AS TIMESTAMP)) AS known_us,
        declared_dependency_id AS record_id
    FROM declared_dependencies
    WHERE date < CAST($date AS DATE)
),

-- What a run's content says goes before what its pods and their environment show, newest first;
-- the last columns make the order total.
ranked AS (
    SELECT
        *,
        ROW_NUMBER() OVER (
            PARTITION BY run_uuid, component, resource_id, operation
            ORDER BY
                CASE declared_in
                    WHEN 'content' THEN 0 WHEN 'pod_spec' THEN 1 WHEN 'environment' THEN 2
                    ELSE 3
                END,
                known_us DESC, declared_in, record_id, container_role, resource_kind, version,
                credential, connection, needed_in_stage
        ) AS preference
    FROM declared
    WHERE run_uuid IN (SELECT run_uuid FROM runs_of_day)
)

SELECT
    row_id([
        id_text(run_uuid), id_text(component), id_text(resource_id), id_text(operation)
    ]) AS declared_dependency_id,
    run_uuid,
    component,
    ARG_MIN(container_role, preference)
        FILTER (WHERE container_role IS NOT NULL) AS container_role,
    resource_id,
    operation,
    COALESCE(
        ARG_MIN(resource_kind, preference) FILTER (WHERE resource_kind IS NOT NULL), 'unknown'
    ) AS resource_kind,
    ARG_MIN(version, preference) FILTER (WHERE version IS NOT NULL) AS version,
    ARG_MIN(credential, preference) FILTER (WHERE credential IS NOT NULL) AS credential,
    ARG_MIN(connection, preference) FILTER (WHERE connection IS NOT NULL) AS connection,
    ARG_MIN(needed_in_stage, preference)
        FILTER (WHERE needed_in_stage IS NOT NULL) AS needed_in_stage,
    ARG_MIN(declared_in, preference) AS declared_in
FROM ranked
GROUP BY run_uuid, component, resource_id, operation
