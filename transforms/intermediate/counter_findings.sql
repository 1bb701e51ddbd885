-- What the day's readings show of each series.
-- Grain: one kind of finding of one series of one observer.
-- Reads: counter_series, counter_notes, counter_mixed, counter_compared.
-- Parameters: $date.
WITH noted AS (
    SELECT
        s.*,
        n.* EXCLUDE (series, reading_count),
        n.reading_count AS sample_count
    FROM counter_series AS s
    INNER JOIN counter_notes AS n USING (series)
),

told AS (
    SELECT
        *,
        UNNEST([
            {
                'kind': CASE held
                    WHEN 1 THEN 'delta_only_grows'
                    WHEN 2 THEN 'interleaved_observers'
                    WHEN 3 THEN 'falls_like_delta'
                END,
                'shown': CASE WHEN held > 0 THEN contradicting_count END,
                'amount': CAST(NULL AS BIGINT),
                'is_held': TRUE,
                'words': CASE held
                    WHEN 1 THEN 'declared delta, but values grow on as a counter does'
                    WHEN 2 THEN CASE temporality
                        WHEN 'delta' THEN 'declared delta, but intervals overlap as of two observers'
                        ELSE 'two counters read in turns stand under one name'
                    END
                    ELSE 'declared cumulative, but values fall about as often as they rise'
                END
            },
            {
                'kind': 'faster_than_link',
                'shown': NULLIF(fast_count, 0),
                'amount': fast_bytes,
                'is_held': TRUE,
                'words': 'growth is faster than 1.2 times the declared link'
            },
            {
                'kind': 'conflicting_values',
                'shown': NULLIF(conflict_count, 0),
                'amount': NULL,
                'is_held': FALSE,
                'words': 'several values at one time, the largest counts'
            },
            {
                'kind': 'overlapping_starts',
                'shown': NULLIF(overlap_count, 0),
                'amount': NULL,
                'is_held': FALSE,
                'words': CASE temporality
                    WHEN 'delta' THEN 'a reading begins before the one before it ends'
                    ELSE 'the stated start changes to one before the last reading'
                END
            },
            {
                'kind': 'small_drops',
                'shown': NULLIF(small_drop_count, 0),
                'amount': NULL,
                'is_held': FALSE,
                'words': 'values fall by less than an eighth: stale readings, which count nothing'
            },
            {
                'kind': 'wraps',
                'shown': NULLIF(wrap_count, 0),
                'amount': NULL,
                'is_held': FALSE,
                'words': 'the counter passed 2**32 and began again, as declared'
            },
            {
                'kind': 'unknown_start',
                'shown': NULLIF(baseline_count, 0),
                'amount': baseline_bytes,
                'is_held': FALSE,
                'words': 'a first reading of unknown start: what it counts is of no known time'
            }
        ], recursive := TRUE)
    FROM noted
),

findings AS (
    SELECT
        series,
        kind,
        is_held AS is_held_back,
        words AS detail,
        CAST(NULL AS VARCHAR) AS other_observer,
        shown AS contradicting_count,
        amount AS bytes
    FROM told
    WHERE shown IS NOT NULL
    UNION ALL
    SELECT
        series,
        'mixed_temporality' AS kind,
        TRUE AS is_held_back,
        'readings claim another temporality than the series has, and are left out' AS detail,
        NULL AS other_observer,
        other_count AS contradicting_count,
        NULL AS bytes
    FROM counter_mixed
    UNION ALL
    SELECT
        series,
        'observers_disagree' AS kind,
        FALSE AS is_held_back,
        'least and most bytes of an hour exclude those of the observer that is chosen' AS detail,
        chosen_observer AS other_observer,
        hour_count AS contradicting_count,
        NULL AS bytes
    FROM counter_compared
)

SELECT
    row_id([
        id_text(n.cluster), id_text(n.series_id), id_text(n.observer), id_text(f.kind),
        id_text(CAST($date AS DATE))
    ]) AS counter_finding_id,
    n.cluster,
    n.series_id,
    n.observer,
    f.kind,
    f.is_held_back,
    f.detail,
    n.metric,
    n.temporality,
    n.namespace,
    n.pod_name,
    n.pod_uid,
    n.node,
    n.interface,
    n.direction,
    f.other_observer,
    n.sample_count,
    f.contradicting_count,
    f.bytes,
    make_timestamptz(n.first_us) AS first_at,
    make_timestamptz(n.last_us) AS last_at
FROM findings AS f
INNER JOIN noted AS n USING (series)
