-- Expected outputs with their proof (definitions.md 46).
-- Grain: one expected output of one run active on the day; of a run that did not succeed, one that
-- was seen.
-- Reads: output_paths, output_runs, output_objects, output_coverage, output_marks, output_traffic,
--   output_sidecars.
WITH standing AS (
    SELECT
        run_output_id,
        COUNT(*) FILTER (WHERE own_state = 'written') AS object_count,
        COUNT(*) FILTER (
            WHERE own_state = 'written' AND COALESCE(deleted_us <= written_us, TRUE)
        ) AS remaining_count,
        COUNT(*) FILTER (WHERE own_state = 'deleted') AS deleted_count,
        MAX(written_us) FILTER (WHERE own_state = 'written') AS uploaded_us,
        MAX(deleted_us) AS deleted_us,
        CASE
            WHEN COUNT(object_size_bytes) FILTER (WHERE own_state = 'written')
                = COUNT(*) FILTER (WHERE own_state = 'written')
                THEN CAST(LEAST(
                    SUM(object_size_bytes) FILTER (WHERE own_state = 'written'),
                    9223372036854775807
                ) AS BIGINT)
        END AS bytes,
        ARG_MAX(own_state, {'us': tried_us, 'path': object_path})
            FILTER (WHERE tried_us IS NOT NULL) AS last_state,
        ARG_MAX(COALESCE(error, ''), {'us': tried_us, 'path': object_path})
            FILTER (WHERE tried_us IS NOT NULL) AS last_error,
        FLATTEN(LIST(transfer_ids)) AS transfer_ids
    FROM output_objects
    GROUP BY run_output_id
),

judged AS (
    SELECT
        o.*,
        r.outcome,
        r.is_final,
        COALESCE(s.object_count, 0) AS object_count,
        COALESCE(s.remaining_count, 0) AS remaining_count,
        COALESCE(s.deleted_count, 0) AS deleted_count,
        s.uploaded_us, s.deleted_us, s.bytes, s.last_error,
        COALESCE(s.transfer_ids, []) AS transfer_ids,
        m.stated_bytes,
        t.max_bytes AS max_transmitted_bytes,
        c.exit_code AS sidecar_exit_code,
        c.record_id AS sidecar_record_id,
        COALESCE(v.is_covered, FALSE) AS is_covered,
        CASE WHEN o.bucket IS NOT NULL THEN GREATEST(r.until_us - r.start_us, 0) END AS expected_us,
        CASE WHEN o.bucket IS NOT NULL THEN COALESCE(v.covered_us, 0) END AS covered_us,
        CASE
            WHEN r.outcome <> 'succeeded' THEN NULL
            WHEN s.last_state = 'failed' THEN 'failed'
            WHEN s.last_state = 'aborted' THEN 'aborted'
            WHEN s.object_count = 0 AND s.deleted_count > 0 THEN 'deleted'
            WHEN t.max_bytes < m.stated_bytes AND t.seen_until_us > m.last_us THEN 'too_small'
        END AS contradiction
    FROM output_paths AS o
    INNER JOIN output_runs AS r ON o.run_uuid = r.run_uuid
    LEFT JOIN standing AS s ON o.run_output_id = s.run_output_id
    LEFT JOIN output_coverage AS v ON o.run_output_id = v.run_output_id
    LEFT JOIN output_marks AS m
        ON o.run_uuid = m.run_uuid AND o.resource_id = m.resource_id
    LEFT JOIN output_traffic AS t ON o.run_uuid = t.run_uuid
    LEFT JOIN output_sidecars AS c
        ON o.run_uuid = c.run_uuid AND o.expected_from = 'artifacts_store'
)

SELECT
    run_output_id,
    run_uuid,
    resource_id,
    name,
    expected_from,
    bucket,
    CASE
        WHEN contradiction IS NOT NULL THEN 'contradicted'
        WHEN object_count > 0 THEN 'proven'
        WHEN is_covered THEN 'unproven'
        ELSE 'not_observed'
    END AS proof,
    CASE
        WHEN contradiction = 'failed'
            THEN 'the last write failed' || COALESCE(': ' || NULLIF(last_error, ''), '')
        WHEN contradiction = 'aborted' THEN 'the upload was aborted'
        WHEN contradiction = 'deleted' THEN 'the run deleted what it wrote'
        WHEN contradiction = 'too_small' THEN 'its pods sent fewer bytes than were to be saved'
        WHEN object_count > 0 THEN 'written by the run and not deleted by it'
        WHEN is_covered THEN 'all requests to the bucket are logged, and none wrote it'
        WHEN bucket IS NULL THEN 'the bucket is not known'
        ELSE 'requests to the bucket are not all logged'
    END
    || CASE
        WHEN object_count = 0 AND sidecar_exit_code IS NOT NULL
            THEN '; the sidecar that uploads ended with exit code '
                || CAST(sidecar_exit_code AS VARCHAR)
        ELSE ''
    END AS reason,
    make_timestamptz(uploaded_us) AS uploaded_at,
    make_timestamptz(deleted_us) AS deleted_at,
    CAST(object_count AS BIGINT) AS object_count,
    CAST(remaining_count AS BIGINT) AS remaining_object_count,
    bytes,
    stated_bytes,
    CAST(max_transmitted_bytes AS BIGINT) AS max_transmitted_bytes,
    sidecar_exit_code,
    LIST_SORT(LIST_DISTINCT(LIST_CONCAT(
        sources,
        CASE WHEN LEN(transfer_ids) > 0 THEN ['object_transfers'] ELSE [] END,
        CASE WHEN is_covered THEN ['node_coverage'] ELSE [] END,
        CASE WHEN contradiction = 'too_small' THEN ['pod_traffic'] ELSE [] END,
        CASE WHEN sidecar_record_id IS NOT NULL THEN ['container_states'] ELSE [] END
    ))) AS sources,
    LIST_SORT(LIST_DISTINCT(LIST_CONCAT(
        transfer_ids, evidence_ids,
        CASE WHEN sidecar_record_id IS NOT NULL THEN [sidecar_record_id] ELSE [] END
    )))[1:10] AS evidence_ids,
    expected_us,
    covered_us,
    CASE
        WHEN is_covered THEN 'nothing_happened'
        WHEN covered_us > 0 THEN 'partly_observed'
        ELSE 'not_observed'
    END AS empty_means,
    is_final
FROM judged
WHERE outcome = 'succeeded' OR object_count > 0
