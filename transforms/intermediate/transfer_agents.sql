-- Clients that list the features that a request uses, told with the list in order: botocore writes
-- it in the order of a set, which each process has of its own, and workers of one pod are one client.
-- A table of its own, as its size must be known: else the engine holds all requests to join it.
-- Grain: one user agent that lists several features.
-- Reads: object_requests.
WITH features AS (
    SELECT
        user_agent,
        REGEXP_EXTRACT(user_agent, ' m/([A-Za-z0-9+-]+(?:,[A-Za-z0-9+-]+)+)', 1) AS listed
    FROM (SELECT DISTINCT user_agent FROM object_requests WHERE user_agent LIKE '% m/%,%')
)

SELECT
    user_agent AS stated,
    REPLACE(
        user_agent, ' m/' || listed,
        ' m/' || ARRAY_TO_STRING(LIST_SORT(STRING_SPLIT(listed, ',')), ',')
    ) AS told
FROM features
WHERE listed <> ''
