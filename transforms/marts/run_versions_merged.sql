-- What the versions of a run say together: per fact the newest version that states it, because
-- lists lack facts that details have. A status counts only where it held at the end of the day.
-- Grain: one run.
-- Reads: run_versions.
-- Parameters: $day_end.
WITH ranked AS (
    SELECT
        *,
        view <> 'list' AS is_whole,
        COALESCE(updated_at, observed_at) AS version_at,
        observed_at <= CAST($day_end AS TIMESTAMPTZ) AS is_of_day,
        ROW_NUMBER() OVER (
            PARTITION BY run_uuid
            ORDER BY
                COALESCE(updated_at, observed_at), observed_at, view <> 'list', view = 'detail',
                record_id, export_file_id, record_index, row_index
        ) AS place
    FROM run_versions
)

SELECT
    run_uuid,
    ARG_MAX(name, place) FILTER (WHERE name IS NOT NULL) AS name,
    ARG_MAX(kind, place) FILTER (WHERE kind IS NOT NULL) AS kind,
    ARG_MAX(runtime, place) FILTER (WHERE runtime IS NOT NULL) AS runtime,
    ARG_MAX(project, place) FILTER (WHERE project IS NOT NULL AND is_whole) AS stated_project,
    ARG_MAX(project, place) FILTER (WHERE project IS NOT NULL AND NOT is_whole) AS listed_project,
    ARG_MAX(run_owner, place) FILTER (WHERE run_owner IS NOT NULL) AS run_owner,
    ARG_MAX(queue, place) FILTER (WHERE queue IS NOT NULL) AS queue,
    ARG_MAX(pipeline_uuid, place) FILTER (WHERE pipeline_uuid IS NOT NULL) AS pipeline_uuid,
    ARG_MAX(original_uuid, place) FILTER (WHERE original_uuid IS NOT NULL) AS original_uuid,
    ARG_MAX(code_revision, place) FILTER (WHERE code_revision IS NOT NULL) AS code_revision,
    MIN(created_at) AS created_at,
    MIN(observed_at) AS first_observed_at,
    ARG_MAX(status, place) FILTER (WHERE status IS NOT NULL AND is_of_day) AS status,
    ARG_MAX(version_at, place) FILTER (WHERE status IS NOT NULL AND is_of_day) AS status_at,
    ARG_MAX(finished_at, place) FILTER (WHERE status IS NOT NULL AND is_of_day) AS finished_at,
    -- Seen only later: an end before the end of the day is all that it can say of the day.
    ARG_MAX(status, place) FILTER (
        WHERE status IS NOT NULL AND finished_at < CAST($day_end AS TIMESTAMPTZ)
    ) AS later_status,
    ARG_MAX(finished_at, place) FILTER (
        WHERE status IS NOT NULL AND finished_at < CAST($day_end AS TIMESTAMPTZ)
    ) AS later_finished_at
FROM ranked
GROUP BY run_uuid
