"""Write what a run refers to as the ids of design.md section 4, without credentials.

Every function takes text of an export, which may be anything, and returns null where the text names
no resource; none of them keeps userinfo, a query or a fragment of a URL.
"""

import re
from typing import NamedTuple

from transforms.redaction import redact_name
from transforms.staging.values import canonical_address

MAX_LENGTH = 2_048
"""Characters of a URL or reference that are read; longer text names nothing."""
DEFAULT_REGISTRY = "docker.io"

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,31})://(.*)\Z", re.DOTALL)
_SCP_LIKE = re.compile(r"(?:[^@/\s]+@)?([A-Za-z0-9][A-Za-z0-9.-]*):(?!//)(\S+)\Z")
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?\Z")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,221}\Z")
_DIGEST = re.compile(r"[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-fA-F]{32,}\Z")
_TAG = re.compile(r"\w[\w.-]{0,127}\Z", re.ASCII)
_REPOSITORY = re.compile(r"[a-z0-9]+(?:[._/-]+[a-z0-9]+)*\Z")
_REGISTRY = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?\Z|\[[0-9a-fA-F:]+\](:[0-9]{1,5})?\Z")
_UNSAFE = re.compile(r"[\x00-\x20\x7f\"'`<>\\^{}|]")

_PORTS = {
    "http": 80, "https": 443, "ssh": 22, "git": 9418, "ftp": 21, "ftps": 990, "sftp": 22,
    "postgres": 5432, "postgresql": 5432, "mysql": 3306, "redis": 6379, "rediss": 6379,
    "mongodb": 27017, "amqp": 5672, "amqps": 5671, "grpc": 443, "grpcs": 443, "ws": 80, "wss": 443,
}  # fmt: skip
_S3 = {"s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gs", "gcs": "gs"}
_AZURE = frozenset({"wasb", "wasbs", "abfs", "abfss"})
_AZURE_HOST = re.compile(r"([a-z0-9]{3,24})\.(?:blob|dfs)\.core\.windows\.net\Z")
_HUB = re.compile(r"hf://[\w.-]{1,96}(?:/[\w.-]{1,200}){1,16}(?:@[\w./-]{1,128})?\Z", re.ASCII)
_GIT_SCHEMES = frozenset({"http", "https", "ssh", "git"})


class Image(NamedTuple):
    """An image reference taken apart.

    Attributes:
        resource_id: `oci://registry/repository@digest`, else `:tag`.
        version: Digest, else tag.
    """

    resource_id: str
    version: str


class Url(NamedTuple):
    """A URL without userinfo, query and fragment.

    Attributes:
        scheme: In lower case.
        user: Userinfo; only to tell an account or container from a host, never stored.
        host: In lower case, without credentials; an IPv6 address without brackets.
        port: As stated, else null.
        path: Without the first and the last slash.
    """

    scheme: str
    user: str
    host: str
    port: int | None
    path: str


def parse_url(text: str) -> Url | None:
    """Take a URL apart; null where it is none."""
    match = _URL.match(text.strip()) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    rest = match[2].partition("#")[0].partition("?")[0]
    authority, _, path = rest.partition("/")
    if "@" in match[2][len(rest) :] and "@" not in rest and ":" in authority:
        return None  # the query may have begun inside a password
    # A password may hold a slash although no URL may: then the user ends at the last @.
    if "@" in path and ":" in authority and not authority.rpartition(":")[2].isdigit():
        rest = rest.rpartition("@")[2]
        authority, _, path = f"@{rest}".partition("/")
    user, _, place = authority.rpartition("@")
    host, port = _host_and_port(place.lower())
    if host is None or _UNSAFE.search(path):
        return None
    if not place.startswith("["):
        host = redact_name(place[: len(host)]).lower()  # in lower case a token is not known
    return Url(match[1].lower(), user, host, port, redact_name(path.strip("/")))


def object_resource(text: str) -> str | None:
    """Id of a bucket, prefix or object: `s3://`, `gs://`, `az://account/container/…`, `hf://`."""
    if text.startswith("hf://"):
        return redact_name(text) if _HUB.match(text) else None
    url = parse_url(text)
    if url is None:
        return None
    if url.scheme in _S3:
        return _under(f"{_S3[url.scheme]}://", url.host, url.path) if _is_bucket(url.host) else None
    if url.scheme in _AZURE:
        return _azure_container(url)
    account = _AZURE_HOST.match(url.host)
    if url.scheme == "https" and account and url.path:
        return f"az://{account[1]}/{url.path}"
    if url.scheme == "az" and url.path:
        return f"az://{url.host}/{url.path}"
    return None


def git_resource(text: str, revision: str | None) -> str | None:
    """Id of a repository: `git+https://host/path@revision`; a scp-like address is `git+ssh`."""
    url = git_url(text)
    if url is None:
        return None
    version = revision_text(revision)
    return f"git+{url}@{version}" if version else f"git+{url}"


def git_url(text: str) -> str | None:
    """URL of a repository without userinfo; null where it is none."""
    cleaned = text.strip().removeprefix("git+")
    url = parse_url(cleaned)
    if url is not None:
        if url.scheme not in _GIT_SCHEMES or not url.path:
            return None
        port = f":{url.port}" if url.port not in {None, _PORTS[url.scheme]} else ""
        return f"{url.scheme}://{_bracketed(url.host)}{port}/{url.path}"
    match = _SCP_LIKE.match(cleaned) if len(cleaned) <= MAX_LENGTH else None
    if match is None or "@" in match[2] or _UNSAFE.search(match[2]):
        return None
    path = match[2].partition("?")[0].partition("#")[0].strip("/")
    return f"ssh://{redact_name(match[1]).lower()}/{redact_name(path)}" if path else None


def revision_text(revision: str | None) -> str | None:
    """A git revision: a commit, branch or tag; null where it is none."""
    if not revision or len(revision) > 256 or _UNSAFE.search(revision):
        return None
    return redact_name(revision)


def image_resource(reference: str) -> Image | None:
    """Id of an image; the registry defaults to docker.io, the tag to `latest`.

    A digest wins over a tag, because it is what is pulled.
    """
    text = reference.strip()
    if not text or len(text) > MAX_LENGTH:
        return None
    name, _, digest = text.partition("@")
    if digest and not _DIGEST.match(digest):
        return None
    head, slash, rest = name.partition("/")
    if slash and ("." in head or ":" in head or head == "localhost"):
        registry, repository = head.lower(), rest
    else:
        registry, repository = DEFAULT_REGISTRY, name
    if registry in {"index.docker.io", "registry-1.docker.io"}:
        registry = DEFAULT_REGISTRY
    repository, colon, tag = repository.partition(":")
    if registry == DEFAULT_REGISTRY and "/" not in repository:
        repository = f"library/{repository}"
    if not _REGISTRY.match(registry) or not _REPOSITORY.match(repository):
        return None
    if colon and not _TAG.match(tag):
        return None
    place = redact_name(f"oci://{registry}/{repository}")
    if digest:
        return Image(f"{place}@{digest.lower()}", digest.lower())
    version = redact_name(tag) if colon else "latest"
    return Image(f"{place}:{version}", version)


def host_resource(text: str) -> str | None:
    """Id of the host of a URL as network evidence shows it: `dns://name:port`, `ip://…:port`."""
    url = parse_url(text)
    if url is None:
        return None
    port = url.port if url.port is not None else _PORTS.get(url.scheme)
    if port is None:
        return None
    address = canonical_address(url.host)
    if address is not None:
        return f"ip://{_bracketed(address)}:{port}"
    return f"dns://{url.host.rstrip('.')}:{port}"


def claim_resource(cluster: str | None, namespace: str, claim: str) -> str:
    """Id of a persistent volume claim: `kube://cluster/namespace/persistentvolumeclaims/name`."""
    place = f"{redact_name(namespace)}/persistentvolumeclaims/{redact_name(claim)}"
    return f"kube://{cluster or ''}/{place}"


def _azure_container(url: Url) -> str | None:
    """`wasbs://container@account.blob.core.windows.net/path`."""
    account = _AZURE_HOST.match(url.host)
    if account is None or not re.fullmatch(r"[$a-z0-9-]{3,63}", url.user):
        return None
    return _under("az://", f"{account[1]}/{url.user}", url.path)


def _under(head: str, place: str, path: str) -> str:
    return f"{head}{place}/{path}" if path else f"{head}{place}"


def _is_bucket(name: str) -> bool:
    return bool(_BUCKET.match(name))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _host_and_port(place: str) -> tuple[str | None, int | None]:
    if place.startswith("["):
        address, _, tail = place[1:].partition("]")
        host = canonical_address(address)
        port = tail.removeprefix(":")
    else:
        host, _, port = place.partition(":")
        if not _HOST.match(host):
            return None, None
    if port and not (port.isascii() and port.isdigit() and 0 < int(port[:6]) <= 65_535):
        return None, None
    return host, int(port) if port else None
