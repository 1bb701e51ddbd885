"""What requests to Azure Blob Storage are, whichever of its logs tells of them."""

import re
from typing import NamedTuple

from transforms.staging import request_fields as f
from transforms.staging.resource_ids import object_resource
from transforms.staging.stored_text import name_text

_OPERATIONS = {
    "getblob": "read",
    "readfile": "read",
    "queryblobcontents": "read",
    "getblobproperties": "head",
    "getblobmetadata": "head",
    "getcontainerproperties": "head",
    "getfileproperties": "head",
    "getpathstatus": "head",
    "putblob": "write",
    "putblock": "write",
    "putblocklist": "write",
    "putpage": "write",
    "appendblock": "write",
    "createpathfile": "write",
    "appendfile": "write",
    "flushfile": "write",
    "copyblob": "copy",
    "copyblobfromurl": "copy",
    "copyblobsource": "copy",
    "copyblobdestination": "copy",
    "putblobfromurl": "copy",
    "putblockfromurl": "copy",
    "putpagefromurl": "copy",
    "appendblockfromurl": "copy",
    "listblobs": "list",
    "listcontainers": "list",
    "listfilesystemdir": "list",
    "listfilesystems": "list",
    "findblobsbytags": "list",
    "deleteblob": "delete",
    "deletefile": "delete",
    "deletepathfile": "delete",
}
"""By name in lower case, as logs differ in it; everything else is `other`."""
_NAME = re.compile(r"[A-Za-z0-9_./ -]{1,100}")


class Place(NamedTuple):
    """Where an object is.

    Attributes:
        account: Storage account.
        container: Container; null where the request is about the account.
        key: Name of the blob; null where the request is about the container.
    """

    account: str | None
    container: str | None
    key: str | None


def operation_name(stated: str | None) -> str | None:
    """Name of an operation, redacted; null where the text is none."""
    return name_text(f.shaped(_NAME, stated))


def operation(name: str) -> str:
    """What was done to the object."""
    return _OPERATIONS.get(name.lower(), "other")


def error(stated: str | None) -> str | None:
    """The status text where it tells of a failure; null where it is a success of any kind."""
    return None if not stated or "success" in stated.lower() else name_text(stated)


def place(object_key: str | None, account: str | None) -> Place:
    """Account, container and blob of an object key, `/account/container/blob`."""
    path = object_key or ""
    if path.startswith('"'):
        path = path[1:].removesuffix('"')
    parts = path.split("/", 3)
    if parts[0] or len(parts) < 2:
        return Place(name_text(account), None, None)
    parts += [""] * (4 - len(parts))
    return Place(name_text(account or parts[1]), name_text(parts[2]), name_text(parts[3]))


def version(uri: str | None) -> str | None:
    """Version or snapshot that a URI names."""
    asked = f.query_parameters((uri or "").partition("?")[2])
    return name_text(f.only(asked, "versionid") or f.only(asked, "snapshot"))


def endpoint(uri: str | None) -> str | None:
    """Host of a URI, without its port."""
    rest = (uri or "").partition("?")[0].partition("://")[2]
    return f.host(rest.partition("/")[0].rpartition("@")[2])


def copy_source(uri: str | None) -> str | None:
    """Source of a copy; its URI carries a signature of its own, which is not kept."""
    return object_resource(uri) if uri else None
