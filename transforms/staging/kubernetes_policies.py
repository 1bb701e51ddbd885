"""Rows of network policies: those of Kubernetes, and those of Cilium, of a namespace or a cluster.

Sources: the API reference of networking.k8s.io/v1 (a policy without policyTypes restricts ingress,
and egress if it has egress rules) and of cilium.io/v2 (`spec` or a list of `specs`; a direction is
restricted by the first rule of it, unless `enableDefaultDeny` says otherwise).
"""

import json
from typing import Any

import msgspec

from transforms.staging.json_records import Item, RecordError, decode
from transforms.staging.kubernetes_metadata import (
    LISTED,
    Count,
    Metadata,
    Sight,
    StatedObject,
)
from transforms.staging.parser import FileContext, Row
from transforms.staging.stored_text import free_text, is_secret_name, name_text, pairs

POLICY_GROUPS = {
    "NetworkPolicy": ("networking.k8s.io/", "extensions/v1beta1"),
    "CiliumNetworkPolicy": ("cilium.io/",),
    "CiliumClusterwideNetworkPolicy": ("cilium.io/",),
}
"""Kinds of policies, with the beginnings of their API versions."""
MAX_SPEC = 1 << 20
"""Characters of a policy that are kept; the API server stores objects of at most 1.5 MiB."""

_MASK = "***"
_DIRECTIONS = {
    "ingress": ("ingress", "ingressDeny"),
    "egress": ("egress", "egressDeny"),
}
_SELECTORS = ("endpointSelector", "nodeSelector")


class PolicyMetadata(Metadata):
    """metadata of a policy."""

    generation: Count | None = None


class Policy(msgspec.Struct):
    """A policy, as far as it is read; the rules stay undecoded."""

    metadata: PolicyMetadata | None = None
    spec: msgspec.Raw = msgspec.Raw()
    specs: msgspec.Raw = msgspec.Raw()


class _Rules(msgspec.Struct, rename="camel"):
    pod_selector: dict[str, Any] | None = None
    policy_types: list[str] | None = None
    egress: list[Any] | None = None


POLICY = msgspec.json.Decoder(Policy)
_RULES: "msgspec.json.Decoder[_Rules | None]" = msgspec.json.Decoder(_Rules | None)
_OBJECT: "msgspec.json.Decoder[dict[str, Any] | None]" = msgspec.json.Decoder(dict[str, Any] | None)
_OBJECTS: "msgspec.json.Decoder[list[dict[str, Any]] | None]" = msgspec.json.Decoder(
    list[dict[str, Any]] | None
)


def policy_rows(
    policy: Policy,
    item: Item,
    context: FileContext,
    sight: Sight = LISTED,
    *,
    kind: str,
    api_version: str,
) -> tuple[Row, ...]:
    """Row of one observed state of a policy.

    Raises:
        RecordError: A value that is used is missing or wrong.
    """
    metadata = policy.metadata or PolicyMetadata()
    is_namespaced = kind != "CiliumClusterwideNetworkPolicy"
    stated = StatedObject(metadata, item, is_namespaced=is_namespaced)
    deletion = stated.deletion()
    observed = stated.observed(context, sight)
    try:
        rules = _kubernetes(policy, item) if kind == "NetworkPolicy" else _cilium(policy, item)
    except RecursionError:
        message = f"too_deep: expected JSON of a few levels, got too many at {item.path}"
        raise RecordError(message) from None
    values = {
        "record_id": stated.record_id(kind, sight, observed),
        "observed_at": observed.at,
        "watch_event": sight.watch_event,
        "namespace": name_text(stated.namespace),
        "policy_name": name_text(stated.name),
        "policy_uid": stated.uid,
        "policy_kind": kind,
        "api_version": name_text(api_version),
        "labels": pairs(metadata.labels),
        **rules,
        "generation": metadata.generation,
        "created_at": stated.created_at,
        "deletion_at": deletion,
    }
    return (("network_policies", values),)


def _kubernetes(policy: Policy, item: Item) -> dict[str, Any]:
    path = f"{item.path}.spec"
    data = bytes(policy.spec) or b"null"
    spec, rules = decode(_OBJECT, data, path), decode(_RULES, data, path)
    if spec is None or rules is None:
        return _stated(None, None, None, None, path)
    types = rules.policy_types or (["Ingress", "Egress"] if rules.egress else ["Ingress"])
    # A null selector is an empty one: it selects all pods of the namespace.
    selector = rules.pod_selector or {}
    return _stated(spec, selector, "Ingress" in types, "Egress" in types, path)


def _cilium(policy: Policy, item: Item) -> dict[str, Any]:
    path = f"{item.path}.spec"
    spec = decode(_OBJECT, bytes(policy.spec) or b"null", path)
    specs = decode(_OBJECTS, bytes(policy.specs) or b"null", f"{path}s") or []
    rules = [*([] if spec is None else [spec]), *specs]
    if not rules:
        return _stated(None, None, None, None, path)
    selectors = [next((r[k] for k in _SELECTORS if r.get(k) is not None), None) for r in rules]
    applies = {
        direction: any(rule.get(key) for rule in rules for key in keys)
        for direction, keys in _DIRECTIONS.items()
    }
    if specs:
        return _stated(rules, selectors, applies["ingress"], applies["egress"], path)
    return _stated(rules[0], selectors[0], applies["ingress"], applies["egress"], path)


def _stated(
    spec: object, selector: object, ingress: bool | None, egress: bool | None, path: str
) -> dict[str, Any]:
    return {
        "selector": None if selector is None else _text(selector, path),
        "applies_to_ingress": ingress,
        "applies_to_egress": egress,
        "spec": None if spec is None else _text(spec, path),
    }


def _text(value: object, path: str) -> str:
    """Write a value as canonical JSON: sorted keys, no spaces, each text redacted."""
    text = json.dumps(
        _redacted("", value), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    if len(text) > MAX_SPEC:
        message = f"too_large: expected at most {MAX_SPEC} characters, got more at {path}"
        raise RecordError(message)
    return text


def _redacted(key: str, value: object) -> object:
    """A value without secrets; values of HTTP headers may be credentials of any shape."""
    if isinstance(value, dict):
        if key == "headerMatches":
            value = {k: _MASK if k == "value" else v for k, v in value.items()}
        return {name_text(k) or "": _masked_by_name(str(k), v) for k, v in value.items()}
    if isinstance(value, list):
        if key == "headers":
            return [_header(v) for v in value]
        return [_redacted(key, v) for v in value]
    return (free_text(value) or "") if isinstance(value, str) else value


def _masked_by_name(key: str, value: object) -> object:
    if isinstance(value, str) and value and is_secret_name(key):
        return _MASK
    return _redacted(key, value)


def _header(value: object) -> object:
    """`Name: value` or `Name value` without the value."""
    if not isinstance(value, str):
        return _redacted("headers", value)
    name = value.replace(":", " ").split(" ")[0]
    return f"{name_text(name) or ''}: {_MASK}"
