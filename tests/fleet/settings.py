"""The settings file of the fixtures."""

from tests.fleet.places import BUCKET_REGIONS, DATASET_IDS, NODES
from tests.fleet.story import ACCOUNT

REDACTION_KEY = "public-test-key-of-the-fixtures-do-not-use-elsewhere\n"

_HEAD = """\
# Settings of the fixture days. All paths are relative to this file.
# The exports are committed as plain text; where a path ends in .gz or .zst, the demo and the tests
# compress the committed file, which has the same path without that ending.
lake: lake
catalog: podledger.duckdb
memory_limit: 2GB
redaction_key_file: redaction.key
final_after: 3d

clusters:
  alder: {{cloud: aws, region: us-east-1, account_id: "{account}"}}
  birch: {{cloud: aws, region: eu-west-1, account_id: "{account}"}}

exports:
  - name: alder-hubble
    format: hubble
    path: exports/{{cluster}}/hubble/%Y-%m-%d/{{node}}/events*.log.gz
    clusters: [alder]
    expect: {{nodes: {alder_nodes}}}
  - name: birch-hubble
    format: hubble
    path: exports/{{cluster}}/hubble/%Y-%m-%d/{{node}}/events*.log.zst
    clusters: [birch]
    expect: {{nodes: {birch_nodes}}}
  - name: alder-coredns
    format: coredns
    path: exports/{{cluster}}/coredns/%Y-%m-%d/{{node}}.log
    clusters: [alder]
  - name: birch-dns-collector
    format: dns_collector
    path: exports/{{cluster}}/dns_collector/%Y-%m-%d/{{node}}.jsonl
    clusters: [birch]
  - name: s3-access-logs
    format: s3_access_log
    path: exports/s3/*/%Y-%m-%d-*
  - name: polyaxon-lists
    format: polyaxon
    path: exports/{{cluster}}/polyaxon/{{project}}/%Y-%m-%d/runs.json
  - name: polyaxon-runs
    format: polyaxon
    path: exports/{{cluster}}/polyaxon/{{project}}/%Y-%m-%d/*/*.json
  - name: polyaxon-specs
    format: polyaxon
    path: exports/{{cluster}}/polyaxon/{{project}}/%Y-%m-%d/*/outputs/spec.json
  - name: kubernetes-lists
    format: kubernetes
    path: exports/{{cluster}}/kubernetes/%Y-%m-%d/*-%H.json
  - name: kubernetes-watches
    format: kubernetes
    path: exports/{{cluster}}/kubernetes/%Y-%m-%d/*.jsonl
  - name: alder-otlp
    format: otlp
    path: exports/{{cluster}}/otlp/%Y-%m-%d/*.jsonl
    clusters: [alder]
  - name: birch-vpc-flow-logs
    format: aws_vpc_flow_log
    path: exports/{{cluster}}/vpc_flow_logs/%Y-%m-%d/*.log.gz
    clusters: [birch]
"""


def text() -> str:
    """Return `podledger.yaml`."""
    counts = {
        f"{name}_nodes": sum(node.cluster == name for node in NODES) for name in ("alder", "birch")
    }
    lines = [_HEAD.format(account=ACCOUNT, **counts), "datasets:"]
    lines += [f'  - {{id: "{name}", pattern: "{name}/*"}}' for name in DATASET_IDS]
    lines += ["", "buckets:"]
    lines += [f"  {bucket}: {region}" for bucket, region in sorted(BUCKET_REGIONS.items())]
    return "\n".join(lines) + "\n"
