"""Bytes: increments of counters, traffic of pods, traffic between a pod and a peer."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant, TextList
from schemas.table import Table, table

SAMPLING_KINDS = ("none", "packets", "flows", "by_source", "unknown")


@table(
    "intermediate",
    key=("cluster", "series_id", "observer", "start_at"),
)
class CounterIncrements(Table):
    """Bytes that one series grew by between two adjacent readings.

    An increment stands on each day that it meets, whole; windows cut it exactly.
    """

    counter_increment_id: str = c.row_id("increment", "cluster, series_id, observer, start_at")
    cluster: str = c.cluster()
    series_id: str = c.column("Series of counter_samples.")
    observer: str = c.column("Who read it.")
    namespace: str = c.namespace()
    pod_name: str = c.pod_name()
    pod_uid: str = c.pod_uid(null="the source states none and the name is not unique then")
    match_kind: str = c.column("Pod ladder.", allowed=c.POD_MATCH_KINDS)
    node: str = c.node()
    interface: str = c.column("Network interface.", null="not stated")
    is_overlay: pl.Boolean = c.column(
        "A bridge, a tunnel or the end of a pair, by its name: other interfaces count its bytes."
    )
    direction: str = c.column("Direction seen from the pod.", allowed=c.DIRECTIONS)
    byte_layer: str = c.column("Layer.", allowed=c.BYTE_LAYERS)
    start_at: Instant = c.start_at()
    end_at: Instant = c.end_at()
    spread_start_at: Instant = c.column(
        "Where the bytes begin: start_at, but in a gap not before the pod was created."
    )
    spread_end_at: Instant = c.column(
        "Where the bytes end: end_at, but in a gap not behind the pod's proven end."
    )
    bytes: pl.Int64 = c.byte_count("Bytes counted in [start_at, end_at).")
    is_reset: pl.Boolean = c.column("The counter restarted inside: bytes is a lower bound.")
    is_gap: pl.Boolean = c.column("Longer than three times the series' usual spacing.")
    start_basis: str = c.column(
        "What the start is.",
        allowed=("sample", "known_start", "reset", "reset_known_start", "delta_start"),
    )


@table("intermediate", key=("cluster", "series_id", "observer", "kind"))
class CounterFindings(Table):
    """What one day's readings of one series show that bytes alone do not say.

    Counts are of readings, or of times between two, that end on this day.
    """

    counter_finding_id: str = c.row_id("finding", "cluster, series_id, observer, kind, day")
    cluster: str = c.cluster()
    series_id: str = c.column("Series of counter_samples.")
    observer: str = c.column("Who read it.")
    kind: str = c.column(
        "What is found: contradictions of what is declared first.",
        allowed=(
            "delta_only_grows",
            "interleaved_observers",
            "falls_like_delta",
            "mixed_temporality",
            "faster_than_link",
            "observers_disagree",
            "conflicting_values",
            "overlapping_starts",
            "small_drops",
            "wraps",
            "unknown_start",
        ),
    )
    is_held_back: pl.Boolean = c.column(
        "Increments are left out for it: all that begin on this day, or, of mixed_temporality and "
        "faster_than_link, those counted."
    )
    detail: str = c.column("The finding in words.")
    metric: str = c.column("Metric name as exported.")
    temporality: str = c.column("Temporality declared.", allowed=("cumulative", "delta"))
    namespace: str = c.namespace()
    pod_name: str = c.pod_name()
    pod_uid: str = c.pod_uid(null="not stated by the source")
    node: str = c.node()
    interface: str = c.column("Network interface.", null="not stated")
    direction: str = c.column("Direction seen from the pod.", allowed=c.DIRECTIONS)
    other_observer: str = c.column(
        "Observer that is chosen where two disagree; the smallest name of several.",
        null="of no other observer",
    )
    sample_count: pl.Int64 = c.count("Readings of the series on this day, equal times once.")
    contradicting_count: pl.Int64 = c.count(
        "Readings that show the finding; hours of observers_disagree.", adds_up=False
    )
    bytes: pl.Int64 = c.byte_count(
        "Bytes concerned: held back as too fast, or counted before a first reading of unknown "
        "start, which may be of earlier days.",
        null="no number of bytes belongs to it",
        adds_up=False,
    )
    first_at: Instant = c.column("First reading of the day.")
    last_at: Instant = c.column("Last reading of the day.")


@table(
    "intermediate",
    key=("cluster", "pod_uid", "interface", "direction", "window_start_at", "measured_by"),
)
class PodTraffic(Table):
    """Bytes of one pod's interface in one direction in one window of five minutes."""

    pod_traffic_id: str = c.row_id(
        "window", "cluster, pod_uid, interface, direction, window_start_at, measured_by"
    )
    cluster: str = c.cluster()
    namespace: str = c.namespace()
    pod_name: str = c.pod_name()
    pod_uid: str = c.pod_uid(null=None)
    run_uuid: str = c.run_uuid()
    attempt: pl.Int64 = c.attempt()
    interface: str = c.column("Network interface.", null="not stated")
    direction: str = c.column("Direction seen from the pod.", allowed=c.DIRECTIONS)
    window_start_at: Instant = c.column("Start of the five minutes, UTC.")
    bytes: pl.Int64 = c.byte_count("Bytes, by cumulative floor of each increment over time.")
    min_bytes: pl.Int64 = c.byte_count("Bytes of increments wholly inside.")
    max_bytes: pl.Int64 = c.byte_count(
        "Bytes of all increments that overlap.", null="a reset hid bytes"
    )
    reset_count: pl.Int64 = c.count("Resets that overlap.")
    gap_seconds: pl.Float64 = c.seconds("Time of the window inside gaps.")
    uncovered_seconds: pl.Float64 = c.seconds("Time of the window without any increment.")
    measured_by: str = c.column("What measured it.", allowed=c.MEASURED_BY)
    byte_layer: str = c.column("Layer.", allowed=c.BYTE_LAYERS)
    observer: str = c.column("Observer chosen for this hour.")


@table(
    "intermediate",
    key=(
        "scope", "local_address", "pod_uid", "peer_address", "peer_port", "transport", "direction",
        "window_start_at", "measured_by", "observer",
    ),
    scope="fleet",
)  # fmt: skip
class PeerTraffic(Table):
    """Bytes between one local address and one peer in one direction in five minutes."""

    peer_traffic_id: str = c.row_id("window", "all columns of the key")
    scope: str = c.column("Cluster, or `fleet` for the cloud's records.")
    cluster: str = c.cluster(null="no pod is named, or it is in none or several clusters")
    local_address: str = c.column("Address on the pod's side.")
    pod_uid: str = c.pod_uid()
    namespace: str = c.namespace(null="no pod is named")
    pod_name: str = c.pod_name(null="no pod is named")
    run_uuid: str = c.run_uuid()
    attempt: pl.Int64 = c.attempt()
    peer_address: str = c.column("Address on the other side.")
    peer_port: pl.Int64 = c.column("Port on the other side.", null="none")
    transport: str = c.column("TCP, UDP, ….", null="not stated")
    direction: str = c.column("Direction seen from the local side.", allowed=c.DIRECTIONS)
    window_start_at: Instant = c.column("Start of the five minutes, UTC.")
    bytes: pl.Int64 = c.byte_count(
        "Bytes as the records state them, by cumulative floor over time: those observed, or, where "
        "the source multiplied them (`by_source`), its estimate."
    )
    min_bytes: pl.Int64 = c.byte_count("Bytes observed by records wholly inside.")
    max_bytes: pl.Int64 = c.byte_count(
        "Bytes of records that overlap.", null="sampled, or a counter that began anew hid bytes"
    )
    estimated_bytes: pl.Int64 = c.byte_count(
        "Estimate of all bytes: those observed times the sampling interval, or the source's own.",
        null="not sampled, or the scale is unknown",
    )
    sampling_kind: str = c.column(
        "What was sampled: `packets`, whole `flows`, or what only the source knows, whose numbers "
        "are estimates (`by_source`). Only packets have a known error.",
        allowed=SAMPLING_KINDS,
    )
    packets: pl.Int64 = c.count("Packets of records that start in the window.", null="not stated")
    peer_name: str = c.column("Name of the peer.", null="no name, or several")
    name_kind: str = c.column("Name ladder.", allowed=c.NAME_KINDS)
    distance: str = c.column("How far.", allowed=c.DISTANCES)
    gateway: str = c.column("What it passed.", allowed=c.GATEWAYS)
    sampling_error_ratio: pl.Float64 = c.ratio(
        "Relative error of the estimate (95 %), if as many as possible of the bytes observed were "
        "in packets of 64 KiB: no sizes of packets make it larger.",
        null="not sampled, or no packets were: nothing tells the error",
    )
    min_sampling_error_ratio: pl.Float64 = c.ratio(
        "The same if the packets of each record had one size: an optimistic error.",
        null="as above, or packets are not stated",
    )
    measured_by: str = c.column("What measured it.", allowed=c.MEASURED_BY)
    byte_layer: str = c.column("Layer.", allowed=c.BYTE_LAYERS)
    observer: str = c.column("Interface or node that observed.")
    match_kind: str = c.column("Pod ladder.", allowed=c.POD_MATCH_KINDS)
    candidate_pod_uids: TextList = c.column(
        "Pods that it may be: of an ambiguous address, or behind one that the settings name as "
        "shared.",
        null="none, or more than 100",
    )
    is_chosen: pl.Boolean = c.column("The one source of this pod, hour and direction that counts.")
    rejected_bytes: pl.Int64 = c.byte_count("Bytes of records with action REJECT.")
