-- The longest stable prefix of each key of the day: its folders up to the first whose name changes
-- from one day or run to the next. It is read off the key alone, so that an object is of the same
-- dataset on every day; a key without such a folder has none.
-- Grain: bucket_id, path.
-- Reads: transfer_totals, transfer_groups.
WITH keys AS (
    SELECT DISTINCT g.bucket_id, g.path, STRING_SPLIT(g.key, '/') AS steps
    FROM transfer_totals AS t
    INNER JOIN transfer_groups AS g ON t.group_number = g.group_number
    WHERE g.key LIKE '%/%'
),

judged AS (
    SELECT
        bucket_id,
        path,
        -- The last step is the object's own name.
        steps[1:LEN(steps) - 1] AS folders,
        LIST_TRANSFORM(
            steps[1:LEN(steps) - 1],
            LAMBDA step: REGEXP_MATCHES(
                step,
                -- Nothing, or a column of a partitioned table; a number alone.
                '^$|=|^[0-9]+$'
                -- A date or a time of day behind one.
                || '|(^|[^0-9])(19|20)[0-9]{2}[-_.][01][0-9][-_.][0-3][0-9]([^0-9]|$)'
                || '|(^|[^0-9])(19|20)[0-9]{2}[01][0-9][0-3][0-9]([^0-9]|$)'
                -- What is counted, and its number.
                || '|^(?i:shard|part|chunk|split|batch|epoch|step|global_step|iter|iteration|'
                || 'checkpoint|ckpt|rank|worker|job|run|trial|attempt|seed|fold|exp|experiment|'
                || 'build|snapshot|partition)s?[-_.]*[0-9]+$'
                -- A UUID, or a hash.
                || '|(^|[^0-9a-zA-Z])[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'
                || '([^0-9a-zA-Z]|$)|(^|[^0-9a-zA-Z])[0-9a-fA-F]{16,}([^0-9a-zA-Z]|$)'
            )
        ) AS are_unstable
    FROM keys
),

stable AS (
    SELECT
        bucket_id,
        path,
        folders[
            1:COALESCE(NULLIF(LIST_POSITION(are_unstable, TRUE), 0), LEN(folders) + 1) - 1
        ] AS folders
    FROM judged
)

SELECT bucket_id, path, bucket_id || '/' || ARRAY_TO_STRING(folders, '/') AS prefix
FROM stable
WHERE LEN(folders) > 0
