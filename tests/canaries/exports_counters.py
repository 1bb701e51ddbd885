"""Metrics and flow logs with a secret in every place."""

import json
from typing import Any

from tests.canaries.planter import Planter
from tests.canaries.records import POD_UID, Json, lines


def attributes(**values: str) -> list[Json]:
    """Attributes with text values."""
    return [
        {"key": key.replace("__", "."), "value": {"stringValue": value}}
        for key, value in values.items()
    ]


def otlp(p: Planter) -> str:
    """Metrics of the pod network, of other things, and broken ones."""
    where = "otlp"

    r = p.refused()

    def instance(p: Planter) -> str:
        return f"{p.keep()} {p.url_password(f'{where} instance')}"

    def document(p: Planter, *points: Json, name: str = "k8s.pod.network.io") -> Json:
        return {
            "resourceMetrics": [
                {
                    "resource": {
                        "attributes": attributes(
                            k8s__pod__uid=POD_UID.format(1),
                            k8s__pod__name="train-0",
                            k8s__namespace__name="ml",
                            k8s__node__name="node-1",
                            service__instance__id=instance(p),
                            note=p.plain(f"{where} resource attribute"),
                        )
                    },
                    "scopeMetrics": [
                        {
                            "scope": {"name": p.plain(f"{where} scope")},
                            "metrics": [
                                {
                                    "name": name,
                                    "unit": "By",
                                    "description": p.plain(f"{where} description"),
                                    "sum": {
                                        "aggregationTemporality": 2,
                                        "isMonotonic": True,
                                        "dataPoints": list(points),
                                    },
                                }
                            ],
                        }
                    ],
                }
            ]
        }

    def point(p: Planter, number: int, **changes: Any) -> Json:
        return {
            "attributes": attributes(
                interface=f"{p.keep('eth')} {p.github(f'{where} interface')}"[:64],
                direction="receive",
                note=p.plain(f"{where} point attribute"),
            ),
            "startTimeUnixNano": "1773100800000000000",
            "timeUnixNano": str(1_773_129_600_000_000_000 + number * 10**9),
            "asInt": str(1000 + number),
            "exemplars": [{"filteredAttributes": attributes(a=p.plain(f"{where} exemplar"))}],
            **changes,
        }

    return lines(
        document(
            p, point(p, 1), point(r, 2, asInt="x"), point(r, 3, asInt=p.plain(f"{where} value"))
        ),
        document(r, point(r, 4), name=p.plain(f"{where} name of another metric")),
        {"resourceMetrics": [{"resource": {"attributes": p.plain(f"{where} attributes")}}]},
        json.dumps(document(r, point(r, 5)))[:-1],
        {"resourceLogs": [{"body": p.plain(f"{where} logs")}]},
        {"note": p.plain(f"{where} other document")},
    )


VPC_FIELDS = (
    "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start "
    "end action log-status instance-tag"
)


def aws_vpc_flow_log(p: Planter) -> str:
    """Records with a tag, which is the one field that a user writes."""
    where = "aws_vpc_flow_log"

    values = (
        "2 111122223333 eni-0a1b 10.20.1.5 203.0.113.9 40000 443 6 10 5000 1773129600 1773129660 "
        "ACCEPT OK"
    )

    def record(tag: str, **changes: str) -> str:
        fields = dict(zip(VPC_FIELDS.split(), f"{values} {tag}".split(), strict=True))
        fields |= {name.replace("_", "-"): text for name, text in changes.items()}
        return " ".join(fields.values())

    return lines(
        VPC_FIELDS,
        record(p.plain(f"{where} tag"), interface_id=p.keep("eni")),
        *(
            record(text.replace("\n", "_").replace(" ", "_"), bytes="many", interface_id=p.keep())
            for text in p.of_every_shape(f"{where} tag of a rejected record")
        ),
        f"{p.keep()} too few {p.github(f'{where} short line')}",
        record("x", region=p.slack(f"{where} unknown field")) + " more",
        record("x", srcaddr=p.jwt(f"{where} address")),
    )
