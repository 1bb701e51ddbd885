-- Addresses that mean one thing everywhere, so that no look-up is needed to name them.
-- Grain: one address.
-- Reads: nothing.
-- Sources: reference/dns.md 5.1 and 6, reference/object_storage.md 2.5, the providers' pages on
--   instance metadata; node-local DNS is the default of its Kubernetes manifest.
SELECT *
FROM (
    VALUES
        ('169.254.169.254', 'instance-metadata', TRUE),
        ('fd00:ec2::254', 'instance-metadata', TRUE),
        ('fd20:ce::254', 'instance-metadata', TRUE),
        ('169.254.170.2', 'container-credentials', TRUE),
        ('169.254.170.23', 'pod-identity-agent', TRUE),
        ('fd00:ec2::23', 'pod-identity-agent', TRUE),
        ('169.254.169.123', 'time-sync', FALSE),
        ('fd00:ec2::123', 'time-sync', FALSE),
        ('169.254.169.253', 'vpc-resolver', FALSE),
        ('fd00:ec2::253', 'vpc-resolver', FALSE),
        ('168.63.129.16', 'azure-platform', FALSE),
        ('169.254.20.10', 'node-local-dns', FALSE)
) AS known (address, name, is_metadata)
