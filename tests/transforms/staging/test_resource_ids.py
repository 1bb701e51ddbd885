import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.staging.resource_ids import (
    Image,
    claim_resource,
    git_resource,
    git_url,
    host_resource,
    image_resource,
    object_resource,
    parse_url,
)

DIGEST = "sha256:" + "ab" * 32


@pytest.mark.parametrize(
    ("text", "resource"),
    [
        ("s3://example-data", "s3://example-data"),
        ("s3://example-data/", "s3://example-data"),
        ("s3://example-data/sets/a/", "s3://example-data/sets/a"),
        ("s3a://example-data/sets/a", "s3://example-data/sets/a"),
        ("S3N://example-data/a", "s3://example-data/a"),
        ("gs://example-data/a b.csv", None),
        ("gs://example-data/a", "gs://example-data/a"),
        ("gcs://example-data/a", "gs://example-data/a"),
        ("wasbs://sets@exampleacct.blob.core.windows.net/a/b", "az://exampleacct/sets/a/b"),
        ("wasb://sets@exampleacct.blob.core.windows.net/", "az://exampleacct/sets"),
        ("abfss://sets@exampleacct.dfs.core.windows.net/a", "az://exampleacct/sets/a"),
        ("wasbs://exampleacct.blob.core.windows.net/a", None),
        ("wasbs://sets@example.com/a", None),
        ("https://exampleacct.blob.core.windows.net/sets/a?sig=x", "az://exampleacct/sets/a"),
        ("https://example.com/sets", None),
        ("az://exampleacct/sets/a", "az://exampleacct/sets/a"),
        ("hf://example/Model-7B@v1.0", "hf://example/Model-7B@v1.0"),
        ("hf://example/Model-7B", "hf://example/Model-7B"),
        ("hf://model", None),
        ("s3://key:secret@example-data/a?X-Amz-Signature=abc#f", "s3://example-data/a"),
        ("s3://", None),
        ("s3://a", None),
        ("/plx-context/artifacts", None),
        ("example-data/sets", None),
        ("", None),
        ("s3://" + "a" * 3_000, None),
    ],
)
def test_buckets_prefixes_and_objects(text: str, resource: str | None) -> None:
    assert object_resource(text) == resource


@pytest.mark.parametrize(
    ("text", "revision", "resource"),
    [
        ("https://git.example.com/ml/train.git", "9f1c2ab",
         "git+https://git.example.com/ml/train.git@9f1c2ab"),
        ("https://git.example.com/ml/train.git", None, "git+https://git.example.com/ml/train.git"),
        ("https://git.example.com/ml/train", "", "git+https://git.example.com/ml/train"),
        ("https://GIT.example.com:443/ml/train/", "main", "git+https://git.example.com/ml/train@main"),
        ("http://git.example.com:8080/a", "v1", "git+http://git.example.com:8080/a@v1"),
        ("git+https://git.example.com/a", "v1", "git+https://git.example.com/a@v1"),
        ("https://ci:planted@git.example.com/a?token=planted#planted", "v1",
         "git+https://git.example.com/a@v1"),
        ("https://planted@git.example.com/a", None, "git+https://git.example.com/a"),
        ("https://ci:plan/ted@git.example.com/a", None, "git+https://git.example.com/a"),
        ("git@git.example.com:ml/train.git", "v1", "git+ssh://git.example.com/ml/train.git@v1"),
        ("ci:planted@git.example.com:ml/train.git", None, "git+ssh://git.example.com/ml/train.git"),
        ("ssh://git@git.example.com:2222/ml/train", None, "git+ssh://git.example.com:2222/ml/train"),
        ("https://[2001:DB8::1]/a", None, "git+https://[2001:db8::1]/a"),
        ("https://git.example.com/a", "bad revision", "git+https://git.example.com/a"),
        ("https://git.example.com/", "v1", None),
        ("ci:planted@git.example.com/a", None, None),
        ("https://ci:12#planted@git.example.com/a", None, None),
        ("https://ci:12?planted@git.example.com/a", None, None),
        ("ftp://git.example.com/a", None, None),
        ("file:///srv/git/a", None, None),
        ("not a url", None, None),
        ("", None, None),
    ],
)  # fmt: skip
def test_repositories(text: str, revision: str | None, resource: str | None) -> None:
    assert git_resource(text, revision) == resource
    assert "planted" not in repr(git_url(text))


@pytest.mark.parametrize(
    ("reference", "image"),
    [
        ("busybox", Image("oci://docker.io/library/busybox:latest", "latest")),
        ("busybox:1.36", Image("oci://docker.io/library/busybox:1.36", "1.36")),
        ("polyaxon/polyaxon-init:2.18.0",
         Image("oci://docker.io/polyaxon/polyaxon-init:2.18.0", "2.18.0")),
        ("docker.io/library/alpine:3", Image("oci://docker.io/library/alpine:3", "3")),
        ("index.docker.io/library/alpine:3", Image("oci://docker.io/library/alpine:3", "3")),
        ("registry.example.com/ml/train:1.4",
         Image("oci://registry.example.com/ml/train:1.4", "1.4")),
        ("registry.example.com:5000/ml/train",
         Image("oci://registry.example.com:5000/ml/train:latest", "latest")),
        ("localhost/train:1", Image("oci://localhost/train:1", "1")),
        (f"registry.example.com/ml/train@{DIGEST}",
         Image(f"oci://registry.example.com/ml/train@{DIGEST}", DIGEST)),
        (f"registry.example.com/ml/train:1.4@{DIGEST}",
         Image(f"oci://registry.example.com/ml/train@{DIGEST}", DIGEST)),
        ("registry.example.com/ml/train@sha256:short", None),
        ("user:planted@registry.example.com/a", None),
        ("UPPER/case", None),
        ("a:b c", None),
        ("{{ image }}", None),
        ("", None),
        ("a" * 3_000, None),
    ],
)  # fmt: skip
def test_images(reference: str, image: Image | None) -> None:
    assert image_resource(reference) == image


@pytest.mark.parametrize(
    ("text", "resource"),
    [
        ("https://api.example.com/v1?key=x", "dns://api.example.com:443"),
        ("http://api.example.com.", "dns://api.example.com:80"),
        ("postgres://u:planted@db.example.com/x", "dns://db.example.com:5432"),
        ("redis://192.0.2.4:6380/0", "ip://192.0.2.4:6380"),
        ("https://[2001:DB8::4]/x", "ip://[2001:db8::4]:443"),
        ("custom://db.example.com", None),
        ("https://db.example.com:port", None),
        ("https://db.example.com:99999", None),
        ("https://bad host/", None),
        ("db.example.com", None),
    ],
)
def test_hosts(text: str, resource: str | None) -> None:
    assert host_resource(text) == resource


def test_a_volume_claim_is_named_by_cluster_and_namespace() -> None:
    assert claim_resource("alder", "ml", "scratch") == (
        "kube://alder/ml/persistentvolumeclaims/scratch"
    )


@given(
    st.sampled_from(["https", "s3", "ssh", "postgres"]),
    st.text("abcABC012!$&'()*+,;=%-._~/", min_size=8, max_size=24),
    st.sampled_from(["git.example.com/ml/train", "git.example.com:8443/ml", "[2001:db8::1]/a"]),
)
def test_no_userinfo_comes_out_whatever_it_is(scheme: str, password: str, place: str) -> None:
    text = f"{scheme}://user:{password}QQQ@{place}"
    for found in (parse_url(text), object_resource(text), git_url(text), host_resource(text)):
        shown = repr(found._replace(user="") if found and not isinstance(found, str) else found)
        assert "QQQ" not in shown


@given(st.text(max_size=60))
def test_any_text_is_answered(text: str) -> None:
    object_resource(text)
    git_resource(text, text)
    image_resource(text)
    host_resource(text)
