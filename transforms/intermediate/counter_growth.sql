-- Growth of some series between adjacent readings, as the pass found it.
-- Grain: one interval of one series of one observer that meets the day.
-- Reads: counter_grown.
SELECT
    series,
    from_us,
    until_us,
    bytes,
    is_gap,
    basis IN (2, 5) AS is_reset,
    CASE basis
        WHEN 1 THEN 'known_start'
        WHEN 2 THEN 'reset'
        WHEN 3 THEN 'reset_known_start'
        WHEN 4 THEN 'delta_start'
        ELSE 'sample'
    END AS start_basis
FROM counter_grown
