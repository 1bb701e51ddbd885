"""A landing zone of planted exports: files of every format, written by hand, and the settings.

`plain` secrets stand where nothing may be kept of a text, shaped ones where the text is kept but
for them. Each record also holds a harmless neighbour that must survive.
"""

from collections.abc import Iterator
from pathlib import Path

from tests.canaries.every_place import planted_files, planted_formats
from tests.canaries.exports_coredns import coredns, dns_collector
from tests.canaries.exports_counters import aws_vpc_flow_log, otlp
from tests.canaries.exports_hubble import hubble
from tests.canaries.exports_kubernetes import kubernetes_list, kubernetes_watch
from tests.canaries.exports_polyaxon import (
    polyaxon_archive,
    polyaxon_detail,
    polyaxon_list,
    polyaxon_statuses,
)
from tests.canaries.exports_s3 import s3_access_log
from tests.canaries.exports_wrapped import (
    compressed,
    hubble_in_log_entries,
    loki_answer,
    s3_rows,
    shipped,
    subscription,
)
from tests.canaries.planter import Planter
from tests.canaries.records import DAY, RUN

SETTINGS = """
lake: lake
catalog: podledger.duckdb
redaction_key_file: redaction.key
clusters:
  alder: {cloud: aws, region: us-east-1, account_id: "111122223333"}
exports:
  - {name: hubble, format: hubble, path: "in/hubble/%Y-%m-%d/{node}.log", clusters: [alder]}
  - {name: coredns, format: coredns, path: "in/coredns/%Y-%m-%d/{node}.log", clusters: [alder]}
  - {name: dns_collector, path: "in/dns_collector/%Y-%m-%d/*", clusters: [alder]}
  - {name: s3, path: "in/s3_access_log/%Y-%m-%d/*"}
  - {name: polyaxon, path: "in/polyaxon/%Y-%m-%d/**/*.json", clusters: [alder]}
  - {name: kubernetes, path: "in/kubernetes/%Y-%m-%d/*", clusters: [alder]}
  - {name: otlp, path: "in/otlp/%Y-%m-%d/*", clusters: [alder]}
  - {name: vpc, path: "in/aws_vpc_flow_log/%Y-%m-%d/*", clusters: [alder]}
  - {name: wrapped-lookups, format: coredns, path: "in/wrapped/lookups/%Y-%m-%d/*",
     clusters: [alder]}
  - {name: wrapped-events, format: hubble, path: "in/wrapped/events/%Y-%m-%d/*", clusters: [alder]}
"""
_PLANTED = """\
  - {{name: planted-{name}, format: {format}, path: "in/planted/{format}/%Y-%m-%d/*",
     clusters: [alder]}}
"""


# -- all of them ---------------------------------------------------------------------------------


def exports(p: Planter) -> Iterator[tuple[str, str | bytes]]:
    """(path below the landing zone, text) of a file of every kind."""
    yield f"hubble/{DAY}/node-1.log", hubble(p)
    yield f"hubble/{DAY}/node-{p.github('node in a path')}.log", compressed(p)
    yield f"hubble/{DAY}/node-2.log", compressed(p.refused())[:-4]
    yield f"coredns/{DAY}/node-1.log", coredns(p)
    yield f"dns_collector/{DAY}/node-1.jsonl", dns_collector(p)
    yield f"s3_access_log/{DAY}/{DAY}-08-15-00-0123456789ABCDEF", s3_access_log(p)
    yield f"s3_access_log/{DAY}/password={p.hugging_face('file name')}.parquet", s3_rows(p)
    yield f"polyaxon/{DAY}/runs.json", polyaxon_list(p)
    yield f"polyaxon/{DAY}/{RUN}/run.json", polyaxon_detail(p)
    yield f"polyaxon/{DAY}/{RUN}/statuses.json", polyaxon_statuses(p)
    yield f"polyaxon/{DAY}/{RUN}/outputs/spec.json", polyaxon_archive(p)
    yield f"kubernetes/{DAY}/all.json", kubernetes_list(p)
    yield f"kubernetes/{DAY}/watch.jsonl", kubernetes_watch(p)
    yield f"otlp/{DAY}/metrics.jsonl", otlp(p)
    yield f"aws_vpc_flow_log/{DAY}/flows.log", aws_vpc_flow_log(p)
    yield f"wrapped/lookups/{DAY}/shipped.log", shipped(p)
    yield f"wrapped/lookups/{DAY}/answer.json", loki_answer(p)
    yield f"wrapped/lookups/{DAY}/subscription.json", subscription(p)
    yield f"wrapped/events/{DAY}/entries.json", hubble_in_log_entries(p)
    for name in planted_formats():
        # Rows of equal ids stand once, so that of neighbours only the parsers' rows are asked.
        for planted in planted_files(name, p, few=True):
            yield f"planted/{name}/{DAY}/{planted.number}.log", planted.text


def write_zone(folder: Path, p: Planter) -> Path:
    """Write all exports below `in/`, and the settings; returns the settings file."""
    for name, text in exports(p):
        path = folder / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return write_settings(folder)


def write_settings(folder: Path) -> Path:
    """Write the settings alone."""
    (folder / "redaction.key").write_text("a key for tests only\n", encoding="utf-8")
    settings = folder / "podledger.yaml"
    planted = (
        _PLANTED.format(name=name.replace("_", "-"), format=name) for name in planted_formats()
    )
    settings.write_text(SETTINGS + "".join(planted), encoding="utf-8")
    return settings
