"""Rows of nodes, services and namespaces: the places of a cluster."""

import ipaddress
from typing import Any

import msgspec

from transforms.staging.json_records import Item, RecordError
from transforms.staging.kubernetes_metadata import (
    LISTED,
    Metadata,
    Port,
    Sight,
    StatedObject,
    read_addresses,
)
from transforms.staging.parser import FileContext, Row
from transforms.staging.stored_text import name_text, pairs

_ZONE = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_REGION = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
_ADDRESS_TYPES = frozenset({"InternalIP", "ExternalIP"})
_INSTANCE_TYPE = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")


class _NodeSpec(msgspec.Struct, rename={"provider_id": "providerID", "pod_cidr": "podCIDR",
                                        "pod_cidrs": "podCIDRs"}):  # fmt: skip
    provider_id: str | None = None
    pod_cidr: str | None = None
    pod_cidrs: list[str] | None = None


class _NodeAddress(msgspec.Struct):
    type: str | None = None
    address: str | None = None


class _NodeCondition(msgspec.Struct, rename="camel"):
    last_heartbeat_time: str | None = None
    last_transition_time: str | None = None


class _NodeStatus(msgspec.Struct):
    allocatable: dict[str, str | int | float] | None = None
    addresses: list[_NodeAddress] | None = None
    conditions: list[_NodeCondition] | None = None


class Node(msgspec.Struct):
    """A node, as far as it is read."""

    metadata: Metadata | None = None
    spec: _NodeSpec | None = None
    status: _NodeStatus | None = None


class _ServicePort(msgspec.Struct, rename="camel"):
    name: str | None = None
    port: Port | None = None
    target_port: Port | str | None = None
    protocol: str | None = None


class _ServiceSpec(msgspec.Struct, rename={"cluster_ip": "clusterIP", "cluster_ips": "clusterIPs",
                                           "external_name": "externalName"}):  # fmt: skip
    type: str | None = None
    cluster_ip: str | None = None
    cluster_ips: list[str] | None = None
    external_name: str | None = None
    selector: dict[str, str] | None = None
    ports: list[_ServicePort] | None = None


class _Ingress(msgspec.Struct):
    ip: str | None = None


class _LoadBalancer(msgspec.Struct):
    ingress: list[_Ingress] | None = None


class _ServiceStatus(msgspec.Struct, rename="camel"):
    load_balancer: _LoadBalancer | None = None


class Service(msgspec.Struct):
    """A service, as far as it is read."""

    metadata: Metadata | None = None
    spec: _ServiceSpec | None = None
    status: _ServiceStatus | None = None


class _NamespaceStatus(msgspec.Struct):
    phase: str | None = None


class Namespace(msgspec.Struct):
    """A namespace, as far as it is read."""

    metadata: Metadata | None = None
    status: _NamespaceStatus | None = None


NODE = msgspec.json.Decoder(Node)
SERVICE = msgspec.json.Decoder(Service)
NAMESPACE = msgspec.json.Decoder(Namespace)


def node_rows(
    node: Node,
    item: Item,
    context: FileContext,
    sight: Sight = LISTED,
) -> tuple[Row, ...]:
    """Row of one observed state of a node.

    Raises:
        RecordError: A value that is used is missing or wrong.
    """
    metadata = node.metadata or Metadata()
    spec, status = node.spec or _NodeSpec(), node.status or _NodeStatus()
    stated = StatedObject(metadata, item, is_namespaced=False)
    for index, condition in enumerate(status.conditions or ()):
        where = f".status.conditions[{index}]"
        stated.times.read(condition.last_heartbeat_time, f"{where}.lastHeartbeatTime")
        stated.times.read(condition.last_transition_time, f"{where}.lastTransitionTime")
    observed = stated.observed(context, sight)
    labels = metadata.labels or {}
    addresses = [
        a.address for a in status.addresses or () if a.type in {"InternalIP", "ExternalIP"}
    ]
    allocatable = {key: str(value) for key, value in (status.allocatable or {}).items()}
    values = {
        "record_id": stated.record_id("Node", sight, observed),
        "observed_at": observed.at,
        "node": name_text(stated.name),
        "node_uid": stated.uid,
        "zone": _label(labels, _ZONE),
        "region": _label(labels, _REGION),
        "instance_type": _label(labels, _INSTANCE_TYPE),
        "provider_id": name_text(spec.provider_id),
        "addresses": read_addresses(addresses, f"{item.path}.status.addresses"),
        "pod_ranges": _ranges(spec, item),
        "allocatable": pairs(allocatable),
        "labels": pairs(metadata.labels),
        "created_at": stated.created_at,
    }
    return (("node_states", values),)


def service_rows(
    service: Service,
    item: Item,
    context: FileContext,
    sight: Sight = LISTED,
) -> tuple[Row, ...]:
    """Row of one observed state of a service.

    Raises:
        RecordError: A value that is used is missing or wrong.
    """
    metadata = service.metadata or Metadata()
    spec, status = service.spec or _ServiceSpec(), service.status or _ServiceStatus()
    stated = StatedObject(metadata, item)
    observed = stated.observed(context, sight)
    balancer = status.load_balancer or _LoadBalancer()
    own = [a for a in (*(spec.cluster_ips or ()), spec.cluster_ip) if a != "None"]
    values = {
        "record_id": stated.record_id("Service", sight, observed),
        "observed_at": observed.at,
        "watch_event": sight.watch_event,
        "namespace": name_text(stated.namespace),
        "service": name_text(stated.name),
        "service_uid": stated.uid,
        "service_type": name_text(spec.type),
        "addresses": read_addresses(
            [*own, *(i.ip for i in balancer.ingress or ())], f"{item.path}.spec.clusterIPs"
        ),
        "external_name": name_text(spec.external_name),
        "selector": pairs(spec.selector),
        "ports": [_port(port) for port in spec.ports or () if port.port is not None] or None,
        "created_at": stated.created_at,
    }
    return (("services", values),)


def namespace_rows(
    namespace: Namespace,
    item: Item,
    context: FileContext,
    sight: Sight = LISTED,
) -> tuple[Row, ...]:
    """Row of one observed state of a namespace.

    Raises:
        RecordError: A value that is used is missing or wrong.
    """
    metadata = namespace.metadata or Metadata()
    stated = StatedObject(metadata, item, is_namespaced=False)
    deletion = stated.deletion()
    observed = stated.observed(context, sight)
    status = namespace.status or _NamespaceStatus()
    values = {
        "record_id": stated.record_id("Namespace", sight, observed),
        "observed_at": observed.at,
        "watch_event": sight.watch_event,
        "namespace": name_text(stated.name),
        "namespace_uid": stated.uid,
        "labels": pairs(metadata.labels),
        "phase": name_text(status.phase),
        "created_at": stated.created_at,
        "deletion_at": deletion,
    }
    return (("namespaces", values),)


def _label(labels: dict[str, str], names: tuple[str, ...]) -> str | None:
    return next((name_text(labels[name]) for name in names if labels.get(name)), None)


def _port(port: _ServicePort) -> dict[str, Any]:
    target = port.target_port
    return {
        "name": name_text(port.name),
        "port": port.port,
        "target_port": name_text(str(target)) if target is not None else None,
        "protocol": name_text(port.protocol) or "TCP",
        "container": None,
    }


def _ranges(spec: _NodeSpec, item: Item) -> list[str] | None:
    found: list[str] = []
    for text in (*(spec.pod_cidrs or ()), spec.pod_cidr):
        if not text:
            continue
        try:
            network = str(ipaddress.ip_network(text, strict=False))
        except ValueError:
            where = f"{item.path}.spec.podCIDRs"
            message = f"wrong_range: expected an address range, got other text at {where}"
            raise RecordError(message) from None
        if network not in found:
            found.append(network)
    return found or None
