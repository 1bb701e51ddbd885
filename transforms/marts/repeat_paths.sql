-- The paths of the reads that repeat, as path_prices.py takes them: bytes only, as a repeated
-- request is none of its own.
-- Grain: one path.
-- Reads: object_paths, repeat_measured.
SELECT DISTINCT
    path_id, from_provider, to_provider, gateway_provider, gateway_region, storage_provider,
    storage_region,
    CAST(NULL AS VARCHAR) AS operation,
    distance, gateway, from_region, to_region, is_storage, is_incoming, is_private, is_one_network
FROM object_paths
WHERE transfer_id IN (SELECT transfer_id FROM repeat_measured)
