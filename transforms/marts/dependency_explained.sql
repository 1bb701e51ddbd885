-- Contacts with object storage that a request log explains (definitions.md 21): requests of the
-- same owner to the same bucket or endpoint at the same time. Where the host names a logged bucket,
-- also requests that may be the owner's, or of no certain owner: their bytes are in the log.
-- Grain: one owner and host.
-- Reads: dependency_contacts, dependency_objects.
-- Parameters: $guard_us (clocks differ by at most this).
-- Numbers stand for transfers and for pairs of an owner and a host, so that texts are compared once.
WITH logged AS MATERIALIZED (
    SELECT
        ROW_NUMBER() OVER () AS transfer, owner_key, provider, bucket, endpoint, resource_id, run_uuid, pod_uid,
        candidate_pod_uids, bytes, has_received, has_sent,
        epoch_us(first_at) - $guard_us AS start_us,
        epoch_us(last_at) + $guard_us AS end_us
    FROM dependency_objects
    WHERE measured_by = 'storage_log'
),

owned AS (
    SELECT transfer, owner_key, TRUE AS is_certain
    FROM logged
    WHERE owner_key IS NOT NULL
    UNION ALL
    SELECT transfer, 'pod ' || candidate AS owner_key, FALSE AS is_certain
    FROM (
        SELECT transfer, UNNEST(candidate_pod_uids) AS candidate
        FROM logged
        WHERE pod_uid IS NULL
    )
),

named AS MATERIALIZED (
    SELECT ROW_NUMBER() OVER () AS place, owner_key, resource_id
    FROM (SELECT DISTINCT owner_key, resource_id FROM dependency_contacts)
),

contacts AS (
    SELECT n.place, c.owner_key, c.endpoint, c.provider, c.bucket, c.start_us, c.end_us
    FROM dependency_contacts AS c
    INNER JOIN named AS n ON c.owner_key = n.owner_key AND c.resource_id = n.resource_id
),

places AS (
    SELECT DISTINCT place, owner_key, endpoint, provider, bucket FROM contacts
),

pairs AS (
    SELECT
        p.place, l.transfer, BOOL_OR(o.is_certain) AS is_certain,
        MIN(l.start_us) AS start_us, MIN(l.end_us) AS end_us
    FROM places AS p
    INNER JOIN owned AS o ON p.owner_key = o.owner_key
    INNER JOIN logged AS l
        ON o.transfer = l.transfer
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
    GROUP BY p.place, l.transfer
),

-- A request meets a contact if of all contacts begun before its end one ended after its start: the
-- latest end so far decides, so that no pair of a request and a contact is ever made.
moments AS (
    SELECT place, start_us AS moment_us, end_us AS contact_end_us,
        CAST(NULL AS BIGINT) AS transfer, CAST(NULL AS BIGINT) AS request_start_us,
        CAST(NULL AS BOOLEAN) AS is_certain
    FROM contacts
    WHERE place IN (SELECT place FROM pairs)
    UNION ALL
    SELECT place, end_us AS moment_us, CAST(NULL AS BIGINT) AS contact_end_us,
        transfer, start_us AS request_start_us, is_certain
    FROM pairs
),

met AS (
    SELECT
        *,
        MAX(contact_end_us) OVER (
            PARTITION BY place ORDER BY moment_us
            RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS latest_end_us
    FROM moments
),

by_owner AS (
    SELECT
        m.place, l.resource_id AS logged_in,
        SUM(l.bytes) AS bytes,
        SUM(CASE WHEN m.is_certain AND l.has_received THEN l.bytes ELSE 0 END) AS received_bytes,
        SUM(CASE WHEN m.is_certain AND l.has_sent THEN l.bytes ELSE 0 END) AS sent_bytes
    FROM met AS m
    INNER JOIN logged AS l ON m.transfer = l.transfer
    WHERE m.latest_end_us >= m.request_start_us
    GROUP BY m.place, l.resource_id
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
        n.owner_key, n.resource_id, b.logged_in,
        TRUE AS is_of_owner,
        b.bytes,
        b.received_bytes,
        b.sent_bytes
    FROM by_owner AS b
    INNER JOIN named AS n ON b.place = n.place
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
