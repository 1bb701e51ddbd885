-- Providers whose list of networks is in force: an address outside it is not theirs, unless its
-- owner brought it to them.
-- Grain: one provider.
-- Reads: address_ranges.
SELECT DISTINCT provider
FROM address_ranges
WHERE provider IS NOT NULL
