"""No parser claims another parser's files; what is not supported yet is claimed by none."""

import csv
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import transforms.staging
from transforms.staging.parser import Parser

FIXTURES = Path(__file__).parents[3] / "data" / "fixtures"
HEAD_BYTES = 64 << 10

FORMATS: dict[str, dict[str, tuple[str, ...]]] = {
    "counters": {
        # The NAT example names neither bytes nor times; the file without a header needs the
        # setting `record_format`: both are flow logs all the same.
        "aws_vpc_flow_log": (
            "aws_tgwflow_noheader.log",
            "aws_vpcflow_nat_example.log",
            "aws_vpcflow_v2_default_s3.log",
            "aws_vpcflow_v5_all_fields_noheader.log",
            "aws_vpcflow_v5_trafficpath_custom.log",
            "aws_vpcflow_v7_ecs_s3.log",
        ),
        "azure_flow_log": ("azure_vnet_flowlog_v4.json",),
        "gcp_vpc_flow_log": ("gcp_vpcflow_logentries.jsonl",),
        "netobserv": ("netobserv_flows_nat_duplicate.jsonl",),
        "antrea": ("antrea_flowaggregator_flowlog.csv", "antrea_flowaggregator_s3.csv"),
        "netflow_json": ("goflow2_sflow.json", "ipfixcol2_entry.json"),
        # The times are masked; they are connection logs all the same.
        "zeek_conn": (
            "zeek_core.tcp.miss-end-data_conn.log",
            "zeek_core.tcp.missing-syn_conn.log",
        ),
        "otlp": ("otlp_examples_metrics.json", "otlp_file_exporter_metrics.jsonl"),
        "prometheus": (
            "cadvisor_container_network.prom",
            "cadvisor_issue_samples.prom",
            "prometheus_promtool_dump-openmetrics.prom",
            "prometheus_promtool_tsdb-dump.prom",
            "prometheus_query_range_matrix.json",
        ),
        "victoriametrics": ("victoriametrics_export.jsonl",),
        "": (
            "azure_vnet_tuples_BCE_docs_example.txt",
            "cadvisor_procnetdev.txt",
            "otel_kubeletstats_node_network.yaml",
        ),
    },
    "dns": {
        # Lines of the `errors` plugin are CoreDNS's, though they hold no look-up.
        "coredns": (
            "coredns_common_combined.elastic.log",
            "coredns_errors_plugin.elastic.log",
            "coredns_noresponse_and_custom.issues.log",
        ),
        "route53": ("route53_resolver.elastic.jsonl", "route53_resolver_endpoint.ocsf.json"),
        # The text has masked times, and a line before its header; it is a dns.log all the same.
        "zeek_dns": (
            "zeek_dns.elastic.jsonl",
            "zeek_dns_single.ocsf.json",
            "zeek_dns_tsv.baseline.log",
        ),
        # Frames of dnstap, and a page of documentation.
        "": (
            "bind9_large-answer.fstrm",
            "dnscollector_dnstap.fstrm",
            "vector_parse_dnstap_example.json",
        ),
    },
    "hubble": {
        "hubble": (
            "fieldmask_and_nonflow_lines.jsonl",
            "modern_v1.17-v1.19_real_lines.jsonl",
            "otel_10flows_gke_cilium1.10_2021.jsonl",
            "otel_dns_gke_2021.jsonl",
            "otel_icmp_kind_2021.jsonl",
            "otel_tcp_kind_2021.jsonl",
            "otel_udp_dns_kind_2021.jsonl",
        ),
    },
    "kubernetes": {
        "kubernetes": (
            "k3s_bundle_2025_events_default.json",
            "k3s_bundle_2025_pods_default.json",
            "troubleshoot_events_message-container-creating-failed-mount.json",
            "troubleshoot_events_message-image-pull-fail.json",
            "troubleshoot_pods_message-container-creating-failed-mount.json",
            "troubleshoot_pods_message-image-pull-fail.json",
            "troubleshoot_pods_message-oomkill-pod.json",
            "troubleshoot_pods_message-pending-node-affinity.json",
            "troubleshoot_pods_message-pending-pod-resources.json",
        ),
        "event_exporter": ("event_exporter_enhancedevent_backoff.json",),
        # Logs and traces of applications say nothing of the cluster.
        "": (
            "otlp_events_example.json",
            "otlp_logs_example.json",
            "otlp_trace_example.json",
        ),
    },
    "object_storage": {
        "s3_access_log": (
            "s3_access_adversarial.log",
            "s3_access_awsdocs_LogFormat_5lines.log",
            "s3_access_dandi_2022-01-01-05-06-35-0123456789ABCDEF.log",
            "s3_access_elastic_integrations.log",
            "s3_server_access_panther.log",
        ),
        "cloudtrail": (
            "cloudtrail_eks_pod_identity_assumerole.json",
            "cloudtrail_irsa_webidentity_ABRIDGED.json",
            "cloudtrail_network_activity_ABRIDGED.json",
            "cloudtrail_s3_copy_ssec_panther.ndjson",
            "cloudtrail_s3_copyobject_elastic.json",
            "cloudtrail_s3_getobject_cloudfront_ABRIDGED.json",
            "cloudtrail_s3_mgmt_awsdocs.json",
            "cloudtrail_s3outposts_putobject_awsdocs.json",
        ),
        "minio_audit": ("minio_audit_putobject.json",),
        "azure_storage": (
            "azure_storagebloblogs_panther_a.ndjson",
            "azure_storage_analytics_classic_v2.log",
        ),
        "gcs_audit": ("gcs_audit_panther.ndjson",),
        "gcs_usage": ("example_usage_2023_08_28_07_00_00_0123abcd_v0",),
        "": ("s3_access_panther_parsed.ndjson",),
    },
    "polyaxon": {
        "polyaxon": (
            "api_run_job_detail.json",
            "api_run_job_lineage_artifacts.json",
            "api_run_job_lineage_upstream.json",
            "api_run_job_statuses.json",
            "api_run_matrix_child_detail.json",
            "api_run_matrix_parent_detail.json",
            "api_run_resumed_detail.json",
            "api_run_resumed_statuses.json",
            "api_runs_list.json",
            "api_runs_list_timeline.json",
            "cli_ops_get_o_json.json",
            "cli_ops_ls_o_json.json",
            "compiled_content_job.json",
            "offline_run/events_metric_loss.plx",
            "offline_run/events_text_stage.plx",
            "offline_run/lineages.plx.json",
            "offline_run/plxlogs_logs.jsonl",
            "offline_run/run.plx.json",
            "outputs_spec_json_shape.json",
        ),
        # Custom resources are Kubernetes objects, which lists of both kinds are read with.
        "kubernetes": (
            "k8s_cr_job.json",
            "k8s_cr_matrix_child_job.json",
            "k8s_cr_raycluster.json",
            "k8s_cr_service_sandbox.json",
            # YAML is recognised, to say how to write JSON.
            "real_pod_metadata_v1.1.8_issue1064.yaml",
        ),
        "": ("api_run_job_namespace.json",),
    },
}
"""Folder of the samples → format, empty where none is supported → files; read by eye."""

EXPECTED = {
    f"{folder}/{name}": format_name
    for folder, formats in FORMATS.items()
    for format_name, names in formats.items()
    for name in names
}


@cache
def parsers() -> dict[str, Parser]:
    """Every parser that there is."""
    modules = [
        import_module(f"transforms.staging.{module.name}")
        for module in iter_modules(transforms.staging.__path__)
    ]
    found = [module.PARSER for module in modules if hasattr(module, "PARSER")]
    return {parser.name: parser for parser in found}


def claimed(path: Path) -> str:
    """The format that recognises a file most surely; several names where they are as sure."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    scores = {name: parser.recognise(head).score for name, parser in parsers().items()}
    best = max(scores.values())
    return " or ".join(sorted(n for n, s in scores.items() if s == best)) if best else ""


@pytest.mark.samples
@pytest.mark.parametrize("name", EXPECTED)
def test_each_sample_is_claimed_by_its_format_alone(samples, name):
    assert claimed(samples / name) == EXPECTED[name]


@pytest.mark.samples
def test_the_table_names_every_sample(samples):
    files = {
        path.relative_to(samples).as_posix()
        for path in samples.rglob("*")
        if path.is_file() and path.name != "README.md"
    }
    assert files == set(EXPECTED)


@pytest.mark.samples
@pytest.mark.parametrize("name", [name for name, found in EXPECTED.items() if found])
def test_a_sample_cut_inside_its_first_record_is_claimed_by_no_other_format(samples, name):
    head = (samples / name).read_bytes()
    for size in (1, 20, 100, 400):
        for other, parser in parsers().items():
            if other != EXPECTED[name]:
                assert parser.recognise(head[:size]).score <= 1


def test_each_fixture_is_claimed_by_the_format_that_the_fixtures_state():
    with (FIXTURES / "expected" / "export_files.csv").open() as file:
        stated = {row["path"]: row["format"] for row in csv.DictReader(file)}
    wrong = {}
    for stored, format_name in stated.items():
        path = FIXTURES / stored
        if not path.exists():
            path = path.with_suffix("")  # committed as text, compressed where the demo runs
        if claimed(path) != (format_name if path.stat().st_size else ""):
            wrong[stored] = claimed(path)
    assert wrong == {}


@pytest.mark.parametrize("head", [b"", b"\n\n", b"\x00" * 100, b"{", b"[]", b"{}", b"null", b"x"])
def test_nothing_is_claimed_where_nothing_is_told(head):
    assert {n: p.recognise(head).score for n, p in parsers().items()} == dict.fromkeys(parsers(), 0)
