"""What is cut at slashes is redacted while it is whole."""

import pytest

from transforms.staging.hubble_values import node_name
from transforms.staging.kubernetes_pods import without_runtime
from transforms.staging.volume_fields import stated_transport

KEY = "-----BEGIN PRIVATE KEY-----planted/part+of/it-----END PRIVATE KEY-----"


def test_a_node_behind_its_cluster_keeps_no_part_of_a_key() -> None:
    assert node_name("alder/node-1") == "node-1"
    assert node_name(f"alder/node-1.{KEY}") == "node-1.***"


@pytest.mark.parametrize(
    ("stated", "stored"),
    [
        ("containerd://c0ffee", "c0ffee"),
        (f"cri-o://c0ffee.{KEY}", "c0ffee.***"),
        ("docker://c0ffee.https%253A%252F%252Freader%253Aplanted1%2540db", "c0ffee."),
        ("containerd://reader:planted1@db", "***@db"),
        ("https://reader:planted1@db", "***@db"),
        ("", None),
        (None, None),
    ],
)
def test_an_id_of_a_container_has_no_runtime_and_no_secret(
    stated: str | None, stored: str | None
) -> None:
    found = without_runtime(stated)
    assert (found or "").startswith(stored or "")
    assert (found is None) == (stored is None)
    assert "planted" not in (found or "")


def test_a_transport_is_a_word_or_nothing() -> None:
    assert stated_transport("tcp", "transport") == "TCP"
    assert stated_transport(f"tcp/{KEY}", "transport") is None
