-- Records with the holders of both ends at both instants.
-- Grain: one record.
-- Reads: peer_records, peer_held.
SELECT
    r.*,
    a.holder AS source_first,
    b.holder AS source_last,
    c.holder AS destination_first,
    d.holder AS destination_last
FROM peer_records AS r
LEFT JOIN peer_held AS a ON r.source_number = a.address_number AND r.from_us = a.at_us
LEFT JOIN peer_held AS b ON r.source_number = b.address_number AND r.until_us - 1 = b.at_us
LEFT JOIN peer_held AS c ON r.destination_number = c.address_number AND r.from_us = c.at_us
LEFT JOIN peer_held AS d ON r.destination_number = d.address_number AND r.until_us - 1 = d.at_us
