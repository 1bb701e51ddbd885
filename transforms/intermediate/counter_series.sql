-- Series as their observers name them, with a number in place of the long key.
-- Grain: one series of one observer.
-- Reads: counter_samples.
-- Parameters: $cluster, $read_from_us and $read_until_us (what is read).
-- A series has one temporality; readings that claim another one are left out, because no rule could
-- say what they mean beside the rest. So are values that were not read at their time.
WITH named AS (
    SELECT
        series_id,
        observer,
        MIN(temporality) AS temporality,
        MIN(temporality) <> MAX(temporality) AS is_mixed,
        MIN(metric) AS metric,
        MIN(namespace) AS namespace,
        MIN(pod_name) AS pod_name,
        MIN(pod_uid) AS pod_uid,
        MIN(node) AS node,
        MIN(interface) AS interface,
        MIN(direction) AS direction,
        MIN(byte_layer) AS byte_layer,
        MIN(counter_bits) AS counter_bits,
        MIN(link_bits_per_second) AS link_bits_per_second,
        MIN(expires_after_seconds) AS expires_after_seconds,
        COUNT(*) AS reading_count
    FROM counter_samples
    WHERE
        sample_kind IS NULL
        AND epoch_us(event_at) >= CAST($read_from_us AS BIGINT)
        AND epoch_us(event_at) < CAST($read_until_us AS BIGINT)
    GROUP BY series_id, observer
)

SELECT
    CAST(ROW_NUMBER() OVER (ORDER BY series_id, observer) - 1 AS INTEGER) AS series,
    CAST($cluster AS VARCHAR) AS cluster,
    *,
    COUNT(*) OVER (PARTITION BY series_id) AS observer_count,
    -- Bridges, tunnels and the ends of pairs carry what another interface carries, too.
    COALESCE(
        regexp_full_match(
            interface,
            '(lo|egress\.calico|nodelocaldns)|(veth|cali|flannel|cilium_|lxc|vxlan|genev|docker|nerdctl'
            || '|podman|virbr|weave|kube-|dummy|ovn|ovs|antrea-|ip6tnl|ip_vti|ip6_vti|erspan|wireguard'
            || '|tailscale|bridge|br-).*|(cni|tunl|br|sit|gre|gretap|ifb|wg|tun|tap|ipip)[0-9]*'
        ),
        FALSE
    ) AS is_overlay,
    -- Interfaces that a cluster's network has on nodes only.
    COALESCE(
        regexp_full_match(
            interface,
            'nodelocaldns|egress\.calico|vxlan\.calico|br-int|br-ex|ovs-system|cni[0-9]+'
            || '|(cali|flannel|cilium_|lxc|weave|kube-|ovn-k8s|antrea-|genev_sys).*'
        ),
        FALSE
    ) AS is_node_only
FROM named
