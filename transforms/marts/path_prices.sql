-- The cheapest, the one and the dearest price of each charge on a path (definitions.md 40).
-- Of the rows of the price book that fit a question, those stay that no other fitting row is
-- narrower than: one for the gateway before one for any; of those, none that another is at least
-- as narrow as in every column (a word before a glob, a glob before any). What a question does not
-- know (a region, a usage type) each row may fit. Tiers of one key all stay: `best` is the first
-- that is not free.
-- Prices are nanodollars per so many bytes or requests, ordered by what 2^63 - 1 of them cost.
-- Grain: one path and kind of charge.
-- Reads: path_questions, path_candidates, prices.
-- Parameters: $date.
WITH book AS (
    SELECT
        *,
        CAST(
            CAST(usd_per_unit AS DECIMAL(28, 9)) * CAST(1000000000 AS DECIMAL(10, 0)) AS HUGEINT
        ) AS nano,
        COALESCE(unit_bytes, unit_requests) AS units,
        CASE
            WHEN from_region IS NULL THEN -1
            WHEN REGEXP_MATCHES(from_region, '[*?]')
                THEN LENGTH(REGEXP_REPLACE(from_region, '[*?]', '', 'g'))
            ELSE 1000
        END AS from_rank,
        CASE
            WHEN to_region IS NULL THEN -1
            WHEN REGEXP_MATCHES(to_region, '[*?]')
                THEN LENGTH(REGEXP_REPLACE(to_region, '[*?]', '', 'g'))
            ELSE 1000
        END AS to_rank,
        CASE
            WHEN usage_type IS NULL THEN -1
            WHEN REGEXP_MATCHES(usage_type, '[*?]')
                THEN LENGTH(REGEXP_REPLACE(usage_type, '[*?]', '', 'g'))
            ELSE 1000
        END AS usage_rank,
        CASE WHEN provider IS NULL THEN 0 ELSE 1 END AS provider_rank,
        CASE WHEN distance IS NULL THEN 0 ELSE 1 END AS distance_rank,
        CASE WHEN gateway IS NULL THEN 0 ELSE 1 END AS gateway_rank,
        row_id([
            id_text(provider), id_text(distance), id_text(gateway), id_text(from_region),
            id_text(to_region), id_text(usage_type)
        ]) AS key_id
    FROM prices
    WHERE
        valid_from <= CAST($date AS DATE)
        AND (valid_to IS NULL OR valid_to > CAST($date AS DATE))
),

questions AS (
    SELECT DISTINCT
        charge_kind, provider, distance, gateway, from_region, to_region, usage_type,
        row_id([
            id_text(charge_kind), id_text(provider), id_text(distance), id_text(gateway),
            id_text(from_region), id_text(to_region), id_text(usage_type)
        ]) AS question_id
    FROM path_questions
),

fitting AS (
    SELECT
        q.question_id,
        q.from_region IS NULL AS lacks_from,
        q.to_region IS NULL AS lacks_to,
        q.usage_type IS NULL AS lacks_usage,
        b.*
    FROM questions AS q
    INNER JOIN book AS b
        ON q.charge_kind = b.charge_kind
        AND (b.provider IS NULL OR q.provider = b.provider)
        AND (b.distance IS NULL OR q.distance = b.distance)
        AND (b.gateway IS NULL OR q.gateway = b.gateway)
        AND (b.from_region IS NULL OR q.from_region IS NULL OR q.from_region GLOB b.from_region)
        AND (b.to_region IS NULL OR q.to_region IS NULL OR q.to_region GLOB b.to_region)
        AND (b.usage_type IS NULL OR q.usage_type IS NULL OR q.usage_type GLOB b.usage_type)
        -- What comes from outside is priced by rows that say so: any region is one of the cloud's.
        AND NOT (COALESCE(q.from_region = 'internet', FALSE) AND b.from_region IS NULL)
        -- A region that is not known is neither outside nor, across regions, the other one.
        AND NOT (q.from_region IS NULL AND COALESCE(b.from_region = 'internet', FALSE))
        AND NOT (q.to_region IS NULL AND COALESCE(b.to_region = 'internet', FALSE))
        AND NOT (
            q.distance = 'cross_region'
            AND (
                (q.from_region IS NULL AND COALESCE(b.from_region = q.to_region, FALSE))
                OR (q.to_region IS NULL AND COALESCE(b.to_region = q.from_region, FALSE))
            )
        )
),

narrowest AS (
    SELECT *
    FROM fitting AS f
    WHERE NOT EXISTS (
        SELECT 1 FROM fitting AS o
        WHERE
            o.question_id = f.question_id
            AND o.key_id <> f.key_id
            AND o.gateway_rank >= f.gateway_rank
            AND (
                o.gateway_rank > f.gateway_rank
                OR (
                    o.provider_rank >= f.provider_rank
                    AND o.distance_rank >= f.distance_rank
                    AND CASE
                        WHEN f.lacks_from THEN o.from_region IS NOT DISTINCT FROM f.from_region
                        ELSE o.from_rank >= f.from_rank
                    END
                    AND CASE
                        WHEN f.lacks_to THEN o.to_region IS NOT DISTINCT FROM f.to_region
                        ELSE o.to_rank >= f.to_rank
                    END
                    AND CASE
                        WHEN f.lacks_usage THEN o.usage_type IS NOT DISTINCT FROM f.usage_type
                        ELSE o.usage_rank >= f.usage_rank
                    END
                    AND o.provider_rank + o.distance_rank + o.from_rank + o.to_rank + o.usage_rank
                    > f.provider_rank + f.distance_rank + f.from_rank + f.to_rank + f.usage_rank
                )
            )
    )
),

priced AS (
    SELECT
        question_id, key_id, usage_type, is_verified,
        STRUCT_PACK(
            worth := nano * CAST(9223372036854775807 AS HUGEINT) // units,
            nano := nano,
            units := CASE WHEN nano = 0 THEN 1 ELSE units END
        ) AS price,
        -- Of a key's tiers the first with a price; a key that is free altogether costs nothing.
        ROW_NUMBER() OVER (
            PARTITION BY question_id, key_id ORDER BY nano = 0, tier_from_bytes, price_id
        ) = 1 AS is_first,
        price_id
    FROM narrowest
),

answers AS (
    SELECT
        question_id,
        MIN(price) AS cheapest,
        MAX(price) AS dearest,
        MIN(price) FILTER (WHERE is_first) AS least_first,
        MAX(price) FILTER (WHERE is_first) AS most_first,
        MIN(price_id) FILTER (WHERE is_first) AS first_price_id,
        MAX(price_id) FILTER (WHERE is_first) AS last_price_id,
        MIN(usage_type) AS usage_type,
        COUNT(DISTINCT COALESCE(usage_type, '')) AS usage_count,
        BOOL_AND(is_verified) AS is_verified
    FROM priced
    GROUP BY question_id
),

answered AS (
    SELECT
        p.path_id, p.charge_kind, p.candidate, p.provider, p.from_region, p.to_region,
        CONCAT_WS(
            ' ', COALESCE(p.provider, 'unknown provider'), p.charge_kind,
            CASE WHEN p.charge_kind = 'transfer' THEN p.distance END,
            CASE WHEN p.charge_kind <> 'request' AND p.gateway <> 'none' THEN p.gateway END,
            p.usage_type,
            'from ' || COALESCE(p.from_region, 'unknown region'),
            CASE WHEN p.charge_kind = 'transfer'
                THEN 'to ' || COALESCE(p.to_region, 'unknown region') END
        ) AS question,
        COALESCE(p.usage_type, CASE WHEN a.usage_count = 1 THEN a.usage_type END) AS usage_type,
        a.question_id IS NULL AS is_missing,
        a.* EXCLUDE (question_id, usage_type, usage_count)
    FROM path_questions AS p
    LEFT JOIN answers AS a
        ON row_id([
            id_text(p.charge_kind), id_text(p.provider), id_text(p.distance), id_text(p.gateway),
            id_text(p.from_region), id_text(p.to_region), id_text(p.usage_type)
        ]) = a.question_id
),

candidates AS (
    SELECT
        path_id,
        COUNT(*) AS candidate_count,
        STRING_AGG(candidate, '; ' ORDER BY candidate) AS candidate_paths
    FROM path_candidates
    GROUP BY path_id
)

SELECT
    a.path_id,
    a.charge_kind,
    a.charge_kind = 'request' OR COUNT(*) = MIN(c.candidate_count) AS is_certain,
    CASE WHEN a.charge_kind <> 'request' AND MIN(c.candidate_count) > 1
        THEN MIN(c.candidate_paths) END AS candidate_paths,
    CASE WHEN COUNT(a.provider) = COUNT(*) AND MIN(a.provider) = MAX(a.provider)
        THEN MIN(a.provider) END AS provider,
    CASE WHEN COUNT(a.from_region) = COUNT(*) AND MIN(a.from_region) = MAX(a.from_region)
        THEN MIN(a.from_region) END AS from_region,
    CASE WHEN COUNT(a.to_region) = COUNT(*) AND MIN(a.to_region) = MAX(a.to_region)
        THEN MIN(a.to_region) END AS to_region,
    CASE WHEN COUNT(a.usage_type) = COUNT(*) AND MIN(a.usage_type) = MAX(a.usage_type)
        THEN MIN(a.usage_type) END AS usage_type,
    CASE WHEN NOT BOOL_OR(a.is_missing) THEN MIN(a.cheapest) END AS cheapest,
    CASE
        WHEN NOT BOOL_OR(a.is_missing) AND MIN(a.least_first) = MAX(a.most_first)
            THEN MIN(a.least_first)
    END AS best,
    CASE WHEN NOT BOOL_OR(a.is_missing) THEN MAX(a.dearest) END AS dearest,
    CASE
        WHEN
            NOT BOOL_OR(a.is_missing)
            AND MIN(a.first_price_id) = MAX(a.last_price_id)
            THEN MIN(a.first_price_id)
    END AS price_id,
    LIST_SORT(LIST(DISTINCT a.question) FILTER (WHERE a.is_missing)) AS missing_prices,
    BOOL_AND(a.is_verified) AS is_price_verified
FROM answered AS a
LEFT JOIN candidates AS c ON a.path_id = c.path_id
GROUP BY a.path_id, a.charge_kind
