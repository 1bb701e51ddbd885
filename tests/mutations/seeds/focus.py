"""Bills in FOCUS: CSV of AWS and of Azure, rows of Google Cloud."""

import csv
import io
import json
from typing import Any


def _line(number: int, **changes: str) -> dict[str, str]:
    found = {
        "BilledCost": f"0.0{number}25",
        "BillingAccountId": "111122223333",
        "BillingCurrency": "USD",
        "BillingPeriodStart": "2026-03-01T00:00:00Z",
        "BillingPeriodEnd": "2026-04-01T00:00:00Z",
        "ChargeCategory": "Usage",
        "ChargeClass": "",
        "ChargeDescription": "per GB, transfer to another region",
        "ChargePeriodStart": f"2026-03-10T{number:02d}:00:00Z",
        "ChargePeriodEnd": f"2026-03-10T{number + 1:02d}:00:00Z",
        "ConsumedQuantity": f"12.5{number}",
        "ConsumedUnit": "GB",
        "EffectiveCost": "0.0200000000",
        "InvoiceId": "INV-1",
        "ListCost": "0.0300000000",
        "ProviderName": "AWS",
        "RegionId": "us-east-1",
        "ResourceId": "arn:aws:s3:::example-data",
        "ServiceCategory": "Networking",
        "ServiceName": "Amazon Simple Storage Service",
        "SkuId": "ABCDEFGH12345678",
        "SkuPriceId": "ABCDEFGH12345678.1",
        "SubAccountId": "444455556666",
        "x_Operation": "GetObject",
        "x_UsageType": "USE1-EUW1-AWS-Out-Bytes",
    }
    return found | changes


_AZURE = {
    "ProviderName": "Microsoft",
    "BillingPeriodStart": "2026-03-01T00:00Z",
    "BillingPeriodEnd": "2026-04-01T00:00Z",
    "x_UsageType": "",
    "SubAccountId": "/subscriptions/0a1b2c3d-0000-4000-8000-000000000001",
    "ResourceId": "/subscriptions/0a1b2c3d-0000-4000-8000-000000000001/natGateways/example",
}
_GOOGLE = {"ProviderName": "Google Cloud", "ConsumedUnit": "gibibyte", "x_UsageType": ""}
_TAX = {"ChargeCategory": "Tax", "ConsumedQuantity": "", "ConsumedUnit": ""}


def _csv(rows: list[dict[str, str]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _row(line: dict[str, str]) -> dict[str, Any]:
    numbers = ("BilledCost", "ListCost", "EffectiveCost", "ConsumedQuantity")
    return line | {name: float(line[name]) for name in numbers}


FILES: tuple[bytes, ...] = (
    _csv([*(_line(n) for n in range(9)), _line(9, **_TAX), _line(10, ChargeCategory="Credit")]),
    _csv([_line(n, **_AZURE) for n in range(9)]),
    "".join(f"{json.dumps(_row(_line(n, **_GOOGLE)))}\n" for n in range(9)).encode(),
)
