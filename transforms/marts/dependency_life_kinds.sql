-- How many rows summed up over a life stand on each rung of the two ladders, best rung first.
-- Grain: one row of dependency_life.
-- Reads: dependency_life.
WITH split AS (
    SELECT run_dependency_id, 'pod' AS ladder, UNNEST(match_kind_counts) AS item
    FROM dependency_life
    UNION ALL
    SELECT run_dependency_id, 'name' AS ladder, UNNEST(name_kind_counts) AS item
    FROM dependency_life
),

ranked AS (
    SELECT
        run_dependency_id,
        ladder,
        item.kind AS kind,
        CAST(SUM(item.count) AS BIGINT) AS row_count,
        CASE ladder WHEN 'pod' THEN pod_rung(item.kind) ELSE name_rung(item.kind) END AS rung
    FROM split
    GROUP BY run_dependency_id, ladder, item.kind
),

listed AS (
    SELECT
        run_dependency_id,
        LIST_SORT(
            LIST(STRUCT_PACK(rung := rung, kind := kind, row_count := row_count))
                FILTER (WHERE ladder = 'pod')
        ) AS pods,
        LIST_SORT(
            LIST(STRUCT_PACK(rung := rung, kind := kind, row_count := row_count))
                FILTER (WHERE ladder = 'name')
        ) AS names
    FROM ranked
    GROUP BY run_dependency_id
)

SELECT
    run_dependency_id,
    pods[-1].kind AS match_kind,
    LIST_TRANSFORM(pods, LAMBDA c: STRUCT_PACK("kind" := c.kind, "count" := c.row_count))
        AS match_kind_counts,
    names[-1].kind AS name_kind,
    LIST_TRANSFORM(
        COALESCE(names, []), LAMBDA c: STRUCT_PACK("kind" := c.kind, "count" := c.row_count)
    ) AS name_kind_counts
FROM listed
