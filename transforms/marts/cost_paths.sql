-- All paths of the day.
-- Grain: one path.
-- Reads: object_paths, flow_paths.
SELECT DISTINCT
    path_id, from_provider, to_provider, gateway_provider, gateway_region, storage_provider,
    storage_region, operation, distance, gateway, from_region, to_region, is_storage, is_incoming,
    is_private, is_one_network
FROM object_paths
UNION
SELECT DISTINCT
    path_id, from_provider, to_provider, gateway_provider, gateway_region, storage_provider,
    storage_region, operation, distance, gateway, from_region, to_region, is_storage, is_incoming,
    is_private, is_one_network
FROM flow_paths
