-- Who can end what failed, by activity and class of the error (definitions.md 45): the one list.
-- Grain: one activity and error class; a null class is all others of the activity.
-- Reads: nothing.
SELECT activity, error_class, responsible
FROM (VALUES
    ('image_pull', 'credentials', 'registry'),
    ('image_pull', 'forbidden', 'registry'),
    ('image_pull', 'throttled', 'registry'),
    ('image_pull', 'server_error', 'registry'),
    ('image_pull', 'not_found', 'ml_team'),
    ('image_pull', 'name_failure', 'network'),
    ('image_pull', 'connection_failure', 'network'),
    ('image_pull', NULL, 'platform'),
    ('volume_mount', NULL, 'platform'),
    ('placement', NULL, 'platform'),
    ('sandbox', NULL, 'network'),
    ('resolve', NULL, 'network'),
    ('connect', NULL, 'network'),
    ('object_access', 'credentials', 'identity'),
    ('object_access', 'not_found', 'ml_team'),
    ('object_access', NULL, 'storage'),
    ('container', NULL, 'ml_team'),
    ('principal', NULL, 'identity'),
    ('cross_project_read', NULL, 'identity'),
    -- An output that is not there, and no request says why, is its program's.
    ('output', 'credentials', 'identity'),
    ('output', 'forbidden', 'storage'),
    ('output', 'throttled', 'storage'),
    ('output', 'server_error', 'storage'),
    ('output', NULL, 'ml_team'),
    -- Telemetry is the platform's.
    ('telemetry', NULL, 'platform'),
    ('repeat', 'pin_revision', 'ml_team'),
    ('repeat', 'move_job', 'ml_team'),
    ('repeat', 'image_mirror', 'registry'),
    ('repeat', 'bucket_replica', 'storage'),
    ('repeat', 'gateway_endpoint', 'network'),
    ('repeat', NULL, 'platform')
) AS rules (activity, error_class, responsible)
