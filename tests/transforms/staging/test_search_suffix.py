"""A search suffix comes off where a whole name is left and the long name is not real."""

import pytest
import tldextract
from hypothesis import given
from hypothesis import strategies as st

from transforms.staging.search_suffix import (
    ends_with_cluster_domain,
    has_public_suffix,
    without_search_suffix,
)

YES, NO, UNKNOWN = True, False, None


@pytest.mark.parametrize(
    ("name", "exists", "asked"),
    [
        # Every step of one look-up in namespace `team-a`.
        ("huggingface.co.team-a.svc.cluster.local", NO, "huggingface.co"),
        ("huggingface.co.svc.cluster.local", NO, "huggingface.co"),
        ("huggingface.co.cluster.local", NO, "huggingface.co"),
        ("huggingface.co.ec2.internal", NO, "huggingface.co"),
        ("huggingface.co.eu-west-1.compute.internal", NO, "huggingface.co"),
        ("huggingface.co.us-gov-west-1.compute.internal", NO, "huggingface.co"),
        ("huggingface.co.europe-west4-a.c.my-project.internal", NO, "huggingface.co"),
        ("huggingface.co.c.my-project.internal", NO, "huggingface.co"),
        ("huggingface.co.google.internal", NO, "huggingface.co"),
        ("huggingface.co.abcd1234.bx.internal.cloudapp.net", NO, "huggingface.co"),
        ("huggingface.co", YES, "huggingface.co"),
        # A namespace that is a top-level domain too.
        ("huggingface.co.ml.svc.cluster.local", NO, "huggingface.co"),
        ("data.example.com.ml.svc.cluster.local", NO, "data.example.com"),
        ("pypi.example.org.tools.svc.cluster.local", NO, "pypi.example.org"),
        ("api.wandb.ai.dev.svc.cluster.local", NO, "api.wandb.ai"),
        # A name whose end looks like a namespace.
        ("packages.example.org.svc.cluster.local", NO, "packages.example.org"),
        ("storage.cloud.google.com.svc.cluster.local", NO, "storage.cloud.google.com"),
        ("blob.core.windows.net.svc.cluster.local", NO, "blob.core.windows.net"),
        # Shapes that no service has are expansions whatever the answer (autopath answers them).
        ("cas-bridge.xethub.hf.co.team-a.svc.cluster.local", YES, "cas-bridge.xethub.hf.co"),
        ("cas-bridge.xethub.hf.co.team-a.svc.cluster.local", UNKNOWN, "cas-bridge.xethub.hf.co"),
        ("huggingface.co.cluster.local", YES, "huggingface.co"),
        ("huggingface.co.ec2.internal", UNKNOWN, "huggingface.co"),
        # A full name of the cluster or the cloud with a suffix behind it.
        (
            "peer1-org2.fabric-net.svc.cluster.local.fabric-net.svc.cluster.local",
            NO,
            "peer1-org2.fabric-net.svc.cluster.local",
        ),
        ("redis.team-a.svc.cluster.local.svc.cluster.local", NO, "redis.team-a.svc.cluster.local"),
        ("redis.team-a.svc.cluster.local.cluster.local", NO, "redis.team-a.svc.cluster.local"),
        ("redis.team-a.svc.cluster.local.ec2.internal", NO, "redis.team-a.svc.cluster.local"),
        ("metadata.google.internal.ml.svc.cluster.local", NO, "metadata.google.internal"),
        ("metadata.google.internal.svc.cluster.local", NO, "metadata.google.internal"),
        ("metadata.google.internal.google.internal", NO, "metadata.google.internal"),
    ],
)
def test_an_expansion_loses_its_suffix(name, exists, asked):
    assert without_search_suffix(name, exists=exists) == asked


@pytest.mark.parametrize(
    ("name", "exists"),
    [
        # Real services, pods and ports.
        ("redis.team-a.svc.cluster.local", YES),
        ("worker-0.workers.team-a.svc.cluster.local", YES),
        ("huggingface.co.team-a.svc.cluster.local", YES),
        ("_http._tcp.redis.team-a.svc.cluster.local", YES),
        ("10-0-0-5.team-a.pod.cluster.local", YES),
        ("api.dev.svc.cluster.local", YES),
        # Services that are missing, and answers that say nothing of existence.
        ("redis.team-a.svc.cluster.local", NO),
        ("api.dev.svc.cluster.local", NO),
        ("worker-0.workers.team-a.svc.cluster.local", NO),
        ("app-0.app.team-a.svc.cluster.local", NO),
        ("huggingface.co.team-a.svc.cluster.local", UNKNOWN),
        ("_http._tcp.redis.team-a.svc.cluster.local", NO),
        # Two readings that nothing decides.
        ("shop.example.co.uk.svc.cluster.local", NO),
        ("edge.google.ai.svc.cluster.local", NO),
        # Nothing whole would be left.
        ("redis.svc.cluster.local", NO),
        ("team-a.svc.cluster.local", NO),
        ("svc.cluster.local", NO),
        ("cluster.local", NO),
        ("dns-version.cluster.local", YES),
        ("redis.team-a.cluster.local", NO),
        ("ip-10-0-0-1.ec2.internal", YES),
        ("ip-10-0-0-1.eu-west-1.compute.internal", YES),
        ("vm-1.europe-west4-a.c.my-project.internal", YES),
        ("metadata.google.internal", YES),
        ("5.0.0.10.in-addr.arpa", YES),
        ("localhost", NO),
        (".", YES),
        # Another cluster domain is not known as one.
        ("huggingface.co.team-a.svc.k8s.example.com", NO),
    ],
)
def test_a_real_or_undecided_name_stays(name, exists):
    assert without_search_suffix(name, exists=exists) == name


def test_a_stated_namespace_decides():
    name = "shop.example.co.uk.svc.cluster.local"
    assert without_search_suffix(name, exists=False, namespace="uk") == "shop.example.co"
    assert without_search_suffix(name, exists=False, namespace="team-a") == name


def test_a_cname_to_its_own_beginning_is_an_expansion():
    name = "huggingface.co.team-a.svc.cluster.local"
    assert without_search_suffix(name, exists=True, alias="huggingface.co") == "huggingface.co"
    assert without_search_suffix(name, exists=True, alias="gface.co") == name
    assert without_search_suffix(name, exists=True, alias="huggingface") == name
    assert without_search_suffix("a.b.example.com", exists=True, alias="a.b") == "a.b.example.com"


LABELS = st.sampled_from(
    ["svc", "cluster", "local", "com", "co", "ml", "ec2", "internal", "a-0", "_tcp", "x", "",
     "google", "c", "xn--p1ai", "\\.", "*"]
)  # fmt: skip


@given(st.lists(LABELS, max_size=9).map(".".join), st.sampled_from([YES, NO, UNKNOWN]))
def test_what_is_left_begins_the_name(name, exists):
    asked = without_search_suffix(name, exists=exists)
    assert name == asked or name.startswith(f"{asked}.")


@pytest.mark.parametrize(
    ("name", "is_public", "is_of_cluster"),
    [
        ("huggingface.co", True, False),
        ("bucket.s3.us-west-2.amazonaws.com", True, False),
        ("bucket.s3.us-west-2.amazonaws", False, False),
        ("co.uk", False, False),
        ("com", False, False),
        ("db.tools.svc.cluster.local", False, True),
        ("cluster.local", False, False),
        ("", False, False),
    ],
)
def test_it_is_told_how_a_name_ends(name, is_public, is_of_cluster):
    assert has_public_suffix(name) is is_public
    assert ends_with_cluster_domain(name) is is_of_cluster


NAMES = st.lists(
    st.sampled_from(
        ["a", "ml-team", "x-1", "_dns", "com", "uk", "co", "ck", "www", "1", "xn--p1ai", "a:80",
         "u@b", "a/b", "", "é", "local", "a b", "。", "COM", "kawasaki", "city", "jp", "io"]
    ),
    max_size=5,
).map(".".join)  # fmt: skip


LIST = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


@given(NAMES)
def test_a_public_suffix_is_what_the_list_says_also_where_the_last_label_alone_is_asked(name):
    parts = LIST.extract_str(name)
    assert has_public_suffix(name) is ("." in name and bool(parts.suffix and parts.domain))
