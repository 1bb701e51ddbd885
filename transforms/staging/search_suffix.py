"""Take the suffix of a resolver's search list off a name that was asked.

With `ndots:5` a pod of namespace `team` that looks up `huggingface.co` asks for
`huggingface.co.team.svc.cluster.local`, `huggingface.co.svc.cluster.local`,
`huggingface.co.cluster.local`, one name per search domain of the node (`ec2.internal`, …) and then
for the name itself. The first ones are noise of the same look-up.

The suffix comes off only where what is left is a whole name by itself, which is a name under a
public suffix (`huggingface.co`) or one that ends with a search domain again
(`redis.team.svc.cluster.local`), and where the long name is not, or may not be, real:

* Real names in the service zone are `service.namespace`, `pod.service.namespace` and
  `_port._protocol.service.namespace`. A name of these shapes is kept unless the answer was
  NXDOMAIN; any other shape is an expansion whatever the answer, as `autopath` answers expansions.
* Under `cluster.local` itself nothing but `svc` and `pod` is real.
* In the service zone the last label may be the namespace or the end of the name asked
  (`huggingface.co` in namespace `ml`, or `huggingface.co.ml`). `com`, `org`, `net`, `io` and the
  like are taken for no namespace; another top-level domain is taken for the namespace where the
  name before it ends in one of those or in a country code, unless both together are a registry's
  suffix (`co.uk`; but `com.ml` and `com.ai` are read as namespaces `ml` and `ai`, which are common
  where those registries' names are rare). What stays undecided is kept as asked.
* A name that answers with a CNAME to its own beginning is an expansion.

The cluster domain is taken to be `cluster.local`; names under another one are kept as asked.
Public suffixes come from the list that tldextract ships (ICANN part); nothing is fetched.
"""

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tldextract

_CLUSTER = ".cluster.local"
_SERVICES = ".svc.cluster.local"
_CLOUD = re.compile(
    r"\.(?:ec2\.internal"
    r"|[a-z]{2}(?:-[a-z]{2,12}){1,3}-\d{1,2}\.compute\.internal"
    r"|(?:[a-z]{2,12}-[a-z]{2,12}\d{1,2}-[a-z]\.)?c\.[a-z0-9-]{1,40}\.internal"
    r"|google\.internal"
    r"|[a-z0-9]{1,63}\.[a-z]{2,4}\.internal\.cloudapp\.net)\Z"
)
"""Search domains that AWS, Google and Azure give their nodes."""
_NO_NAMESPACE = frozenset({"com", "net", "org", "edu", "gov", "mil", "int", "arpa", "co", "io"})
_NAMESPACES = frozenset({"ml", "ai"})
_ORDINAL = re.compile(r".*-\d{1,9}\Z")
_PLAIN_NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
"""A name that is nothing but labels, where tldextract would also read parts of a URL."""


@lru_cache(maxsize=65_536)
def without_search_suffix(
    name: str,
    *,
    exists: bool | None,
    namespace: str | None = None,
    alias: str | None = None,
) -> str:
    """Take a search suffix off a name, where there is one.

    Args:
        name: Lower case, no final dot.
        exists: True for an answer NOERROR, false for NXDOMAIN, none for anything else.
        namespace: Namespace of the asking pod, where the source states it.
        alias: Target of the CNAME that answers the name itself.

    Returns:
        The name without the suffix, or the name itself.
    """
    if alias and name.startswith(f"{alias}.") and _is_search_domain(name[len(alias) :]):
        return alias
    if name.endswith(_SERVICES):
        labels = name[: -len(_SERVICES)].split(".")
        return _without_service_zone(labels, exists=exists, namespace=namespace) or name
    if name.endswith(_CLUSTER):
        rest = name[: -len(_CLUSTER)]
        is_zone = rest.rpartition(".")[2] in {"svc", "pod"}
        return rest if not is_zone and _is_whole(rest) else name
    match = _CLOUD.search(name)
    if match is not None and _is_whole(name[: match.start()]):
        return name[: match.start()]
    return name


def _without_service_zone(
    labels: list[str], *, exists: bool | None, namespace: str | None
) -> str | None:
    """The name asked, given the labels before `svc.cluster.local`; none where undecided."""
    may_be_service = len(labels) in {2, 3} or (
        len(labels) == 4 and labels[0].startswith("_") and labels[1].startswith("_")
    )
    if len(labels) < 2 or (may_be_service and exists is not False):
        return None
    whole, without_last = ".".join(labels), ".".join(labels[:-1])
    if _ends_with_search_domain(whole):
        return whole
    if _ends_with_search_domain(without_last):
        return without_last
    short = _public_suffix(without_last)
    long = _public_suffix(whole)
    if short and may_be_service and _ORDINAL.match(labels[0]):
        short = None
    if short and (long is None or labels[-1] == namespace):
        return without_last
    if long and labels[-1] in _NO_NAMESPACE:
        return whole
    is_domain_end = len(labels[-2]) == 2 or labels[-2] in _NO_NAMESPACE
    if short and long and is_domain_end and ("." not in long or labels[-1] in _NAMESPACES):
        return without_last
    return whole if long and not short and not may_be_service else None


def has_public_suffix(name: str) -> bool:
    """Whether a name, in lower case without the final dot, stands under a public suffix."""
    return _public_suffix(name) is not None


def ends_with_cluster_domain(name: str) -> bool:
    """Whether a name ends as those of the cluster and their search suffixes do."""
    return name.endswith(_CLUSTER)


def _is_whole(name: str) -> bool:
    return _public_suffix(name) is not None or _ends_with_search_domain(name)


def _ends_with_search_domain(name: str) -> bool:
    return name.endswith(_CLUSTER) or _CLOUD.search(name) is not None


def _is_search_domain(suffix: str) -> bool:
    if suffix == _CLUSTER or _CLOUD.fullmatch(suffix):
        return True
    return suffix.endswith(_SERVICES) and suffix.count(".") <= 4


def _public_suffix(name: str) -> str | None:
    """Public suffix of a name that has labels before it; else none."""
    if "." not in name or _is_under_no_suffix(name):
        return None
    parts = _extractor().extract_str(name)
    return parts.suffix if parts.suffix and parts.domain else None


def _is_under_no_suffix(name: str) -> bool:
    """Whether the last label alone tells that; taking a name apart takes far longer."""
    last = name.rpartition(".")[2]
    is_encoded = last.startswith("xn--")
    return not is_encoded and last not in _top_levels() and bool(_PLAIN_NAME.fullmatch(name))


@cache
def _top_levels() -> frozenset[str]:
    """Last labels of all public suffixes."""
    return frozenset(suffix.rpartition(".")[2] for suffix in _extractor().tlds)


@cache
def _extractor() -> "tldextract.TLDExtract":
    # It loads a client of HTTP; most processes look at no name that needs the list.
    import tldextract  # noqa: PLC0415

    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
