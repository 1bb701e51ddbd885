-- States of the kubelet's events about pulling images, read (polyaxon_kubernetes.md 5.2).
-- `series_id` names an event over its repetitions: the object may expire and come back with the
--   same first time, and an archive keeps neither its name nor its UID.
-- `kind`: pulling, pulled, present, failed (a pull failed), refused (the container waits for it),
--   backoff.
-- Grain: one state.
-- Reads: kube_event_states.
-- Parameters: $cluster, $span_start (start of the look-back), $day_end.
WITH events AS (
    SELECT
        namespace, involved_name AS pod_name, involved_uid AS pod_uid, container, node, reason,
        event_uid IS NULL AS is_archived,
        REGEXP_REPLACE(message, '^\(combined from similar events\): ', '') AS message,
        COALESCE(first_at, event_at) AS first_at,
        event_at AS last_at,
        event_count
    FROM kube_event_states
    WHERE
        cluster = $cluster
        AND COALESCE(involved_kind, 'Pod') = 'Pod'
        AND involved_name IS NOT NULL
        AND reason IN ('Pulling', 'Pulled', 'Failed', 'BackOff')
        AND message IS NOT NULL
        AND event_at >= CAST($span_start AS TIMESTAMPTZ)
        AND COALESCE(first_at, event_at) < CAST($day_end AS TIMESTAMPTZ)
),

kinds AS (
    SELECT
        *,
        CASE
            WHEN reason = 'Pulling' AND REGEXP_MATCHES(message, '^[Pp]ulling image "') THEN 'pulling'
            WHEN reason = 'Pulled' AND message LIKE 'Successfully pulled image "%' THEN 'pulled'
            WHEN reason = 'Pulled' AND message LIKE 'Container image "%" already present %'
                THEN 'present'
            WHEN reason = 'Failed' AND message LIKE 'Failed to pull image "%' THEN 'failed'
            WHEN
                reason = 'Failed' AND REGEXP_MATCHES(
                    message,
                    '^Error: (ErrImagePull|RegistryUnavailable|SignatureValidationFailed)'
                )
                THEN 'refused'
            WHEN reason = 'Failed' AND message LIKE 'Error: ImagePullBackOff%' THEN 'backoff'
            WHEN reason = 'BackOff' AND message LIKE 'Back-off pulling image "%' THEN 'backoff'
        END AS kind,
        NULLIF(
            REGEXP_EXTRACT(
                message,
                '^(?:[Pp]ulling|Successfully pulled|Container|Failed to pull|Back-off pulling)'
                || ' image "([^"]+)"',
                1
            ),
            ''
        ) AS image,
        REGEXP_EXTRACT(
            message,
            '^Successfully pulled image "[^"]+"(?: in ([0-9a-zµμ.]+))?'
            || '(?: \(([0-9a-zµμ.]+) including waiting\))?(?:\. Image size: ([0-9]+) bytes)?',
            ['stated', 'including_waiting', 'image_bytes']
        ) AS parts
    FROM events
),

-- Go writes a duration below one second in one smaller unit, others in hours, minutes, seconds.
duration_texts AS (
    SELECT DISTINCT UNNEST([parts.stated, parts.including_waiting]) AS duration
    FROM kinds
),

duration_parts AS (
    SELECT
        duration,
        REGEXP_EXTRACT(
            duration,
            '^(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,9}(?:\.[0-9]{1,9})?)s)?$',
            ['hours', 'minutes', 'seconds']
        ) AS whole,
        REGEXP_EXTRACT(
            duration, '^([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|µs|μs|us|ns)$', ['amount', 'unit']
        ) AS small
    FROM duration_texts
    WHERE duration <> ''
),

durations AS (
    SELECT
        duration,
        CASE
            WHEN small.unit <> '' THEN
                CAST(
                    FLOOR(
                        CAST(small.amount AS DECIMAL(20, 9))
                        * CASE small.unit WHEN 'ms' THEN 1000 WHEN 'ns' THEN 0.001 ELSE 1 END
                    ) AS BIGINT
                )
            WHEN whole.hours <> '' OR whole.minutes <> '' OR whole.seconds <> '' THEN
                CAST(COALESCE(NULLIF(whole.hours, ''), '0') AS BIGINT) * 3600000000
                + CAST(COALESCE(NULLIF(whole.minutes, ''), '0') AS BIGINT) * 60000000
                + CAST(
                    FLOOR(
                        CAST(COALESCE(NULLIF(whole.seconds, ''), '0') AS DECIMAL(20, 9))
                        * 1000000
                    ) AS BIGINT
                )
        END AS duration_us
    FROM duration_parts
),

measured AS (
    SELECT
        k.* EXCLUDE (parts),
        d.duration_us AS stated_us,
        w.duration_us AS including_waiting_us,
        TRY_CAST(NULLIF(k.parts.image_bytes, '') AS BIGINT) AS image_bytes
    FROM kinds AS k
    LEFT JOIN durations AS d ON k.parts.stated = d.duration
    LEFT JOIN durations AS w ON k.parts.including_waiting = w.duration
    WHERE k.kind IS NOT NULL
)

SELECT
    row_id([
        id_text(namespace), id_text(pod_name), id_text(pod_uid), id_text(container),
        id_text(reason), id_text(message), id_time(first_at)
    ]) AS series_id,
    namespace, pod_name, pod_uid, container, node, kind, image, message, first_at, last_at,
    event_count, stated_us, including_waiting_us, image_bytes
FROM measured AS a
-- What an archive tells of an event that is also there in full is the same event.
WHERE NOT (
    is_archived
    AND EXISTS (
        SELECT 1
        FROM measured AS f
        WHERE
            NOT f.is_archived
            AND f.pod_name = a.pod_name
            AND f.namespace IS NOT DISTINCT FROM a.namespace
            AND f.kind = a.kind
            AND f.message = a.message
            AND f.first_at = a.first_at
    )
)
