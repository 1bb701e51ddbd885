import pytest

from transforms.staging.gpu_requests import effective_gpus, gpus_asked, is_gpu, is_gpu_device
from transforms.staging.json_records import RecordError

NVIDIA = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("resource", "counts"),
    [
        ("nvidia.com/gpu", True),
        ("amd.com/gpu", True),
        ("example.com/vgpu", True),
        ("nvidia.com/mig-1g.5gb", True),
        ("nvidia.com/gpu.shared", True),
        ("nvidia.com/mig-1g.5gb.shared", True),
        ("gpu.intel.com/i915", True),
        ("gpu.intel.com/xe", True),
        ("gpu.intel.com/i915_monitoring", False),
        ("gpu.intel.com/memory.max", False),
        ("cpu", False),
        ("memory", False),
        ("example.com/gpu-memory", False),
    ],
)
def test_every_name_that_ends_in_gpu_and_every_mig_part_counts(resource: str, counts: bool) -> None:
    assert is_gpu(resource) is counts


@pytest.mark.parametrize(
    ("name", "is_gpus"),
    [
        ("gpu.nvidia.com", True),
        ("mig.nvidia.com", True),
        ("vfio.gpu.nvidia.com", True),
        ("gpu.intel.com", True),
        ("h100-GPU", True),
        ("compute-domain.nvidia.com", False),
        ("tpu.google.com", False),
        ("migration.example.com", False),
        ("", False),
        (None, False),
    ],
)
def test_drivers_and_classes_of_gpus_are_told_by_a_word_of_their_name(
    name: str | None, is_gpus: bool
) -> None:
    assert is_gpu_device(name) is is_gpus


def test_a_limit_without_a_request_is_the_request() -> None:
    assert gpus_asked(None, {NVIDIA: "2"}, "$") == {NVIDIA: 2}
    assert gpus_asked({NVIDIA: 1, "cpu": "500m"}, {NVIDIA: "2"}, "$") == {NVIDIA: 1}
    assert gpus_asked(None, None, "$") == {}


@pytest.mark.parametrize(
    ("value", "count"), [("0", 0), ("8", 8), (8, 8), (8.0, 8), ("1k", 1_000), ("1Ki", 1_024)]
)
def test_quantities(value: str | float, count: int) -> None:
    assert gpus_asked({NVIDIA: value}, None, "$") == {NVIDIA: count}


@pytest.mark.parametrize("value", ["500m", 0.5, "-1", -1, "", "two", "9999999", 1e300, "1e3"])
def test_what_is_no_whole_number_is_refused(value: str | float) -> None:
    with pytest.raises(RecordError, match=r"\Awrong_quantity: expected a whole number .* at \$"):
        gpus_asked({NVIDIA: value}, None, "$")


@pytest.mark.parametrize(
    ("containers", "count"),
    [
        ([], 0),
        ([(False, {NVIDIA: 2}), (False, {NVIDIA: 1})], 3),
        # The largest init container counts alone.
        ([(True, {NVIDIA: 4}), (True, {NVIDIA: 1}), (False, {NVIDIA: 2})], 4),
        ([(True, {NVIDIA: 1}), (False, {NVIDIA: 2})], 2),
        # A restartable init container (not ending first) runs beside what follows it.
        ([(False, {NVIDIA: 1}), (True, {NVIDIA: 4}), (False, {NVIDIA: 2})], 5),
        ([(True, {NVIDIA: 4}), (False, {NVIDIA: 1}), (False, {NVIDIA: 2})], 4),
        # Each resource on its own.
        ([(True, {"amd.com/gpu": 1}), (False, {NVIDIA: 1, "nvidia.com/mig-1g.5gb": 2})], 4),
    ],
)
def test_the_effective_request(containers: list[tuple[bool, dict[str, int]]], count: int) -> None:
    assert effective_gpus(containers) == count
