-- Whose an address can be at an instant, with a number in place of what the match says.
-- Grain: one different match.
-- Reads: match_output.
WITH told AS (
    SELECT DISTINCT
        CONCAT_WS(
            '/', match_kind, cluster, pod_uid, node, ARRAY_TO_STRING(candidate_pod_uids, ',')
        ) AS holder_key,
        cluster, pod_uid, namespace, pod_name, node, run_uuid, attempt, match_kind,
        candidate_pod_uids
    FROM match_output
)

SELECT
    CAST(ROW_NUMBER() OVER () AS INTEGER) AS holder,
    *,
    CASE
        WHEN pod_uid IS NOT NULL THEN [pod_uid]
        WHEN match_kind = 'ambiguous' THEN candidate_pod_uids
        ELSE []
    END AS candidates
FROM told
