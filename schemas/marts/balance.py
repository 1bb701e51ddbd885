"""Whether the sources of bytes agree."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant, TextList
from schemas.table import Table, table

CHOSEN_BY = (
    "interface_counter", "flow_record", "storage_log", "registry_log", "sampled_flow_record",
    "none",
)  # fmt: skip
_NO_COUNTER = "no counter of the pod was read"
_NO_RECORD = "no unsampled record"
_NO_LOG = "no request in a log"


@table(
    "marts",
    key=("cluster", "pod_uid", "local_address", "direction", "hour_start_at"),
    scope="fleet",
)
class ByteBalance(Table):
    """What each source saw of one pod in one direction and hour, and what no dependency explains.

    Sources that saw the same bytes stand side by side and are never added; one is chosen. Bytes of
    no pod have a row for the address by which they are known. Chosen bytes less unattributed ones
    are those of run_dependency_days, exactly, over any range of days.
    """

    byte_balance_id: str = c.row_id("balance", "all columns of the key")
    cluster: str = c.cluster(null="no pod is named, and no single cluster")
    namespace: str = c.namespace(null="no pod is named, or not stated")
    pod_name: str = c.pod_name(null="no pod is named, or not stated")
    pod_uid: str = c.pod_uid()
    local_address: str = c.column(
        "Address that bytes of no pod are known by.", null="a pod's bytes, or no address is logged"
    )
    run_uuid: str = c.run_uuid()
    attempt: pl.Int64 = c.attempt()
    project: str = c.project()
    direction: str = c.column("Direction seen from the pod.", allowed=c.DIRECTIONS)
    hour_start_at: Instant = c.column("Start of the hour, UTC.")
    interface_bytes: pl.Int64 = c.byte_count("By the pod's interfaces.", null=_NO_COUNTER)
    min_interface_bytes: pl.Int64 = c.byte_count(
        "Of increments wholly inside the hour.", null=_NO_COUNTER
    )
    max_interface_bytes: pl.Int64 = c.byte_count(
        "Of all increments that overlap the hour.",
        null="no counter of the pod was read, or a reset hid bytes",
        adds_up=False,
    )
    interface_byte_layer: str = c.column(
        "Layer that the counter counts.", null=_NO_COUNTER, allowed=c.BYTE_LAYERS
    )
    reset_count: pl.Int64 = c.count("Resets of the counters.", null=_NO_COUNTER)
    gap_seconds: pl.Float64 = c.seconds("Time of the hour inside gaps.", null=_NO_COUNTER)
    uncovered_seconds: pl.Float64 = c.seconds(
        "Time of the hour without any increment, a pod's that was not there too.",
        null=_NO_COUNTER,
    )
    flow_bytes: pl.Int64 = c.byte_count("By unsampled flow records.", null=_NO_RECORD)
    min_flow_bytes: pl.Int64 = c.byte_count(
        "Of records wholly inside windows of five minutes.", null=_NO_RECORD
    )
    max_flow_bytes: pl.Int64 = c.byte_count(
        "Of records that overlap them.",
        null="no unsampled record, or a counter that began anew hid bytes",
        adds_up=False,
    )
    sampled_bytes: pl.Int64 = c.byte_count(
        "By sampled flow records, as they state them.", null="no sampled record"
    )
    estimated_bytes: pl.Int64 = c.byte_count(
        "What these let estimate: multiplied by the sampling interval.", null="no sampled record"
    )
    flow_byte_layer: str = c.column(
        "Widest layer that the records count.", null="no record", allowed=c.BYTE_LAYERS
    )
    storage_log_bytes: pl.Int64 = c.byte_count(
        "By request logs of storage, spread over each transfer's time.", null=_NO_LOG
    )
    min_storage_log_bytes: pl.Int64 = c.byte_count(
        "Of transfers wholly inside the hour.", null=_NO_LOG
    )
    max_storage_log_bytes: pl.Int64 = c.byte_count(
        "Of transfers that overlap it.",
        null="no request in a log, or one whose bytes are not logged",
        adds_up=False,
    )
    registry_log_bytes: pl.Int64 = c.byte_count(
        "By logs of image registries, of requests that the pod itself made, in their hour.",
        null=_NO_LOG,
    )
    node_runtime_bytes: pl.Int64 = c.byte_count(
        "That the node moved for the pod, by pulls of images whose bytes are known: they pass no "
        "interface of the pod's and are added to whatever is chosen.",
        null="no such pull",
    )
    chosen_by: str = c.column(
        "Source that counts, of two logs that of more bytes; `none` where only the node moved "
        "anything.",
        allowed=CHOSEN_BY,
    )
    chosen_bytes: pl.Int64 = c.byte_count("Of the source that counts, and of the node.")
    min_chosen_bytes: pl.Int64 = c.byte_count("Certain.")
    max_chosen_bytes: pl.Int64 = c.byte_count(
        "Possible.", null="the source sets no bound, or traffic passes no interface", adds_up=False
    )
    attributed_bytes: pl.Int64 = c.byte_count("That rows of run_dependency_days show.")
    unattributed_bytes: pl.Int64 = c.signed_bytes(
        "Chosen less attributed; negative where rows show more than the source that counts."
    )
    min_unattributed_bytes: pl.Int64 = c.signed_bytes(
        "Least.", null="what rows show has no upper bound"
    )
    max_unattributed_bytes: pl.Int64 = c.signed_bytes("Most.", null="max_chosen_bytes is null")
    rdma: str = c.column(
        "Whether traffic of RDMA, EFA or InfiniBand is seen.",
        null="the pod asked for no such device, or its requests are not known",
        allowed=("not_observed",),
    )
    violations: TextList = c.column(
        "Where a lower layer saw more for certain in this hour than the layer above it can have: "
        "`flow_exceeds_interface`, `storage_log_exceeds_flow`, `storage_log_exceeds_interface`.",
        null="none",
    )
    day_violations: TextList = c.column(
        "The same of the whole day, on each of its rows of this pod and direction.", null="none"
    )
    expected_us: pl.Int64 = c.pod_time_expected(
        "the run in this cluster on this day (of no run: of all pods without one)"
    )
    covered_us: pl.Int64 = c.pod_time_covered()
    empty_means: str = c.row_empty_means()
