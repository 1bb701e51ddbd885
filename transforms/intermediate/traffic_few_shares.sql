-- What each increment gives to windows of at most an hour: its parts as they are.
-- Grain: one increment in one window.
-- Reads: traffic_parts.
SELECT *, part_until_us - part_from_us AS part_us
FROM traffic_parts
