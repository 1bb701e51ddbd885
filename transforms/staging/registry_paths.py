"""What a request to an image registry asks for, by its method and path.

Source: the OCI distribution specification, its list of end points. Names of repositories hold
slashes, so that the last part that names an end point tells where the name ends.
"""

import re
from typing import NamedTuple

from transforms.staging import request_fields as f
from transforms.staging.stored_text import name_text

MAX_PATH = 8_192

_NAMED = re.compile(
    r"/v2/(?P<name>.+)/(?:manifests/(?P<reference>[^/]+)|blobs/uploads(?P<upload>/.*)?"
    r"|blobs/(?P<blob>[^/]+)|(?P<tags>tags/list)|referrers/(?P<subject>[^/]+))/?",
    re.DOTALL,
)
_DIGEST = re.compile(r"[a-z0-9+._-]{1,32}:[0-9a-fA-F]{32,128}")
_READS = {"GET": "read", "HEAD": "head", "DELETE": "delete"}
_WRITES = {"PUT": "write", "POST": "write", "PATCH": "write", "GET": "other", "DELETE": "other"}


class Asked(NamedTuple):
    """What a request asks for.

    Attributes:
        target: What.
        operation: What is done to it.
        repository: Repository, without the registry.
        reference: Tag or digest of a manifest, as asked.
        digest: Digest of a manifest or blob.
    """

    target: str
    operation: str
    repository: str | None = None
    reference: str | None = None
    digest: str | None = None


_UNNAMED = {
    **dict.fromkeys(("/v2", "/v2/"), Asked("version", "other")),
    **dict.fromkeys(("/v2/_catalog", "/v2/_catalog/"), Asked("catalog", "list")),
    **dict.fromkeys(
        ("/service/token", "/token", "/v2/token", "/auth/token", "/oauth2/token"),
        Asked("token", "other"),
    ),
}
"""What has no repository."""


def asked(method: str | None, uri: str) -> Asked | None:
    """What a request asks for; none where it is none of the registry's interface.

    Args:
        method: HTTP method.
        uri: Path, with its query; of the query only the digest of a mounted blob is looked at.
    """
    path, _, query = uri[:MAX_PATH].partition("#")[0].partition("?")
    if path in _UNNAMED:
        return _UNNAMED[path]
    match = _NAMED.fullmatch(path)
    if match is None:
        return Asked("other", "other") if path.startswith("/v2/") else None
    name = name_text(f.decoded(match["name"]))
    verb = method or ""
    if match["tags"]:
        return Asked("tags", "list", name)
    if match["subject"]:
        return Asked("referrers", "list", name, digest=digest(f.decoded(match["subject"])))
    if match["reference"]:
        reference = f.decoded(match["reference"])
        operation = _READS.get(verb) or _WRITES.get(verb, "other")
        return Asked("manifest", operation, name, name_text(reference), digest(reference))
    if match["blob"] and match["blob"] != "uploads":
        found = digest(f.decoded(match["blob"]))
        return Asked("blob", _READS.get(verb, "other"), name, digest=found)
    return _upload(verb, name, query)


def _upload(verb: str, name: str | None, query: str) -> Asked:
    """A request of an upload; one that mounts a blob of another repository copies it."""
    parameters = f.query_parameters(query)
    mounted = digest(f.only(parameters, "mount"))
    if mounted is not None:
        return Asked("blob", "copy", name, digest=mounted)
    completed = digest(f.only(parameters, "digest"))
    return Asked("upload", _WRITES.get(verb, "other"), name, digest=completed)


def digest(text: str | None) -> str | None:
    """A digest such as `sha256:…`; null where the text is none."""
    return text.lower() if text is not None and _DIGEST.fullmatch(text) else None
