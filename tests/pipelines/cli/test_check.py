"""`podledger check` says what a file is and what of it would be refused, and never guesses."""

import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.pipelines.cli.command import podledger

# -- every real file -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """What a file is, with its records by fate; written by reading the file."""

    format: str
    accepted: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    ignored: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Unknown:
    """Exit code 2, with a message that begins like this."""

    message: str = "no known format recognises it (known: hubble, "


V5_FIELDS = (
    "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start "
    "end action log-status vpc-id subnet-id instance-id tcp-flags type pkt-srcaddr pkt-dstaddr "
    "region az-id sublocation-type sublocation-id pkt-src-aws-service pkt-dst-aws-service "
    "flow-direction traffic-path"
)
CUSTOM_LINE = (
    "{remote}:{port} {type} {class} {name} {/kubernetes/client-namespace} "
    "{/kubernetes/client-pod-name}"
)
TGW_FIELDS = "version resource-type account-id tgw-id tgw-attachment-id"

SAMPLES: dict[str, Known | Unknown] = {
    # -- hubble: a line is a record; every line of the files of 2021 is a flow
    "hubble/otel_10flows_gke_cilium1.10_2021.jsonl": Known("hubble", 10),
    "hubble/otel_dns_gke_2021.jsonl": Known("hubble", 228),
    "hubble/otel_icmp_kind_2021.jsonl": Known("hubble", 18),
    "hubble/otel_tcp_kind_2021.jsonl": Known("hubble", 197),
    "hubble/otel_udp_dns_kind_2021.jsonl": Known("hubble", 223),
    "hubble/modern_v1.17-v1.19_real_lines.jsonl": Known("hubble", 8),
    # Five flows, of which two have neither time nor node (`{"flow":{}}` is one of them), and two
    # reports of lost events; the agent event names no address.
    "hubble/fieldmask_and_nonflow_lines.jsonl": Known(
        "hubble", 7, ignored={"agent_event": 1, "debug_event": 1}
    ),
    # -- dns
    # Lines 8 and 9 begin with a time, the others have none.
    "dns/coredns_common_combined.elastic.log": Known("coredns", 2, {"no_time": 7}),
    "dns/coredns_errors_plugin.elastic.log": Known("coredns", ignored={"plugin_errors": 8}),
    # Lines 1, 2, 4, 5 have no time, 3 is an error, 6 and 7 have a custom form, 8 and 9 are good.
    "dns/coredns_noresponse_and_custom.issues.log": Known(
        "coredns", 2, {"no_time": 4, "unreadable_line": 2}, {"plugin_errors": 1}
    ),
    "dns/bind9_large-answer.fstrm": Unknown(),
    "dns/dnscollector_dnstap.fstrm": Unknown(),
    "dns/route53_resolver.elastic.jsonl": Known("route53", 12),
    "dns/route53_resolver_endpoint.ocsf.json": Known("route53", 1),
    "dns/vector_parse_dnstap_example.json": Unknown(),
    # Line 2 asks all neighbours (port 5353).
    "dns/zeek_dns.elastic.jsonl": Known("zeek_dns", 4, ignored={"multicast": 1}),
    "dns/zeek_dns_single.ocsf.json": Known("zeek_dns", 1),
    # Of 34 records, whose times are masked, 12 go to ports 5353 and 5355 and 8 to port 137; the
    # line before the header is no part of the format.
    "dns/zeek_dns_tsv.baseline.log": Known(
        "zeek_dns", 0, {"no_time": 14}, {"comment": 1, "multicast": 12, "netbios": 8}
    ),
    # -- object_storage
    # Lines 3 and 4 are forgeries, whose quotes can be read in two ways.
    "object_storage/s3_access_adversarial.log": Known("s3_access_log", 2, {"ambiguous_quotes": 2}),
    "object_storage/s3_access_awsdocs_LogFormat_5lines.log": Known("s3_access_log", 5),
    "object_storage/s3_access_dandi_2022-01-01-05-06-35-0123456789ABCDEF.log": Known(
        "s3_access_log", 7
    ),
    "object_storage/s3_access_elastic_integrations.log": Known("s3_access_log", 8),
    "object_storage/s3_server_access_panther.log": Known("s3_access_log", 1),
    "object_storage/azure_storage_analytics_classic_v2.log": Known("azure_storage", 1),
    "object_storage/azure_storagebloblogs_panther_a.ndjson": Known("azure_storage", 4),
    # The first event names neither pod nor credentials; two abridged files have no times.
    "object_storage/cloudtrail_eks_pod_identity_assumerole.json": Known(
        "cloudtrail", 1, ignored={"no_credentials": 1}
    ),
    "object_storage/cloudtrail_irsa_webidentity_ABRIDGED.json": Known(
        "cloudtrail", rejected={"no_time": 1}
    ),
    "object_storage/cloudtrail_network_activity_ABRIDGED.json": Known(
        "cloudtrail", ignored={"network_activity": 1}
    ),
    "object_storage/cloudtrail_s3_copy_ssec_panther.ndjson": Known("cloudtrail", 2),
    "object_storage/cloudtrail_s3_copyobject_elastic.json": Known("cloudtrail", 1),
    "object_storage/cloudtrail_s3_getobject_cloudfront_ABRIDGED.json": Known(
        "cloudtrail", rejected={"no_time": 1}
    ),
    "object_storage/cloudtrail_s3_mgmt_awsdocs.json": Known(
        "cloudtrail", ignored={"management_event": 3}
    ),
    "object_storage/cloudtrail_s3outposts_putobject_awsdocs.json": Known("cloudtrail", 1),
    "object_storage/example_usage_2023_08_28_07_00_00_0123abcd_v0": Known(
        "gcs_usage", 3, ignored={"header": 1}
    ),
    "object_storage/gcs_audit_panther.ndjson": Known("gcs_audit", 3),
    "object_storage/minio_audit_putobject.json": Known("minio_audit", 1),
    # An access log, but not as S3 writes it.
    "object_storage/s3_access_panther_parsed.ndjson": Unknown(),
    # -- polyaxon: runs of lists, run details, conditions of statuses
    "polyaxon/api_runs_list.json": Known("polyaxon", 6),
    "polyaxon/api_runs_list_timeline.json": Known("polyaxon", 6),
    "polyaxon/cli_ops_ls_o_json.json": Known("polyaxon", 6),
    "polyaxon/api_run_job_detail.json": Known("polyaxon", 1),
    "polyaxon/api_run_resumed_detail.json": Known("polyaxon", 1),
    "polyaxon/api_run_matrix_parent_detail.json": Known("polyaxon", 1),
    "polyaxon/api_run_matrix_child_detail.json": Known("polyaxon", 1),
    "polyaxon/cli_ops_get_o_json.json": Known("polyaxon", 1),
    "polyaxon/api_run_job_statuses.json": Known("polyaxon", 8),
    "polyaxon/api_run_resumed_statuses.json": Known("polyaxon", 10),
    # The run and its three conditions.
    "polyaxon/offline_run/run.plx.json": Known("polyaxon", 4),
    # Two pods with ten and five events; the scheduler's two events have lost their time.
    "polyaxon/outputs_spec_json_shape.json": Known("polyaxon", 15, ignored={"no_time": 2}),
    # Four artifacts of a run; six that name none, in no run's folder.
    "polyaxon/api_run_job_lineage_artifacts.json": Known("polyaxon", 4),
    "polyaxon/offline_run/lineages.plx.json": Known("polyaxon", rejected={"no_uuid": 6}),
    # Answers that hold no run.
    "polyaxon/compiled_content_job.json": Known("polyaxon", ignored={"content": 1}),
    # An empty page could be any list's.
    "polyaxon/api_run_job_lineage_upstream.json": Unknown(
        "it may be polyaxon (an empty page of a list); state the format"
    ),
    "polyaxon/api_run_job_namespace.json": Unknown(),
    # A header and two events, and one event, in no run's folder.
    "polyaxon/offline_run/events_metric_loss.plx": Known(
        "polyaxon", rejected={"no_uuid": 2}, ignored={"header": 1}
    ),
    "polyaxon/offline_run/events_text_stage.plx": Known("polyaxon", rejected={"no_uuid": 1}),
    # What applications print is not kept.
    "polyaxon/offline_run/plxlogs_logs.jsonl": Known("polyaxon", ignored={"log": 1}),
    # YAML is not read: one line is refused, and says what to do.
    "polyaxon/real_pod_metadata_v1.1.8_issue1064.yaml": Known(
        "kubernetes", rejected={"yaml": 1}, ignored={"yaml": 23}
    ),
    # Custom resources are Kubernetes objects: each is a version of a run.
    "polyaxon/k8s_cr_job.json": Known("kubernetes", 1),
    "polyaxon/k8s_cr_matrix_child_job.json": Known("kubernetes", 1),
    "polyaxon/k8s_cr_raycluster.json": Known("kubernetes", 1),
    "polyaxon/k8s_cr_service_sandbox.json": Known("kubernetes", 1),
    # -- kubernetes: items of lists, each with uid and creation time
    "kubernetes/k3s_bundle_2025_pods_default.json": Known("kubernetes", 6),
    "kubernetes/k3s_bundle_2025_events_default.json": Known("kubernetes", 56),
    "kubernetes/troubleshoot_events_message-container-creating-failed-mount.json": Known(
        "kubernetes", 76
    ),
    "kubernetes/troubleshoot_events_message-image-pull-fail.json": Known("kubernetes", 17),
    "kubernetes/troubleshoot_pods_message-container-creating-failed-mount.json": Known(
        "kubernetes", 1
    ),
    "kubernetes/troubleshoot_pods_message-image-pull-fail.json": Known("kubernetes", 1),
    "kubernetes/troubleshoot_pods_message-oomkill-pod.json": Known("kubernetes", 1),
    "kubernetes/troubleshoot_pods_message-pending-node-affinity.json": Known("kubernetes", 1),
    "kubernetes/troubleshoot_pods_message-pending-pod-resources.json": Known("kubernetes", 1),
    "kubernetes/event_exporter_enhancedevent_backoff.json": Known("event_exporter", 1),
    # Logs and traces of applications say nothing of the cluster.
    "kubernetes/otlp_events_example.json": Unknown(),
    "kubernetes/otlp_logs_example.json": Unknown(),
    "kubernetes/otlp_trace_example.json": Unknown(),
    # -- counters
    # Four metrics with one point; four lines of two metrics with two points; none is of a pod.
    "counters/otlp_examples_metrics.json": Known("otlp", ignored={"other_metric": 4}),
    "counters/otlp_file_exporter_metrics.jsonl": Known("otlp", ignored={"other_metric": 16}),
    # The header names no time.
    "counters/aws_vpcflow_nat_example.log": Known("aws_vpc_flow_log", rejected={"no_time": 6}),
    # Line 3 is NODATA; line 4, SKIPDATA, is a loss.
    "counters/aws_vpcflow_v2_default_s3.log": Known("aws_vpc_flow_log", 6, ignored={"no_data": 1}),
    "counters/aws_vpcflow_v5_trafficpath_custom.log": Known("aws_vpc_flow_log", 2),
    "counters/aws_vpcflow_v7_ecs_s3.log": Known("aws_vpc_flow_log", 1),
    "counters/aws_vpcflow_v5_all_fields_noheader.log": Unknown(
        "it may be aws_vpc_flow_log (no header; `record_format` must name the fields); "
        "state the format"
    ),
    # The default fields of transit gateways.
    "counters/aws_tgwflow_noheader.log": Known("aws_vpc_flow_log", 2),
    # The flow logger writes no bytes.
    "counters/antrea_flowaggregator_flowlog.csv": Known("antrea", ignored={"no_bytes": 2}),
    "counters/antrea_flowaggregator_s3.csv": Known("antrea", 2),
    # Seven tuples, three of which begin a flow.
    "counters/azure_vnet_flowlog_v4.json": Known("azure_flow_log", 7),
    "counters/azure_vnet_tuples_BCE_docs_example.txt": Unknown(),
    # Two byte counters of a container of no pod; 135 values of other metrics, and its start.
    "counters/cadvisor_container_network.prom": Known(
        "prometheus",
        ignored={"comment": 28, "other_metric": 135, "no_pod": 2, "counter_start": 1},
    ),
    # Packets of a pod and of the node; bytes of a node that neither labels nor the path name.
    "counters/cadvisor_issue_samples.prom": Known(
        "prometheus", rejected={"no_node": 2}, ignored={"comment": 1, "other_metric": 2}
    ),
    "counters/cadvisor_procnetdev.txt": Unknown(),
    "counters/gcp_vpcflow_logentries.jsonl": Known("gcp_vpc_flow_log", 3),
    "counters/goflow2_sflow.json": Known("netflow_json", 1),
    "counters/ipfixcol2_entry.json": Known("netflow_json", 1),
    "counters/netobserv_flows_nat_duplicate.jsonl": Known("netobserv", 3),
    "counters/otel_kubeletstats_node_network.yaml": Unknown(),
    "counters/prometheus_promtool_dump-openmetrics.prom": Known(
        "prometheus", ignored={"comment": 1, "other_metric": 10}
    ),
    # Three of 15 lines are of 1970, at 0; the others may as well be seconds.
    "counters/prometheus_promtool_tsdb-dump.prom": Known(
        "prometheus", rejected={"wrong_time": 12}, ignored={"other_metric": 3}
    ),
    "counters/prometheus_query_range_matrix.json": Known("prometheus", ignored={"other_metric": 2}),
    "counters/victoriametrics_export.jsonl": Known("victoriametrics", ignored={"other_metric": 2}),
    # The times are masked.
    "counters/zeek_core.tcp.miss-end-data_conn.log": Known(
        "zeek_conn", rejected={"no_time": 1}, ignored={"comment": 1}
    ),
    "counters/zeek_core.tcp.missing-syn_conn.log": Known(
        "zeek_conn", rejected={"no_time": 1}, ignored={"comment": 1}
    ),
}

STATED: list[tuple[str, tuple[str, ...], Known | Unknown]] = [
    # Lines 6 and 7 have the custom form, and no time either.
    (
        "dns/coredns_noresponse_and_custom.issues.log",
        ("--format", "coredns", "--record-format", CUSTOM_LINE),
        Known("coredns", 2, {"no_time": 6}, {"plugin_errors": 1}),
    ),
    # The record begins in 1975 and ends in 2021.
    (
        "counters/aws_vpcflow_v5_all_fields_noheader.log",
        ("--record-format", V5_FIELDS),
        Known("aws_vpc_flow_log", rejected={"interval": 1}),
    ),
    (
        "counters/aws_vpcflow_v5_all_fields_noheader.log",
        ("--format", "aws_vpc_flow_log", "--record-format", V5_FIELDS),
        Known("aws_vpc_flow_log", rejected={"interval": 1}),
    ),
    (
        "counters/aws_vpcflow_v5_all_fields_noheader.log",
        ("--format", "aws_vpc_flow_log"),
        Known("aws_vpc_flow_log", rejected={"no_fields": 1}),
    ),
    # What is said of a record's fields holds, though they are those of a default.
    (
        "counters/aws_tgwflow_noheader.log",
        ("--format", "aws_vpc_flow_log", "--record-format", TGW_FIELDS),
        Known("aws_vpc_flow_log", rejected={"field_count": 2}),
    ),
    (
        "polyaxon/api_run_job_lineage_upstream.json",
        ("--format", "polyaxon"),
        Known("polyaxon"),
    ),
    (
        "polyaxon/api_run_job_namespace.json",
        ("--format", "polyaxon"),
        Known("polyaxon", ignored={"namespace": 1}),
    ),
    # Signals other than metrics.
    (
        "kubernetes/otlp_logs_example.json",
        ("--format", "otlp"),
        Known("otlp", ignored={"other_signal": 1}),
    ),
    (
        "hubble/otel_icmp_kind_2021.jsonl",
        ("--format", "kubernetes"),
        Unknown("stated as kubernetes, but the content is hubble"),
    ),
]


def found(*arguments: object) -> tuple[int, list[dict[str, Any]]]:
    """Exit code and answer of `check --json`."""
    ended = podledger("check", "--json", *arguments)
    assert ended.err == ""
    return ended.code, json.loads(ended.out)


def expect(path: Path, options: tuple[str, ...], wanted: Known | Unknown) -> None:
    code, (item,) = found(*options, path)
    assert item["path"] == str(path)
    if isinstance(wanted, Unknown):
        assert (code, item["format"], item["counts"]) == (2, None, {})
        assert item["problem"].startswith(wanted.message)
        return
    rejected, ignored = sum(wanted.rejected.values()), sum(wanted.ignored.values())
    assert (code, item["problem"], item["format"]) == (0, None, wanted.format)
    assert item["counts"] == {
        "record": wanted.accepted + rejected + ignored,
        "accepted": wanted.accepted,
        "rejected": rejected,
        "ignored": ignored,
    }
    assert item["rejected"] == wanted.rejected
    assert item["ignored"] == wanted.ignored
    for reject in item["rejects"]:
        assert ": expected " in reject["reason"] or ": the fields are not known" in reject["reason"]


@pytest.mark.samples
@pytest.mark.parametrize("name", SAMPLES)
def test_every_real_file_is_what_reading_it_tells(samples: Path, name: str) -> None:
    expect(samples / name, (), SAMPLES[name])


@pytest.mark.samples
@pytest.mark.parametrize(("name", "options", "wanted"), STATED)
def test_options_say_what_a_file_without_a_header_is(
    samples: Path, name: str, options: tuple[str, ...], wanted: Known | Unknown
) -> None:
    expect(samples / name, options, wanted)


@pytest.mark.samples
def test_no_real_file_is_left_out(samples: Path) -> None:
    files = {
        path.relative_to(samples).as_posix()
        for path in samples.rglob("*")
        if path.is_file() and path.name != "README.md"
    }
    assert files == set(SAMPLES)


def test_a_flow_log_in_parquet_is_read_by_the_names_of_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "111122223333_vpcflowlogs.log.parquet"
    columns = {
        "interface_id": ["eni-0a1b"] * 3,
        "srcaddr": ["192.0.2.1", None, "192.0.2.1"],
        "dstaddr": ["198.51.100.7", None, "198.51.100.7"],
        "dstport": pa.array([443, None, 443], pa.int32()),
        "protocol": pa.array([6, None, 6], pa.int32()),
        "bytes": pa.array([5_000, None, 900], pa.int64()),
        "start": pa.array([1_773_100_800] * 3, pa.int64()),
        "end": pa.array([1_773_100_860] * 3, pa.int64()),
        "log_status": ["OK", "NODATA", "SKIPDATA"],
    }
    parquet.write_table(pa.table(columns), path)
    code, (item,) = found(path)
    assert (code, item["format"]) == (0, "aws_vpc_flow_log")
    assert item["counts"] == {"record": 3, "accepted": 2, "rejected": 0, "ignored": 1}
    assert item["ignored"] == {"no_data": 1}


# -- what is shown -------------------------------------------------------------------------------

FLOW = (
    '{"flow":{"time":"2026-03-10T00:00:00.000001Z","uuid":"0001","verdict":"FORWARDED",'
    '"IP":{"source":"192.0.2.1","destination":"198.51.100.7"},'
    '"l4":{"UDP":{"source_port":40000,"destination_port":53}},"traffic_direction":"EGRESS",'
    '"node_name":"node-1"}}'
)
LATER = FLOW.replace("00:00:00.000001", "23:59:59.5").replace("0001", "0002")
NO_PORTS = '{"flow":{"time":"2026-03-10T12:00:00Z","IP":{"source":"192.0.2.1"}}}'
MASKED = '{"flow":{}}'
BAD_ADDRESS = FLOW.replace("192.0.2.1", "192.0.2.999")
NO_COMMA = '{"flow":{"time":"2026-03-10T00:00:00Z" "verdict":"FORWARDED"}}'
CUT = '{"flow":{"verdict":"FORW'
DEBUG = '{"debug_event":{},"node_name":"node-1","time":"2026-03-10T00:00:00Z"}'


def written(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


NO_DNS = (
    "note: no_dns_events: {} flow(s) to port 53, no look-up; no policy sends DNS through Hubble's "
    "proxy, or the export leaves its events out?"
)


def test_what_a_file_is_and_really_carries_is_shown(tmp_path: Path) -> None:
    path = written(tmp_path, "events.log", LATER, FLOW, NO_PORTS, MASKED, DEBUG)
    ended = podledger("check", path)
    assert ended == type(ended)(
        0,
        f"{path}: hubble (Hubble event lines), 5 record(s): 4 accepted, 0 rejected, 1 ignored\n"
        "  4 row(s) of flows, with destination_address, destination_port, direction, event_at, "
        "node, source_address, source_port, transport, uuid, verdict\n"
        "  events from 2026-03-10T00:00:00.000001Z to 2026-03-10T23:59:59.500000Z\n"
        f"  ignored: debug_event (1)\n  {NO_DNS.format(2)}\n",
        "",
    )


def test_a_caret_stands_where_a_record_breaks(tmp_path: Path) -> None:
    path = written(tmp_path, "events.log", NO_COMMA, FLOW, BAD_ADDRESS, CUT)
    ended = podledger("check", path)
    assert ended.code == 0
    third, fourth = len(NO_COMMA + FLOW) + 2, len(NO_COMMA + FLOW + BAD_ADDRESS) + 3
    wrong = "wrong_value: expected an IP address at $.flow.IP.source, got `192.0.2.999`"
    lines = ended.out.splitlines()
    assert lines[3:5] == ["  rejected: invalid_json (2)", "  rejected: wrong_value (1)"]
    assert lines[5:] == [
        "  line 1, byte 0: invalid_json: expected JSON, got expected ',' or '}' (byte 39) at $",
        '    {"flow":{"time":"2026-03-10T00:00:00Z" "verdict":"FORWARDED"}}',
        "                                           ^",
        f"  line 3, byte {third}: {wrong}",
        '    …001","verdict":"FORWARDED","IP":{"source":"192.0.2.999","destination":…',
        "                                                ^",
        f"  line 4, byte {fourth}: invalid_json: expected JSON, got an end inside a value at $",
        '    {"flow":{"verdict":"…"',
        "                          ^",
        f"  {NO_DNS.format(1)}",
    ]


def caret(path: Path, *options: str) -> str | None:
    """The twenty characters from the caret on in the excerpt of a file's first reject."""
    _, (item,) = found(*options, path)
    reject = item["rejects"][0]
    return None if reject["caret"] is None else reject["excerpt"][reject["caret"] :][:20]


POD = (
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"b","uid":"c",'
    '"creationTimestamp":"2026-03-10T00:00:00Z"},"status":{"startTime":"noon"}}'
)
VPC = (
    "2 111122223333 eni-0a1b 192.0.2.1 198.51.100.7 49152 443 6 10 5000 1773100800 1773100860 "
    "ACCEPT OK"
)
VPC_FIELDS = ("--record-format", " ".join(V5_FIELDS.split()[:14]))
KUBERNETES = ("--format", "kubernetes")


@pytest.mark.parametrize(
    ("options", "text", "shown"),
    [
        ((), POD, '"…"}}'),
        (KUBERNETES, POD.replace('"kind":"Pod"', '"kind":7'), '7,"metadata":{"name"'),
        (KUBERNETES, POD.replace('"kind"', "kind"), '…:"Pod","metadata":{'),
        ((), VPC.replace("192.0.2.1", "192.0.2.x"), "192.0.2.x 198.51.100"),
        ((), VPC.replace("49152 443", "443 99443"), "99443 6 10 5000 1773"),
        (VPC_FIELDS, f"{VPC} x", None),
        ((), "[ERROR] plugin/errors: 2 a. A: timeout\n[INFO] 192.0.2.1:1 - 2 nonsense", None),
    ],
)
def test_a_caret_stands_in_every_format_where_the_place_is_known(
    tmp_path: Path, options: tuple[str, ...], text: str, shown: str | None
) -> None:
    assert caret(written(tmp_path, "export", text), *options) == shown


def test_the_first_rejects_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "events.log", FLOW, *[f'{{"flow": {n}' for n in range(30)], "x", "y")
    _, (item,) = found(path)
    assert item["counts"]["rejected"] == 32
    assert sum(item["rejected"].values()) == 32
    assert [reject["locator"] for reject in item["rejects"]] == [f"line {n}" for n in range(2, 7)]
    assert "  and 27 more rejected record(s)\n" in podledger("check", path).out


def test_an_excerpt_shows_no_control_character_and_no_markup(tmp_path: Path) -> None:
    path = tmp_path / "events.log"
    path.write_bytes(FLOW.encode() + b'\n{"flow":{"verdict":"[red]\x1b[2J\x00",\n')
    ended = podledger("check", path)
    assert "\x1b" not in ended.out
    assert "\x00" not in ended.out
    assert ended.code == 0


# -- hostile and damaged files -------------------------------------------------------------------


def test_several_files_are_each_looked_at(tmp_path: Path) -> None:
    good = written(tmp_path, "good.log", FLOW)
    other = written(tmp_path, "other.txt", "once upon a time")
    code, items = found(tmp_path / "absent", other, tmp_path, good)
    assert code == 2
    assert [item["problem"] and item["problem"].split(" (")[0] for item in items] == [
        "absent; expected a file",
        "no known format recognises it",
        "a folder; expected a file",
        None,
    ]
    assert items[3]["counts"]["accepted"] == 1
    assert found(good, good)[0] == 0


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty"),
        (b"\n \n\n", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (bytes(range(256)) * 300, "no known format recognises it"),
        (b"\x00" * 100_000, "no known format recognises it"),
        (FLOW.encode("utf-16"), "encoded as UTF-16"),
        (b"x" * 50_000_000, "no known format recognises it"),
        (b"\x1f\x8b" + b"not gzip" * 10, "damaged: expected a valid compressed stream"),
        (b"\x28\xb5\x2f\xfd" + b"not zstd" * 10, "damaged: expected a valid compressed stream"),
        (gzip.compress(b"")[:8], "truncated: expected the end of the compressed stream"),
        (b"[" * 100_000, "no known format recognises it"),
        (b'{"a":' * 20_000, "no known format recognises it"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{len(value)} bytes",
)
def test_what_cannot_be_told_ends_with_code_2(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "export"
    path.write_bytes(content)
    code, (item,) = found(path)
    assert code == 2
    assert item["problem"].startswith(problem)
    assert item["format"] is None


def test_a_line_of_50_megabytes_is_refused_and_the_rest_read(tmp_path: Path) -> None:
    path = tmp_path / "events.log"
    long = b'{"flow":{"time":"2026-03-10T00:00:00Z","Summary":"' + b"x" * 50_000_000 + b'"}}'
    path.write_bytes(b"\n".join((long, FLOW.encode(), long, LATER.encode())))
    code, (item,) = found(path)
    assert (code, item["format"]) == (0, "hubble")
    assert item["counts"] == {"record": 4, "accepted": 2, "rejected": 2, "ignored": 0}
    assert item["rejected"] == {"line_too_long": 2}
    assert [reject["locator"] for reject in item["rejects"]] == ["line 1", "line 3"]


@pytest.mark.parametrize("format_name", ["otlp", "kubernetes", "polyaxon", "coredns", "hubble"])
def test_a_stated_format_takes_a_senseless_line_for_one_reject(
    tmp_path: Path, format_name: str
) -> None:
    path = tmp_path / "export"
    path.write_bytes(b"x" * 50_000_000)
    code, (item,) = found("--format", format_name, path)
    assert code == 0
    assert item["counts"] == {"record": 1, "accepted": 0, "rejected": 1, "ignored": 0}


def compressed(kind: str, text: bytes) -> bytes:
    if kind == "gz":
        return gzip.compress(text, compresslevel=6, mtime=0)
    packed = pa.compress(text, codec="zstd", asbytes=True)
    assert isinstance(packed, bytes)
    return packed


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_a_bomb_is_not_unpacked(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "events"
    path.write_bytes(compressed(kind, FLOW.encode() + b"\n" + bytes(90_000_000)))
    code, (item,) = found(path)
    assert code == 0
    assert item["counts"]["accepted"] == 1
    assert item["rejected"] == {"line_too_long": 1, "too_compressed": 1}


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_a_truncated_file_keeps_what_came_before_its_break(tmp_path: Path, kind: str) -> None:
    lines = [FLOW.replace('"0001"', f'"{n * 7919 % 10_007:05}-{n}"') for n in range(3_000)]
    packed = compressed(kind, "\n".join(lines).encode())
    path = tmp_path / "events.log"
    path.write_bytes(packed[: len(packed) * 3 // 4])
    code, (item,) = found(path)
    assert code == 0
    assert 0 < item["counts"]["accepted"] < 3_000
    assert item["rejected"] == {"truncated": 1}
    (reject,) = item["rejects"]
    assert reject["locator"] == f"byte {reject['byte_offset']}"
    assert (reject["excerpt"], reject["caret"]) == ("", None)


def test_a_compressed_file_is_read_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "events.txt"
    path.write_bytes(compressed("zst", f"{FLOW}\n{LATER}\n".encode()))
    assert found(path)[1][0]["counts"]["accepted"] == 2


def test_many_senseless_lines_are_counted_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "events.log"
    path.write_bytes(b"x\n" * 50_000)
    _, (item,) = found("--format", "hubble", path)
    assert item["rejected"] == {"invalid_json": 50_000}
    assert len(item["rejects"]) == 5


def test_an_unknown_format_name_is_refused(tmp_path: Path) -> None:
    ended = podledger("check", "--format", "zeek", written(tmp_path, "a", FLOW))
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: --format zeek: expected one of hubble, coredns, ")


def test_a_path_on_s3_is_to_be_fetched_first() -> None:
    code, (item,) = found("s3://example-bucket/events.log")
    assert (code, item["problem"]) == (2, "not a local file; fetch it to check it")


def test_a_name_of_a_file_cannot_move_the_cursor(tmp_path: Path) -> None:
    path = written(tmp_path, "a\x1b[2J\n.log", FLOW)
    assert "a\\x1b[2J\\n.log: hubble" in podledger("check", path).out


def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "events.log", FLOW, CUT)
    (tmp_path / "events.log.gz").write_bytes(compressed("gz", path.read_bytes()))
    before = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in tmp_path.rglob("*")}
    monkeypatch.chdir(tmp_path)
    for name in sorted(p.name for p in before):
        assert podledger("check", name).code == 0
    assert {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in tmp_path.rglob("*")} == before
