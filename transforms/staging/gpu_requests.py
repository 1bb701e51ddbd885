"""Count the GPUs that a container, and with it a pod, asks for (definitions.md 44)."""

import re
from collections.abc import Iterable, Mapping

from transforms.staging.json_records import RecordError

MAX_GPUS = 1_000_000
"""More of one resource in one container is no request."""

_OTHER_GPUS = frozenset({"gpu.intel.com/i915", "gpu.intel.com/xe"})
"""GPUs that are not called so; the plugin's other resources are parts of these, or monitoring."""
_SHARED = ".shared"
"""Behind a name where the device plugin lets several containers use a GPU in turn."""
_GPU_WORDS = frozenset({"gpu", "mig"})
_WORDS = re.compile(r"[a-z0-9]+")

_QUANTITY = re.compile(r"([0-9]{1,12})(?:\.0{1,9})?(k|Ki)?\Z")
_MULTIPLES = {"": 1, "k": 1_000, "Ki": 1_024}

Quantities = Mapping[str, str | int | float]


def is_gpu(resource: str) -> bool:
    """Whether a resource name is of a GPU or of a part of one (MIG)."""
    name = resource.removesuffix(_SHARED)
    return name.endswith("gpu") or name.startswith("nvidia.com/mig-") or name in _OTHER_GPUS


def is_gpu_device(name: str | None) -> bool:
    """Whether a driver or a device class of dynamic allocation is one of GPUs, by its name.

    Such as `gpu.nvidia.com`, `mig.nvidia.com`, `vfio.gpu.nvidia.com`, `gpu.amd.com` and
    `gpu.intel.com`; not `compute-domain.nvidia.com`, whose devices are channels between nodes.
    """
    return not _GPU_WORDS.isdisjoint(_WORDS.findall((name or "").lower()))


def gpus_asked(requests: Quantities | None, limits: Quantities | None, path: str) -> dict[str, int]:
    """GPUs that one container asks for, by resource; a limit without a request is the request.

    Args:
        requests: Requests of the container.
        limits: Limits of the container.
        path: JSON path of its resources, for the reason.

    Raises:
        RecordError: A number of GPUs is no whole number from 0 to a million.
    """
    asked = {**(limits or {}), **(requests or {})}
    found = {}
    for resource, value in asked.items():
        if not is_gpu(resource):
            continue
        match = _QUANTITY.match(str(value))
        count = int(match[1]) * _MULTIPLES[match[2] or ""] if match else -1
        if not 0 <= count <= MAX_GPUS:
            message = f"wrong_quantity: expected a whole number of GPUs, got another at {path}"
            raise RecordError(message)
        found[resource] = count
    return found


def effective_gpus(containers: Iterable[tuple[bool, Mapping[str, int]]]) -> int:
    """GPUs of a pod's effective request, as the scheduler counts them.

    Per resource: the larger of what runs together at the end (containers and restartable init
    containers) and what runs while each init container runs (it and the restartable ones before
    it).

    Args:
        containers: Init containers in order, then the others: whether it is an init container that
            ends, and what it asks for.
    """
    running: dict[str, int] = {}
    largest: dict[str, int] = {}
    for ends_first, asked in containers:
        for resource, count in asked.items():
            if ends_first:
                together = running.get(resource, 0) + count
                largest[resource] = max(largest.get(resource, 0), together)
            else:
                running[resource] = running.get(resource, 0) + count
    return sum(
        max(running.get(resource, 0), largest.get(resource, 0))
        for resource in running.keys() | largest.keys()
    )
