-- How many of the rows summed up stand on each rung of the two ladders, best rung first.
-- Grain: one row of run_dependency_days.
-- Reads: dependency_facts.
WITH pods AS (
    SELECT
        run_dependency_day_id,
        pod_rung(match_kind) AS rung,
        match_kind AS kind,
        CAST(SUM(row_count) AS BIGINT) AS row_count
    FROM dependency_facts
    GROUP BY run_dependency_day_id, match_kind
),

names AS (
    SELECT
        run_dependency_day_id,
        name_rung(name_kind) AS rung,
        name_kind AS kind,
        CAST(SUM(row_count) AS BIGINT) AS row_count
    FROM dependency_facts
    WHERE name_kind IS NOT NULL
    GROUP BY run_dependency_day_id, name_kind
),

pod_lists AS (
    SELECT
        run_dependency_day_id,
        LIST_SORT(LIST(STRUCT_PACK(rung := rung, kind := kind, row_count := row_count))) AS counts
    FROM pods
    GROUP BY run_dependency_day_id
),

name_lists AS (
    SELECT
        run_dependency_day_id,
        LIST_SORT(LIST(STRUCT_PACK(rung := rung, kind := kind, row_count := row_count))) AS counts
    FROM names
    GROUP BY run_dependency_day_id
)

SELECT
    p.run_dependency_day_id,
    p.counts[-1].kind AS match_kind,
    LIST_TRANSFORM(
        p.counts, LAMBDA c: STRUCT_PACK("kind" := c.kind, "count" := c.row_count)
    ) AS match_kind_counts,
    n.counts[-1].kind AS name_kind,
    LIST_TRANSFORM(
        COALESCE(n.counts, []), LAMBDA c: STRUCT_PACK("kind" := c.kind, "count" := c.row_count)
    ) AS name_kind_counts
FROM pod_lists AS p
LEFT JOIN name_lists AS n ON p.run_dependency_day_id = n.run_dependency_day_id
