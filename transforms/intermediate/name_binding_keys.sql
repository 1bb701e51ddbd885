-- A number for each owner, address, name and UTC day, so that what follows sorts numbers.
-- Grain: one key.
-- Reads: name_binding_owners.
SELECT
    ROW_NUMBER() OVER () AS key_id,
    scope, scope_id, address, name, day_number,
    MIN(source_format) <> MAX(source_format) AS has_several_sources
FROM name_binding_owners
GROUP BY scope, scope_id, address, name, day_number
