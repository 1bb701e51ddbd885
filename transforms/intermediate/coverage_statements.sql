-- All statements about the coverage of one day and scope.
-- Grain: one statement.
-- Reads: coverage_nodes, coverage_hours.
SELECT source, node, start_us, end_us, rank, status, reason, lost_count, masked_count, sampled_one_in
FROM coverage_nodes
UNION ALL
SELECT source, node, start_us, end_us, rank, status, reason, lost_count, masked_count, sampled_one_in
FROM coverage_hours
