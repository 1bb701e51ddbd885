-- From when to when each pod held each address that it showed.
-- Grain: one pod and address; pods that showed none by the day's end have one row with a null
--   address. `touches_day` is false where the interval ended before the day.
-- Reads: pod_interval_states, pod_interval_pods, pod_interval_agents, pod_interval_renamed,
--   pod_interval_history.
-- Parameters: $day_start, $day_end, $look_back (interval).
WITH shown AS (
    SELECT
        pod_uid, ordinal, seen_at, sandbox_ready_at,
        UNNEST(LIST_DISTINCT(addresses)) AS address
    FROM pod_interval_states
),

-- A pod whose states show no address may have one by its agents, if they tell one of a family.
told AS (
    SELECT pod_uid, MIN(address) AS address, MIN(given_at) AS given_at
    FROM pod_interval_agents
    WHERE
        given_at IS NOT NULL
        AND pod_uid NOT IN (SELECT pod_uid FROM shown WHERE address IS NOT NULL)
    GROUP BY pod_uid, STRPOS(address, ':') > 0
    HAVING COUNT(*) = 1
),

held AS (
    SELECT
        pod_uid,
        address,
        STRPOS(address, ':') > 0 AS is_ipv6,
        MIN(ordinal) AS first_ordinal,
        MAX(ordinal) AS last_ordinal,
        MIN(seen_at) AS first_shown_at,
        MIN(sandbox_ready_at) AS ready_at
    FROM shown
    WHERE address IS NOT NULL
    GROUP BY pod_uid, address
    UNION ALL
    SELECT
        pod_uid, address, STRPOS(address, ':') > 0 AS is_ipv6, 1 AS first_ordinal,
        1 AS last_ordinal, given_at AS first_shown_at, CAST(NULL AS TIMESTAMPTZ) AS ready_at
    FROM told
),

-- A pod whose sandbox was made anew shows another address of the same family later on.
sequenced AS (
    SELECT
        *,
        LAG(address) OVER family IS NOT NULL AS is_successor,
        LEAD(first_ordinal) OVER family > last_ordinal AS is_replaced
    FROM held
    WINDOW family AS (PARTITION BY pod_uid, is_ipv6 ORDER BY first_ordinal, address)
),

observed_starts AS (
    SELECT
        s.pod_uid, s.address, s.is_ipv6, s.first_ordinal, s.is_replaced,
        CASE
            WHEN s.ready_at IS NOT NULL AND (NOT s.is_successor OR s.ready_at > p.first_ready_at)
                THEN s.ready_at
            WHEN NOT s.is_successor AND p.start_time_at IS NOT NULL THEN p.start_time_at
            -- LEAST leaves nulls out.
            ELSE LEAST(g.given_at, p.proven_end_at, s.first_shown_at)
        END AS start_at,
        CASE
            WHEN s.ready_at IS NOT NULL AND (NOT s.is_successor OR s.ready_at > p.first_ready_at)
                THEN 'sandbox_ready'
            WHEN NOT s.is_successor AND p.start_time_at IS NOT NULL THEN 'start_time'
            WHEN g.given_at <= LEAST(p.proven_end_at, s.first_shown_at) THEN 'agent_event'
            ELSE 'first_state'
        END AS start_basis
    FROM sequenced AS s
    INNER JOIN pod_interval_pods AS p ON s.pod_uid = p.pod_uid
    LEFT JOIN pod_interval_agents AS g ON s.pod_uid = g.pod_uid AND s.address = g.address
),

-- What an earlier day proved better, from states that this day's look-back does not reach.
all_starts AS (
    SELECT pod_uid, address, start_at, start_basis FROM observed_starts
    UNION ALL
    SELECT h.pod_uid, h.address, h.start_at, h.start_basis
    FROM pod_interval_history AS h
    INNER JOIN observed_starts AS o ON h.pod_uid = o.pod_uid AND h.address = o.address
),

best_starts AS (
    SELECT pod_uid, address, start_at, start_basis
    FROM all_starts
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY pod_uid, address
        ORDER BY
            CASE start_basis
                WHEN 'sandbox_ready' THEN 0 WHEN 'start_time' THEN 1 WHEN 'agent_event' THEN 2
                ELSE 3
            END,
            start_at
    ) = 1
),

starts AS (
    SELECT
        o.pod_uid, o.address, b.start_at, b.start_basis,
        CASE
            WHEN o.is_replaced THEN LEAD(b.start_at) OVER (
                PARTITION BY o.pod_uid, o.is_ipv6 ORDER BY o.first_ordinal, o.address
            )
        END AS replaced_at
    FROM observed_starts AS o
    INNER JOIN best_starts AS b ON o.pod_uid = b.pod_uid AND o.address = b.address
    UNION ALL
    SELECT
        pod_uid, CAST(NULL AS VARCHAR) AS address, created_at AS start_at,
        'created' AS start_basis, CAST(NULL AS TIMESTAMPTZ) AS replaced_at
    FROM pod_interval_pods
),

stated AS (
    SELECT
        s.pod_uid, s.address, s.start_at, s.start_basis, p.host_network,
        p.seen_alive_at + CAST($look_back AS INTERVAL) AS last_seen_end_at,
        CASE
            WHEN s.replaced_at < p.proven_end_at OR p.proven_end_at IS NULL THEN s.replaced_at
            ELSE p.proven_end_at
        END AS proven_end_at,
        CASE
            WHEN s.replaced_at IS NOT NULL
                AND (s.replaced_at < p.proven_end_at OR p.proven_end_at IS NULL)
                THEN 'sandbox_teardown'
            ELSE p.proven_end_basis
        END AS end_basis,
        g.taken_at
    FROM starts AS s
    INNER JOIN pod_interval_pods AS p ON s.pod_uid = p.pod_uid
    LEFT JOIN pod_interval_agents AS g ON s.pod_uid = g.pod_uid AND s.address = g.address
),

-- Agents end what no state ends, or what was only seen dead later.
proven AS (
    SELECT
        * EXCLUDE (proven_end_at, end_basis, taken_at),
        GREATEST(
            start_at,
            CASE
                WHEN end_basis IS NULL THEN taken_at
                WHEN end_basis = 'last_seen' THEN LEAST(taken_at, proven_end_at)
                ELSE proven_end_at
            END
        ) AS proven_end_at,
        CASE
            WHEN
                taken_at IS NOT NULL
                AND (end_basis IS NULL OR (end_basis = 'last_seen' AND taken_at < proven_end_at))
                THEN 'agent_event'
            ELSE end_basis
        END AS end_basis
    FROM stated
),

-- The next start of another pod on the address; a pod has an address once.
reused AS (
    SELECT
        pod_uid, address,
        MIN(start_at) OVER (
            PARTITION BY address ORDER BY epoch_us(start_at)
            RANGE BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ) AS next_start_at
    FROM proven
    WHERE address IS NOT NULL AND NOT host_network
),

-- So does what flows call the address; the start of the interval stays its earliest end.
followed AS (
    SELECT
        p.*,
        -- LEAST and GREATEST leave nulls out.
        LEAST(
            r.next_start_at,
            CASE WHEN n.renamed_at IS NOT NULL THEN GREATEST(n.renamed_at, p.start_at) END
        ) AS next_start_at
    FROM proven AS p
    LEFT JOIN reused AS r ON p.pod_uid = r.pod_uid AND p.address = r.address
    LEFT JOIN pod_interval_renamed AS n ON p.pod_uid = n.pod_uid AND p.address = n.address
),

ended AS (
    SELECT
        p.pod_uid, p.address, p.start_at, p.start_basis,
        CASE
            -- Agents' clocks do not keep an address that another pod surely has.
            WHEN p.end_basis = 'agent_event' THEN LEAST(p.proven_end_at, p.next_start_at)
            WHEN p.end_basis IS NOT NULL THEN p.proven_end_at
            ELSE LEAST(p.next_start_at, GREATEST(p.last_seen_end_at, p.start_at))
        END AS end_at,
        CASE
            WHEN p.end_basis = 'agent_event' AND p.next_start_at < p.proven_end_at
                THEN 'address_reused'
            WHEN p.end_basis IS NOT NULL THEN p.end_basis
            WHEN p.next_start_at <= GREATEST(p.last_seen_end_at, p.start_at)
                OR p.last_seen_end_at IS NULL AND p.next_start_at IS NOT NULL
                THEN 'address_reused'
            ELSE 'last_seen'
        END AS end_basis
    FROM followed AS p
),

by_day_end AS (
    SELECT
        pod_uid, address, start_at, start_basis,
        CASE WHEN end_at < CAST($day_end AS TIMESTAMPTZ) THEN end_at END AS end_at,
        CASE
            WHEN end_at < CAST($day_end AS TIMESTAMPTZ) THEN end_basis ELSE 'open'
        END AS end_basis
    FROM ended
    WHERE start_at < CAST($day_end AS TIMESTAMPTZ)
)

SELECT
    *,
    end_at IS NULL
    OR end_at > CAST($day_start AS TIMESTAMPTZ)
    OR start_at >= CAST($day_start AS TIMESTAMPTZ) AS touches_day
FROM by_day_end
-- A row without an address stands only for a pod that showed none by the day's end.
WHERE
    address IS NOT NULL
    OR pod_uid NOT IN (SELECT pod_uid FROM by_day_end WHERE address IS NOT NULL)
