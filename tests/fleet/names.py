"""What the resolvers of the simulated internet answer.

Only documentation addresses stand here. The names of real services are kept where the product
groups hosts by service; every other name is an example name.
"""

from tests.fleet.world import Answer

S3_POOL = "198.51.100"


def bucket_host(bucket: str, region: str) -> str:
    """Return the virtual-hosted name of a bucket."""
    return f"{bucket}.s3.{region}.amazonaws.com"


def bucket_answers(host: str, last_octet: int) -> list[Answer]:
    """Return what S3 answers: for 5 s, by way of a name that all buckets of a region share."""
    region = host.split(".")[-3]
    shared = f"s3-r-w.{region}.amazonaws.com"
    return [
        Answer(host, "CNAME", shared, 43),
        Answer(shared, "A", f"{S3_POOL}.{last_octet}", 5),
    ]


HOSTS: dict[str, list[Answer]] = {
    "huggingface.co": [Answer("huggingface.co", "A", "203.0.113.11", 60)],
    "cas-bridge.xethub.hf.co": [
        Answer("cas-bridge.xethub.hf.co", "CNAME", "edge.cdn.example.com", 60),
        Answer("edge.cdn.example.com", "A", "203.0.113.12", 60),
    ],
    "github.com": [Answer("github.com", "A", "203.0.113.21", 60)],
    "pypi.example.org": [Answer("pypi.example.org", "A", "203.0.113.31", 300)],
    "pypi.example.com": [
        Answer("pypi.example.com", "CNAME", "packages.cdn.example.net", 300),
        Answer("packages.cdn.example.net", "A", "203.0.113.32", 30),
    ],
    "mirror.example.com": [Answer("mirror.example.com", "A", "192.0.2.40", 120)],
    "metrics.example.com": [Answer("metrics.example.com", "A", "192.0.2.41", 300)],
    "telemetry.example.org": [Answer("telemetry.example.org", "A", "192.0.2.66", 60)],
    "collector.example.net": [Answer("collector.example.net", "A", "192.0.2.67", 60)],
    "tracking.example.com": [Answer("tracking.example.com", "A", "192.0.2.42", 120)],
    "cdn-a.example.com": [Answer("cdn-a.example.com", "A", "203.0.113.80", 120)],
    "cdn-b.example.com": [Answer("cdn-b.example.com", "A", "203.0.113.80", 120)],
    "voices.example.org": [
        Answer("voices.example.org", "CNAME", "voices.edge.example.net", 300),
        Answer("voices.edge.example.net", "CNAME", "pop-7.example.net", 300),
        Answer("pop-7.example.net", "A", "203.0.113.90", 60),
    ],
    "v6.example.com": [Answer("v6.example.com", "AAAA", "2001:db8:90::7", 120)],
}
