-- Contacts with object storage that a request log explains (definitions.md 21): requests of the
-- same owner to the same bucket or endpoint at the same time. Where the host names a logged bucket,
-- also requests that may be the owner's, or of no certain owner: their bytes are in the log.
-- Grain: one owner and host.
-- Reads: dependency_contacts, dependency_objects.
-- Parameters: $guard_us (clocks differ by at most this).
WITH logged AS (
    SELECT
        transfer_id, owner_key, provider, bucket, endpoint, resource_id, run_uuid, pod_uid,
        candidate_pod_uids, bytes, has_received, has_sent,
        epoch_us(first_at) - $guard_us AS start_us,
        epoch_us(last_at) + $guard_us AS end_us
    FROM dependency_objects
    WHERE measured_by = 'storage_log'
),

owned AS (
    SELECT transfer_id, owner_key, TRUE AS is_certain
    FROM logged
    WHERE owner_key IS NOT NULL
    UNION ALL
    SELECT transfer_id, 'pod ' || candidate AS owner_key, FALSE AS is_certain
    FROM (
        SELECT transfer_id, UNNEST(candidate_pod_uids) AS candidate
        FROM logged
        WHERE pod_uid IS NULL
    )
),

places AS (
    SELECT DISTINCT owner_key, resource_id, endpoint, provider, bucket
    FROM dependency_contacts
),

pairs AS (
    SELECT
        p.owner_key, p.resource_id, l.transfer_id, BOOL_OR(o.is_certain) AS is_certain,
        MIN(l.start_us) AS start_us, MIN(l.end_us) AS end_us
    FROM places AS p
    INNER JOIN owned AS o ON p.owner_key = o.owner_key
    INNER JOIN logged AS l
        ON o.transfer_id = l.transfer_id
        AND (
            (p.bucket IS NOT NULL AND p.provider = l.provider AND p.bucket = l.bucket)
            OR (
                p.bucket IS NULL
                AND o.is_certain
                AND (
                    p.endpoint = l.endpoint
                    OR (l.endpoint IS NULL AND p.provider = l.provider)
                )
            )
        )
    GROUP BY p.owner_key, p.resource_id, l.transfer_id
),

-- A request meets a contact if of all contacts begun before its end one ended after its start: the
-- latest end so far decides, so that no pair of a request and a contact is ever made.
moments AS (
    SELECT owner_key, resource_id, start_us AS moment_us, end_us AS contact_end_us,
        CAST(NULL AS VARCHAR) AS transfer_id, CAST(NULL AS BIGINT) AS request_start_us,
        CAST(NULL AS BOOLEAN) AS is_certain
    FROM dependency_contacts
    UNION ALL
    SELECT owner_key, resource_id, end_us AS moment_us, CAST(NULL AS BIGINT) AS contact_end_us,
        transfer_id, start_us AS request_start_us, is_certain
    FROM pairs
),

met AS (
    SELECT
        *,
        MAX(contact_end_us) OVER (
            PARTITION BY owner_key, resource_id ORDER BY moment_us
            RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS latest_end_us
    FROM moments
),

by_owner AS (
    SELECT m.owner_key, m.resource_id, m.is_certain, l.resource_id AS logged_in, l.bytes,
        l.has_received, l.has_sent
    FROM met AS m
    INNER JOIN logged AS l ON m.transfer_id = l.transfer_id
    WHERE m.latest_end_us >= m.request_start_us
),

-- Requests of no certain owner, of the contact's run or of none. Turned round: the contacts ask.
unowned AS (
    SELECT provider, bucket, COALESCE(run_uuid, '') AS run_key, start_us, end_us, resource_id
    FROM logged
    WHERE pod_uid IS NULL AND candidate_pod_uids IS NULL
),

questions AS (
    SELECT DISTINCT
        c.owner_key, c.resource_id, c.provider, c.bucket, c.start_us, c.end_us,
        k.run_key
    FROM dependency_contacts AS c
    INNER JOIN (SELECT DISTINCT provider, bucket, run_key FROM unowned) AS k
        ON c.provider = k.provider
        AND c.bucket = k.bucket
        AND k.run_key IN ('', COALESCE(c.run_uuid, ''))
),

asked AS (
    SELECT
        *,
        MAX(request_end_us) OVER (
            PARTITION BY provider, bucket, run_key ORDER BY moment_us
            RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS latest_end_us
    FROM (
        SELECT provider, bucket, run_key, start_us AS moment_us, end_us AS request_end_us,
            CAST(NULL AS VARCHAR) AS owner_key, CAST(NULL AS VARCHAR) AS resource_id,
            CAST(NULL AS BIGINT) AS contact_start_us
        FROM unowned
        UNION ALL
        SELECT provider, bucket, run_key, end_us AS moment_us,
            CAST(NULL AS BIGINT) AS request_end_us, owner_key, resource_id,
            start_us AS contact_start_us
        FROM questions
    )
),

by_bucket AS (
    SELECT DISTINCT a.owner_key, a.resource_id, a.provider, a.bucket
    FROM asked AS a
    WHERE a.owner_key IS NOT NULL AND a.latest_end_us >= a.contact_start_us
),

bucket_resources AS (
    SELECT provider, bucket, resource_id, SUM(bytes) AS bytes
    FROM logged
    WHERE pod_uid IS NULL AND candidate_pod_uids IS NULL
    GROUP BY provider, bucket, resource_id
),

explaining AS (
    SELECT
        owner_key, resource_id, logged_in,
        TRUE AS is_of_owner,
        SUM(bytes) AS bytes,
        SUM(CASE WHEN is_certain AND has_received THEN bytes ELSE 0 END) AS received_bytes,
        SUM(CASE WHEN is_certain AND has_sent THEN bytes ELSE 0 END) AS sent_bytes
    FROM by_owner
    GROUP BY owner_key, resource_id, logged_in
    UNION ALL
    SELECT
        b.owner_key, b.resource_id, r.resource_id AS logged_in,
        FALSE AS is_of_owner,
        r.bytes,
        0 AS received_bytes,
        0 AS sent_bytes
    FROM by_bucket AS b
    INNER JOIN bucket_resources AS r ON b.provider = r.provider AND b.bucket = r.bucket
),

ranked AS (
    SELECT
        *,
        ROW_NUMBER() OVER (
            PARTITION BY owner_key, resource_id ORDER BY is_of_owner DESC, bytes DESC, logged_in
        ) AS place
    FROM explaining
)

SELECT
    owner_key,
    resource_id,
    MIN(CASE WHEN place = 1 THEN logged_in END) AS accounted_in,
    SUM(CASE WHEN place = 1 THEN bytes ELSE 0 END) AS accounted_bytes,
    SUM(received_bytes) AS logged_received_bytes,
    SUM(sent_bytes) AS logged_sent_bytes
FROM ranked
GROUP BY owner_key, resource_id
