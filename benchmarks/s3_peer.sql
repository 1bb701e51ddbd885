-- The peer of S3 access logs: every line taken apart by one regular expression, and nothing else.
--
-- Grain: one line; a line that does not match has empty texts.
-- Reads: the files $files as lines. Writes: nothing by itself; it runs inside COPY.
WITH
lines AS (
    SELECT line
    FROM
        read_csv(
            $files, columns = {'line': 'VARCHAR'}, delim = '\x01', quote = '', escape = '',
            header = false, auto_detect = false
        )
),

fields AS (
    SELECT
        REGEXP_EXTRACT(
            line,
            '^(\S+) (\S+) \[([^\]]+)\] (\S+) (\S+) (\S+) (\S+) (\S+) ("(?:.*?)"|-) (\d{3}|-) (\S+) (\d+|-) (\d+|-) (\d+|-) (\d+|-) ("(?:.*?)"|-) ("(?:.*?)"|-) ([^\s"]+)(?: ([^\s"]+))?(?: ([^\s"]+))?(?: ([^\s"]+))?(?: ([^\s"]+))?(?: ([^\s"]+))?(?: ([^\s"]+))?(?: ([^\s"]+))?(?: ([^\s"]+))?(?: (.*))?$',
            [
                'bucket_owner', 'bucket', 'time', 'client_address', 'requester', 'request_id',
                'operation', 'key', 'request_uri', 'status', 'error', 'bytes_sent', 'object_size',
                'total_time', 'turn_around_time', 'referer', 'user_agent', 'version_id', 'host_id',
                'signature_version', 'cipher_suite', 'authentication', 'host_header', 'tls_version',
                'access_point', 'acl_required', 'rest'
            ]
        ) AS field
    FROM lines
    WHERE line <> ''
)

SELECT
    MD5(field.request_id) AS record_id,
    field.bucket_owner,
    field.bucket,
    STRPTIME(field."time", '%d/%b/%Y:%H:%M:%S %z') AS event_at,
    field.client_address,
    field.requester,
    field.request_id,
    field.operation,
    field."key",
    field.request_uri,
    TRY_CAST(field.status AS BIGINT) AS status,
    field.error,
    TRY_CAST(field.bytes_sent AS BIGINT) AS response_bytes,
    TRY_CAST(field.object_size AS BIGINT) AS object_size_bytes,
    TRY_CAST(field.total_time AS BIGINT) AS total_time,
    TRY_CAST(field.turn_around_time AS BIGINT) AS turn_around_time,
    field.referer,
    field.user_agent,
    field.version_id,
    field.authentication,
    field.host_header,
    field.access_point
FROM fields
