-- Per scope, what was read of the object before each read.
-- An object without a version may have been replaced: a read of another known size is of another
-- content and counts for nothing. A read of an unknown place is never certain to be of the scope.
-- Grain: one member and scope.
-- Reads: repeat_members.
-- Parameters: $look_back_us.
WITH scoped AS (
    SELECT
        m.*,
        CASE WHEN m.has_read THEN m.place END AS read_place,
        s.scope,
        CASE s.scope
            WHEN 'run' THEN m.run_uuid
            WHEN 'node' THEN m.cluster || '/' || m.node
            ELSE ''
        END AS scope_key
    FROM repeat_members AS m
    CROSS JOIN (VALUES ('run'), ('node'), ('fleet')) AS s (scope)
),

-- `*_old`: the part of a sum that lies before the look-back.
summed AS (
    SELECT
        *,
        SUM(bytes) OVER before_in_place AS sum_any,
        SUM(bytes) OVER long_before_in_place AS sum_any_old,
        SUM(CASE WHEN size_class IS NOT NULL THEN bytes ELSE 0 END) OVER before_in_place
            AS sum_sized,
        SUM(CASE WHEN size_class IS NOT NULL THEN bytes ELSE 0 END) OVER long_before_in_place
            AS sum_sized_old,
        SUM(bytes) OVER before_of_size AS sum_same,
        SUM(bytes) OVER long_before_of_size AS sum_same_old,
        MAX(read_place) OVER before_in_place AS last_any,
        MAX(CASE WHEN size_class IS NULL THEN read_place END) OVER before_in_place AS last_unsized,
        MAX(read_place) OVER before_of_size AS last_same,
        MAX(CASE WHEN scope_key IS NULL THEN read_place END) OVER before_anywhere AS lost_any,
        MAX(CASE WHEN scope_key IS NULL AND size_class IS NULL THEN read_place END)
            OVER before_anywhere AS lost_unsized,
        MAX(CASE WHEN scope_key IS NULL THEN read_place END) OVER before_anywhere_of_size AS lost_same
    FROM scoped
    WINDOW
        before_in_place AS (
            PARTITION BY start_date, provider, object_id, scope, scope_key ORDER BY place
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        before_of_size AS (
            PARTITION BY start_date, provider, object_id, scope, scope_key, size_class
            ORDER BY place
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        before_anywhere AS (
            PARTITION BY start_date, provider, object_id, scope ORDER BY place
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        before_anywhere_of_size AS (
            PARTITION BY start_date, provider, object_id, scope, size_class ORDER BY place
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        long_before_in_place AS (
            PARTITION BY start_date, provider, object_id, scope, scope_key ORDER BY start_us
            RANGE BETWEEN UNBOUNDED PRECEDING AND $look_back_us + 1 PRECEDING
        ),
        long_before_of_size AS (
            PARTITION BY start_date, provider, object_id, scope, scope_key, size_class
            ORDER BY start_us
            RANGE BETWEEN UNBOUNDED PRECEDING AND $look_back_us + 1 PRECEDING
        )
)

SELECT
    start_date, provider, object_id, transfer_id, start_us, scope, scope_key,
    CASE
        WHEN size_class IS NULL
            THEN COALESCE(sum_any, 0) - COALESCE(sum_any_old, 0)
        ELSE
            (COALESCE(sum_any, 0) - COALESCE(sum_any_old, 0))
            - (COALESCE(sum_sized, 0) - COALESCE(sum_sized_old, 0))
            + (COALESCE(sum_same, 0) - COALESCE(sum_same_old, 0))
    END AS read_before,
    CASE WHEN size_class IS NULL THEN last_any ELSE GREATEST(last_unsized, last_same) END
        AS previous_place,
    CASE WHEN size_class IS NULL THEN lost_any ELSE GREATEST(lost_unsized, lost_same) END
        AS possible_place
FROM summed
