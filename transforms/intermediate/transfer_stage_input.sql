-- Transfers of a pod at their start, to be matched to stages.
-- Grain: transfer of a pod.
-- Reads: transfer_totals.
SELECT
    {'group_number': group_number, 'record_id': first_record_id} AS item_id,
    cluster,
    pod_uid,
    CASE WHEN container_kind = 'only_running' THEN container END AS container,
    make_timestamptz(began_us) AS event_at
FROM transfer_totals
WHERE pod_uid IS NOT NULL AND cluster IS NOT NULL AND NOT opened_before
