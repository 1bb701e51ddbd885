-- One pod with the facts that its states give, newest first, per fact.
-- Dated facts may come from any state, as a state speaks for the time from creation to its
--   observation; whoever uses them cuts them at the day's end.
-- Grain: one pod.
-- Reads: pod_interval_states.
-- Parameters: $day_end.
WITH facts AS (
    SELECT
        pod_uid,
        ARG_MIN(namespace, fact_rank) AS namespace,
        ARG_MIN(pod_name, fact_rank) AS pod_name,
        ARG_MIN(node, fact_rank) FILTER (WHERE node IS NOT NULL) AS node,
        ARG_MIN(host_network, fact_rank) AS host_network,
        ARG_MIN(labels, fact_rank) FILTER (WHERE labels IS NOT NULL) AS labels,
        ARG_MIN(service_account, fact_rank)
            FILTER (WHERE service_account IS NOT NULL) AS service_account,
        ARG_MIN(run_component, fact_rank)
            FILTER (WHERE run_component IS NOT NULL) AS run_component,
        ARG_MIN(run_owner, fact_rank) FILTER (WHERE run_owner IS NOT NULL) AS run_owner,
        ARG_MIN(project, fact_rank) FILTER (WHERE project IS NOT NULL) AS project,
        ARG_MIN(replica_type, fact_rank)
            FILTER (WHERE replica_type IS NOT NULL) AS replica_type,
        ARG_MIN(replica_index, fact_rank)
            FILTER (WHERE replica_index IS NOT NULL) AS replica_index,
        ARG_MIN(gpu_count, fact_rank) AS gpu_count,
        ARG_MAX(created_at, ordinal) AS created_at,
        ARG_MAX(start_time_at, ordinal)
            FILTER (WHERE start_time_at IS NOT NULL) AS start_time_at,
        MIN(sandbox_ready_at) AS first_ready_at,
        MAX(sandbox_ready_at) AS last_ready_at,
        MAX(sandbox_ended_at) AS sandbox_ended_at,
        MAX(last_finished_at)
            FILTER (WHERE is_terminal OR is_deleted OR deletion_at IS NOT NULL) AS finished_at,
        MIN(
            CASE
                WHEN observed_basis = 'record' THEN seen_at
                ELSE COALESCE(deletion_at, seen_at)
            END
        ) FILTER (WHERE is_deleted) AS seen_deleted_at,
        ARG_MAX(deletion_at, ordinal) FILTER (WHERE deletion_at IS NOT NULL) AS deletion_at,
        MIN(seen_at) FILTER (WHERE is_terminal) AS seen_terminal_at,
        MAX(seen_at) FILTER (WHERE NOT is_terminal AND NOT is_deleted) AS seen_alive_at,
        -- A time that a path or a landing day gives proves no order with the record's own times.
        MAX(CASE WHEN observed_basis = 'record' THEN seen_at ELSE newest_fact_at END)
            FILTER (WHERE NOT is_terminal AND NOT is_deleted) AS surely_alive_at,
        MAX(seen_at) AS last_seen_at,
        ARG_MAX(phase, ordinal) FILTER (WHERE is_terminal) AS terminal_phase,
        ARG_MIN(phase, fact_rank) FILTER (WHERE phase IS NOT NULL AND is_of_day) AS phase,
        COALESCE(BOOL_OR(run_match_kind = 'conflict'), FALSE)
            OR COUNT(DISTINCT run_uuid) > 1 AS is_run_contradicted,
        MIN(run_uuid) AS run_uuid,
        MIN(
            CASE run_match_kind
                WHEN 'label' THEN 0 WHEN 'instance_label' THEN 1 WHEN 'environment' THEN 2
                WHEN 'name' THEN 3
            END
        ) FILTER (WHERE run_uuid IS NOT NULL) AS run_rung
    FROM pod_interval_states
    GROUP BY pod_uid
),

ends AS (
    SELECT
        *,
        CASE
            WHEN last_ready_at IS NULL OR sandbox_ended_at >= last_ready_at THEN sandbox_ended_at
        END AS torn_down_at,
        CASE
            WHEN seen_deleted_at IS NOT NULL THEN seen_deleted_at
            -- A pod seen alive after the time at which it should be gone hangs in deletion.
            WHEN surely_alive_at IS NULL OR deletion_at >= surely_alive_at THEN deletion_at
        END AS deleted_at
    FROM facts
)

SELECT
    * EXCLUDE (run_uuid, is_run_contradicted, run_rung, torn_down_at, phase, terminal_phase),
    CASE
        WHEN finished_at < CAST($day_end AS TIMESTAMPTZ) THEN COALESCE(terminal_phase, phase)
        ELSE phase
    END AS phase,
    CASE
        WHEN torn_down_at IS NOT NULL THEN torn_down_at
        WHEN finished_at IS NOT NULL THEN finished_at
        WHEN deleted_at IS NOT NULL AND seen_terminal_at IS NOT NULL
            THEN LEAST(deleted_at, seen_terminal_at)
        ELSE COALESCE(deleted_at, seen_terminal_at)
    END AS proven_end_at,
    CASE
        WHEN torn_down_at IS NOT NULL THEN 'sandbox_teardown'
        WHEN finished_at IS NOT NULL THEN 'finished'
        WHEN deleted_at IS NOT NULL AND (seen_terminal_at IS NULL OR deleted_at <= seen_terminal_at)
            THEN 'deleted'
        -- Seen dead without a time of death: it had ended by then.
        WHEN seen_terminal_at IS NOT NULL THEN 'last_seen'
    END AS proven_end_basis,
    CASE
        WHEN is_run_contradicted OR run_component = 'polyaxon-cleaners' THEN NULL
        ELSE run_uuid
    END AS run_uuid,
    CASE
        WHEN run_component = 'polyaxon-cleaners' THEN 'none'
        WHEN is_run_contradicted THEN 'conflict'
        WHEN run_uuid IS NULL THEN 'none'
        ELSE COALESCE(['label', 'instance_label', 'environment', 'name'][run_rung + 1], 'none')
    END AS run_match_kind
FROM ends
