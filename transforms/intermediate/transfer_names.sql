-- What sessions' names may say of a pod: its whole name, or the first ten characters behind those
-- of a cluster, as EKS writes them; either part may hold dashes.
-- Grain: credential, key.
-- Reads: transfer_credentials.
WITH middles AS (
    SELECT
        credential_number,
        REGEXP_EXTRACT(
            session_name,
            '^eks-(.{1,21})-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
            1
        ) AS middle
    FROM transfer_credentials
),

places AS (
    SELECT credential_number, middle, UNNEST(RANGE(1, LENGTH(middle))) AS dash_place
    FROM middles
    WHERE middle <> ''
)

SELECT credential_number, 'name/' || session_name AS holder_key
FROM transfer_credentials
WHERE session_name IS NOT NULL
UNION
SELECT credential_number, 'short/' || SUBSTRING(middle, dash_place + 1) AS holder_key
FROM places
WHERE
    SUBSTRING(middle, dash_place, 1) = '-'
    AND dash_place <= 11
    AND LENGTH(middle) - dash_place <= 10
