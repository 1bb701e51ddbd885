"""Nothing that looks like a credential comes out; what stands beside it does."""

import base64
import string
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.redaction import (
    KeyedHash,
    clean_url,
    excerpt,
    excerpt_around,
    path_without_query,
    redact,
    redact_name,
    redact_within,
)

R20 = "Zk3vQ9xT7mLp2RsW5bNc"
R36 = "Zk3vQ9xT7mLp2RsW5bNcZk3vQ9xT7mLp2RsW"
R40 = "Zk3vQ9xT7mLp/RsW5bNc8fGh1JkD4aXyC6eUoi0w"
HEX40 = "0123456789abcdef0123456789abcdef01234567"
BASIC = base64.b64encode(b"reader:hunter2").decode()

PLANTED = [
    # (text, secret, harmless neighbour)
    # AWS
    ("denied for AKIAIOSFODNN7EXAMPLE in eu-west-1", "AKIAIOSFODNN7EXAMPLE", "in eu-west-1"),
    ("key=data/ASIAQQQQWWWWEEEE2222.bin", "ASIAQQQQWWWWEEEE2222", ".bin"),
    ('{"msg":"used\\nAKIAIOSFODNN7EXAMPLE now"}', "AKIAIOSFODNN7EXAMPLE", "now"),
    (f"export AWS_SECRET_ACCESS_KEY={R40} ; ls", R40, "; ls"),
    (f"credentials {R40} were refused", R40, "were refused"),
    (f'"sessionToken":"IQoJb3JpZ2lu{R36}==","expiration":"soon"', R36, '"expiration":"soon"'),
    (f"got FwoGZXIvYXdz{R20}/+{R20} from sts", R20, "from sts"),
    (
        f"GET /b/k?X-Amz-Date=20260310T000000Z&X-Amz-Signature={HEX40} HTTP/1.1",
        HEX40,
        "X-Amz-Date=20260310T000000Z",
    ),
    (
        "?X-Amz-Credential=ASIAFAKE%2F20260310%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Expires=60",
        "ASIAFAKE%2F20260310",
        "X-Amz-Expires=60",
    ),
    ("?x-amz-security-token=abc%2Bdef%3D%3D&versionId=7", "abc%2Bdef", "versionId=7"),
    ("/k?AWSAccessKeyId=MYKEYID&Expires=17&Signature=q%2Fw%3D", "MYKEYID", "Expires=17"),
    ("/k?AWSAccessKeyId=MYKEYID&Expires=17&Signature=q%2Fw%3D", "q%2Fw", "Expires=17"),
    (
        "Authorization: AWS MINIOKEY:c2lnbmF0dXJl\nHost: s3.example.com",
        "c2lnbmF0",
        "s3.example.com",
    ),
    (
        f"Authorization: AWS4-HMAC-SHA256 Credential=MYKEYID/s3, Signature={HEX40}\nRange: x",
        HEX40,
        "Range: x",
    ),
    # Google
    (f"/b/o?X-Goog-Signature={HEX40}&X-Goog-Date=20260310", HEX40, "X-Goog-Date=20260310"),
    ("/o?GoogleAccessId=sa@p.iam.example.com&Expires=1", "sa@p.iam", "Expires=1"),
    (f"maps key AIzaSy{R36} used", R36[:30], "used"),
    (f"token ya29.{R36} expired", R36, "expired"),
    (f"client GOCSPX-{R36}, id 7", R36, "id 7"),
    (f"hmac GOOG1E{R36.upper()} on bucket", R36.upper(), "on bucket"),
    ("/upload?upload_id=ADPycdu42&uploadType=resumable", "ADPycdu42", "uploadType=resumable"),
    # Azure
    ("/c/b?sv=2024-11-04&sr=b&sig=abc%2Fdef%3D&se=2026", "abc%2Fdef", "se=2026"),
    (
        f"AccountName=store;AccountKey={R40}==;EndpointSuffix=core.windows.net",
        R40,
        "EndpointSuffix=core.windows.net",
    ),
    ("Endpoint=sb://x/;SharedAccessKey=aGVsbG8=;EntityPath=q", "aGVsbG8", "EntityPath=q"),
    (f"azure abc8Q~{R36[:34]} rotated", R36[:34], "rotated"),
    ("https://x/c?a=1&amp;sig=secretsig&amp;se=2026", "secretsig", "se=2026"),
    # Headers
    ("Authorization: Bearer abcdef status=403", "abcdef", "status=403"),
    (
        '"headers":[{"key":"Authorization","value":"Bearer abc"},{"key":"Host"}]',
        "Bearer abc",
        "Host",
    ),
    ('{"authorization":["Bearer q"],"host":["h.example.com"]}', "Bearer q", "h.example.com"),
    ("curl -H 'Authorization: token abc' https://h.example.com", "abc", "https://h.example.com"),
    (f"got Bearer {R20} from h", R20, "from h"),
    (f"got Basic {BASIC} from h", BASIC, "from h"),
    ("Proxy-Authorization: Negotiate YII\nVia: p", "YII", "Via: p"),
    ("Cookie: session=abc; theme=dark\nHost: h.example.com", "session=abc", "h.example.com"),
    ("X-Vault-Token: s.abc\nX-Request-Id: 42", "s.abc", "X-Request-Id: 42"),
    ("X-Api-Key=abc123, retries=3", "abc123", "retries=3"),
    ("x-amz-server-side-encryption-customer-key: aGV5 x", "aGV5", "server-side-encryption"),
    # URLs
    (
        "pull https://ci:pa55@registry.example.com/v2/: denied",
        "ci:pa55",
        "registry.example.com/v2/",
    ),
    ("git+ssh://deploy%3Ax@h.example.com/r.git@main", "deploy%3Ax", "h.example.com/r.git@main"),
    ("postgres://u:p/a/s@db.example.com:5432/x", "p/a/s", "db.example.com:5432/x"),
    ("see https:\\/\\/u:p4ss@h.example.com\\/a", "u:p4ss", "h.example.com"),
    ("redirect=https%3A%2F%2Fu%3Ap4ss%40h.example.com", "u%3Ap4ss", "h.example.com"),
    ("https://hooks.slack.com/services/T0/B0/xyz ok", "T0/B0/xyz", "hooks.slack.com"),
    ("/simple/torch/?token=abc&format=json", "abc", "format=json"),
    ("/maps?key=abc123&q=berlin", "abc123", "q=berlin"),
    # Encodings
    ("u=%2Fk%3FX-Amz-Signature%3Dabc123%26partNumber%3D4", "abc123", "partNumber%3D4"),
    ("u=%252Fk%253FX-Amz-Signature%253Dabc123%2526partNumber%253D4", "abc123", "partNumber%253D4"),
    ('{"u":"/k?sig\\u003dabc123\\u0026se\\u003d9"}', "abc123", "se\\u003d9"),
    ('{"log":"{\\"password\\":\\"abc123\\",\\"step\\":4}\\n"}', "abc123", '\\"step\\":4'),
    ("A\x00K\x00I\x00A\x00" + "\x00".join("IOSFODNN7EXAMPLE") + " ok", "F\x00O\x00D", "ok"),
    # Named values
    ("password=hunter2: permission denied", "hunter2", ": permission denied"),
    ('{"password":"hun\\"ter2","user":"ada"}', "ter2", '"user":"ada"'),
    ("{'api_key': 'abc123', 'user': 'ada'}", "abc123", "'user': 'ada'"),
    ("api-key: abc123\nuser: ada", "abc123", "user: ada"),
    ("secretKey=abc123 region=eu", "abc123", "region=eu"),
    ("DB_PASSWORD=abc,123;x user=ada", "abc,123;x", "user=ada"),
    ('{"client_secret" : "a b c" , "n" : 1}', "a b c", '"n" : 1'),
    ('{"token":{"value":"abc123"},"epochs":{"value":3}}', "abc123", '"epochs":{"value":3}'),
    ('[{"name":"API_KEY","value":"abc123"},{"name":"HF_HOME","value":"/c"}]', "abc123", "/c"),
    ('[{"value":"abc123","name":"HF_TOKEN"},{"value":"/c","name":"HF_HOME"}]', "abc123", "/c"),
    ("- name: DB_PASSWORD\n  value: abc123\n- name: EPOCHS\n  value: 3", "abc123", "value: 3"),
    ('{"key":"password","value":{"stringValue":"abc123"}},{"key":"n"}', "abc123", '"key":"n"'),
    ('args: ["--password","abc123","--epochs","3"]', "abc123", '"--epochs","3"'),
    ("train --hf-token abc123 --epochs 3", "abc123", "--epochs 3"),
    ("curl -u ada:abc123 https://h.example.com", "abc123", "https://h.example.com"),
    ("machine api.wandb.ai login user password abc123 macdef", "abc123", "api.wandb.ai"),
    (f"wandb login --relogin {HEX40} done", HEX40, "done"),
    ("CREATE USER ada IDENTIFIED BY 'abc123'; GRANT", "abc123", "GRANT"),
    ('"auths":{"r.example.com":{"auth":"YTpi"}}', "YTpi", "r.example.com"),
    # Token shapes
    (f"clone with ghp_{R36} failed", R36, "failed"),
    (f"clone with github_pat_11AAAAAAA_{R36} failed", R36, "failed"),
    (f"clone with glpat-{R20} failed", R20, "failed"),
    (f"hub hf_{R36} 401", R36, "401"),
    (f"openai sk-proj-{R20} 429", R20, "429"),
    (f"slack xoxb-12345-{R20} ok", R20, "ok"),
    (f"npm npm_{R36} ok", R36, "ok"),
    (f"index pypi-AgEIcHlwaS5vcmc{R20} ok", R20, "ok"),
    (f"ngc nvapi-{R36} ok", R36, "ok"),
    (f"vault hvs.{R36} ok", R36, "ok"),
    (f"wandb wandb_v1_{R36} ok", R36, "ok"),
    (f"grafana glsa_{R36} ok", R36, "ok"),
    (f"stripe sk_live_{R20} ok", R20, "ok"),
    (f"bot 123456789:AA{R36[:33]} ok", R36[:33], "ok"),
    (f"jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{R20} ok", R20, "ok"),
    ("hash $6$saltsalt$abcdefghijklmnop ok", "abcdefghijklmnop", "ok"),
    (
        "before -----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY----- after",
        "MIIE",
        "after",
    ),
    (
        '{"key":"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n","id":7}',
        "MIIE",
        '"id":7',
    ),
    ("cut -----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz", "b3BlbnNz", "cut"),
]

HARMLESS = [
    'Error: secret "hf-token" not found',
    'MountVolume.SetUp failed for volume "x" : secret "db-credentials" not found',
    "couldn't find key AWS_SECRET_ACCESS_KEY in Secret ml/aws",
    f"Pulled image r.example.com/t@sha256:{'ab12' * 16} in 3.2s",
    f"revision {HEX40}",
    "uid 6d1f2f86-9d1c-4c1f-8a7f-000000000000",
    "max_tokens=4096 tokens: 512 tokenizer=bert",
    "secretName: regcred passwordless=no",
    'WWW-Authenticate: Bearer realm="https://auth.example.com",service="r"',
    "Bearer authentication failed, Basic authentication required",
    "s3://bucket/Datasets/ImageNet2012/train/n01440764/n01440764_10026.JPEG",
    "run ResNet50-ImageNet2012-BS256-LR0001-Adam-FP16-DDP8xA100",
    "mail ada@example.com about task-runner-for-imagenet-1k",
    "docker run -u 1000:1000 image",
    "http://h.example.com:8080/a@b",
    "git@github.example.com:org/repo.git",
    '{"password":null,"token":"","secret":false}',
    "design=3 bypass=1 author=ada",
    "hf_hub_download npm_config_cache sk-learn-tutorial-notebooks",
    "arn:aws:sts::111122223333:assumed-role/reader/AROAEXAMPLEEXAMPLE",
    'aws-cli/2.15 md/Botocore#1.34 md/arch#x86_64 cfg/retry-mode#legacy "-" 0',
    "huggingface.co.ml.svc.cluster.local. A IN NOERROR qr,aa,rd 66 0.000150566s",
]


@pytest.mark.parametrize(("text", "secret", "neighbour"), PLANTED)
def test_a_planted_secret_is_masked_and_its_neighbour_stays(text, secret, neighbour):
    assert secret in text
    assert neighbour in text
    redacted = redact(text)
    assert secret not in redacted
    assert neighbour in redacted
    assert "***" in redacted
    assert redact(redacted) == redacted


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays_as_it_is(text):
    assert redact(text) == text


def test_each_secret_of_a_signed_url_is_masked_where_it_stands():
    url = (
        "https://b.s3.eu-west-1.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256"
        "&X-Amz-Credential=ASIAQQQQWWWWEEEE2222%2F20260310%2Feu-west-1%2Fs3%2Faws4_request"
        "&X-Amz-Expires=900&X-Amz-Security-Token=IQoJb3Jp%2B&X-Amz-SignedHeaders=host"
        "&X-Amz-Signature=0a1b2c"
    )
    assert redact(url) == (
        "https://b.s3.eu-west-1.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256"
        "&X-Amz-Credential=***&X-Amz-Expires=900&X-Amz-Security-Token=***"
        "&X-Amz-SignedHeaders=host&X-Amz-Signature=***"
    )


@pytest.mark.parametrize(
    "name",
    [
        f"blobs/{R40}",
        "data/token=bert/part-0.parquet",
        "data/pass=1/sid=07/auth=none/part-0.parquet",
        "a//b@v1/c",
        "models/llama@main",
        "secrets/readme.md",
        "tokens.json",
        "key=1/part-0",
    ],
)
def test_names_that_differ_stay_different(name):
    assert redact_name(name) == name


@pytest.mark.parametrize(
    ("name", "redacted"),
    [
        ("blobs/ghp_0123456789abcdefghij.bin", "blobs/***.bin"),
        ("x/password=hunter2/part-0", "x/password=***/part-0"),
        ("x/api_key=abc/part-0", "x/api_key=***/part-0"),
        ("x/token=0123456789abcdef/part-0", "x/token=***/part-0"),
        ("x?token=abc/def&part=0", "x?token=***&part=0"),
        ("x%3Fsig%3Dabc%26part%3D0", "x%3Fsig%3D***%26part%3D0"),
        ("x?X-Amz-Signature=abc&part=0", "x?X-Amz-Signature=***&part=0"),
        ("https://u:p@h.example.com/x", "https://***@h.example.com/x"),
        ("u/AKIAIOSFODNN7EXAMPLE/x", "u/***/x"),
    ],
)
def test_a_credential_in_a_name_is_masked(name, redacted):
    assert redact_name(name) == redacted
    assert redact_name(redacted) == redacted


H32, H40, H64 = "0123456789abcdef" * 2, HEX40, "0123456789abcdef" * 4
UPPER20 = "ZK3VQ9XT7MLP2RSW5BNC"
MORE_SHAPES = [
    # Other clouds
    f"AKID{R36[:32]}", f"AQVN{R36}", f"AQ.Ab8{R36}", "DO00ZK3VQ9XT7MLP2RSW", "SCWZK3VQ9XT7MLP2RSW5",
    f"K005{R36[:27]}", f"cfut_{R36}", f"v1.0-{H32[:24]}-{H64}{H64}",
    f"HRKU-{R36}", f"fm2_{R40}{R40}",
    # Code hosts, registries, CI
    f"glrtr-{R20}", f"ATBB{R36[:32]}", f"ATCTT3{R36}", f"rubygems_{H64[:48]}",
    f"CCIPAT_{R20}{R20}{H40}", f"bkua_{H40}", f"sgp_{H40}",
    # Model hubs, model services, trackers, vector stores
    f"sk-ant-api03-{R36}", f"sk-lf-{R36[:8]}-1234-4000-8000-{R36[:12]}", f"xai-{R36}{R36}",
    f"pplx-{R36}", f"csk-{R36}", f"tgp_v1_{R36}", f"jina_{R36}", f"pcsk_{R20}_{R36}",
    f"lsv2_pt_{H32}_0123456789", f"rpa_{UPPER20}{UPPER20}", f"dapi{H32}", f"dose{H32}",
    f"pnu_{R36}", f"dbtc_{R36}", f"r8_{R36}", f"KGAT_{R36}",
    # Chat, mail, payment, work tools
    f"xoxc-12345-{R20}", f"xoxd-{R20}%2B{R20}", f"xwfp-12345-{R20}", f"whsec_{R36}",
    f"ntn_{R36}{R20}",
    f"lin_api_{R36}", f"figd_{R36}", f"PMAK-{H32[:24]}-{H32}ab", f"SK{H32}",
    # Infrastructure, secret stores, monitoring, databases
    f"dp.pt.{R36}{R20}", "A3-ZK3VQ9-XT7MLP2RSW5-BNCZK-3VQ9X-T7MLP",
    f"pul-{H40}", f"tskey-auth-{R20}-{R36}", f"sntryu_{H64}", f"NRAK-{UPPER20}{UPPER20[:7]}",
    f"dt0c01.{UPPER20}ABCD.{UPPER20 * 3}{UPPER20[:4]}", f"hcaik_{R36}{R20}", f"pscale_pw_{R36}",
    f"napi_{H64}", f"sbp_{H40}", f"sb_secret_{R36}", f"mdb_sa_sk_{R36}", f"hvb.{R36}",
]  # fmt: skip
"""Tokens that say by their prefix what they are, in the shapes of the public rule sets."""


@pytest.mark.parametrize("token", MORE_SHAPES)
def test_a_token_is_known_by_its_shape_in_text_and_in_a_name(token):
    assert redact(f"got {token} back") == "got *** back"
    assert redact_name(f"models/{token}/part-0") in {"models/***/part-0", "models/***"}
    assert redact(f"u={quote(token, safe='')}&n=1") == "u=***&n=1"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        (f"state {R20[:14]}.atlasv1.{R36}{R36} read", f"state {R20[:14]}*** read"),
        ("post https://example.webhook.office.com/webhookb2/a@b/IncomingWebhook/c/d x",
         "post https://example.webhook.office.com/webhookb2/*** x"),
        ("post https://hooks.zapier.com/hooks/catch/12/abc/ x",
         "post https://hooks.zapier.com/hooks/catch/*** x"),
        ("post https://discord.com/api/webhooks/123456789012345678/ab-c x",
         "post https://discord.com/api/webhooks/*** x"),
        ("get https://conda.example.com/t/ab-01234567-0123-0123-0123-0123456789ab/noarch/x",
         "get https://conda.example.com/t/***/noarch/x"),
        ("jdbc:oracle:thin:reader/hunter2@db.example.com:1521/x",
         "jdbc:oracle:thin:***@db.example.com:1521/x"),
        ("sshpass -p hunter2 ssh h.example.com", "sshpass -p *** ssh h.example.com"),
        ("redis://:hunter2@cache.example.com:6379/0", "redis://***@cache.example.com:6379/0"),
        ("mongodb+srv://u:hunter2@c.example.com/x", "mongodb+srv://***@c.example.com/x"),
        ("Server=db.example.com;User Id=reader;Password=hunter2;Encrypt=true",
         "Server=db.example.com;User Id=reader;Password=***;Encrypt=true"),
    ],
)  # fmt: skip
def test_a_credential_is_known_by_what_stands_around_it(text, redacted):
    assert redact(text) == redacted


@pytest.mark.parametrize(
    "name",
    [
        HEX40,
        f"sha256:{H64}",
        "6d1f2f86-9d1c-4c1f-8a7f-000000000000",
        f"blobs/{H64}",
        "asiapacificproductionx",
        "asia-southeast1.gcr.io.example.com",
        "sk-learn-tutorial-notebooks-collection",
        "data/t/abcdefghijklmnopqrstu/part-0",
        "SKU-2026-03-10/part-0",
        "webhooks/handler-0.py",
        "hf_hub/models--bert/snapshots",
        "xai-interpretability-lab-results-2026",
        "pul-request.v1.0-rc1.tar.gz",
        "dose-response-0123456789",
        "A3-paper.pdf",
        "fm1_features_2026_03_10/part-00000.parquet",
        "K00k.tar",
        "train-x7k2p.ml.svc.cluster.local",
    ],
)
def test_ids_digests_and_keys_that_only_resemble_a_token_stay(name):
    assert redact(name) == name
    assert redact_name(name) == name


@pytest.mark.parametrize(
    ("name", "redacted"),
    [
        ("x password%3Dab%2Fcd%2B", "x password%3D***"),
        ("x password%253D%252Fabcd", "x password%253D***"),
        ('x "password":"hunter2"', 'x "password":"***"'),
        ('x \\"password\\":\\"hunter2\\"', 'x \\"password\\":\\"***\\"'),
        ("a%2Fb=1/c%2Fd", "a%2Fb=1/c%2Fd"),
    ],
)
def test_a_value_in_a_name_ends_where_it_is_written_to_end(name, redacted):
    assert redact_name(name) == redacted


@pytest.mark.parametrize("prose", [True, False])
def test_a_text_that_is_cut_shows_no_part_of_a_secret(prose):
    masked = f"password={'a' * 300} "
    for lead in range(4_000, 4_400, 7):
        text = (
            masked * 2 + "-----BEGIN PRIVATE KEY-----" + "b" * lead + "-----END PRIVATE KEY----- "
        )
        shown = redact_within(text + "AKIAIOSFODNN7EXAMPLE " + "c" * 9_000, 100, prose=prose)
        assert "AKIA" not in shown
        assert "bbbb" not in shown
        assert len(shown) <= 100
    assert redact_within("x" * 100, 100, prose=prose) == "x" * 100
    assert redact_within("x" * 101, 100, prose=prose) == "x" * 99 + "…"
    assert redact_within("x" * 99_999, 100, prose=prose) == "x" * 99 + "…"


TEXTS = st.lists(
    st.one_of(
        st.sampled_from([text for text, _, _ in PLANTED]),
        st.sampled_from(
            ["token", "=", ":", '"', "'", "\\", "%3D", "%25", "//", "@", "***", " ", "\n", "&", ";",
             "password", "Authorization", "value", "name", "key", "[", "{", "}", "]", ",", "--",
             "AKIA", "eyJ", "Bearer ", "ghp_", R20, R40, "login ", "\\u003d", "&amp;", "\x00"]
        ),
        st.text(string.printable, max_size=6),
        st.text(max_size=4),
    ),
    max_size=12,
).map("".join)  # fmt: skip


@given(TEXTS)
def test_redacting_twice_is_redacting_once(text):
    once = redact(text)
    assert redact(once) == once
    name = redact_name(text)
    assert redact_name(name) == name


@given(TEXTS, st.sampled_from(PLANTED), TEXTS)
def test_a_secret_is_found_between_whatever_stands_on_other_lines(before, planted, after):
    text, secret, _ = planted
    assert secret not in redact(f"x\n\n{text}\n{after}") or secret in after
    assert isinstance(redact(before + text + after), str)


def _slow(*pieces):
    return [pytest.param(piece, marks=pytest.mark.slow) for piece in pieces]


@pytest.mark.parametrize(
    "piece",
    [
        'token:"', "%25", "//", '"value":"', "-----begin private key-----", "aA1",
        *_slow(
            "token=", '\\"', "--password ", "token=,a", "login a password ", "Bearer a", "&amp;",
            "cookie", "authorization: a ",
            "?token=", "pass=", "password=a/", "?pass=a/",
            "eyJ", "[", "key=", "1//0", "SG.", " -u a:", "asic a",
        ),
    ],
)  # fmt: skip
def test_a_hostile_megabyte_takes_seconds_and_no_more(piece):
    text = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]
    started = time.process_time()
    redact(text)
    redact_name(text)
    assert time.process_time() - started < 20


URLS = [
    ("https://u:p@h.example.com:8443/a/b?x=1#f", "https://h.example.com:8443/a/b"),
    (
        "https://h/k?versionId=3&X-Amz-Signature=1&partNumber=2",
        "https://h/k?versionId=3&partNumber=2",
    ),
    (
        "s3://bucket/key?list-type=2&prefix=a/&delimiter=/",
        "s3://bucket/key?list-type=2&prefix=a/&delimiter=/",
    ),
    ("/b/k?uploadId=abc&token=1", "/b/k?uploadId=abc"),
    ("/b?uploads&sig=1", "/b?uploads"),
    ("//u:p@h/x", "//h/x"),
    ("git@h.example.com:org/r.git", "h.example.com:org/r.git"),
    ("u:p@h/x", "h/x"),
    ("https://a@b@h/x", "https://h/x"),
    ("https://h/x?prefix=ghp_0123456789abcdefghij", "https://h/x"),
    ("https://h/x%3Fsig%3Dabc", "https://h/x%3Fsig%3D***"),
    ("https://h/x#access_token=1", "https://h/x"),
    ("https://[2001:db8::1]:443/x?y", "https://[2001:db8::1]:443/x"),
    ("https://[broken/x", "https://[broken/x"),
    ("path/with@sign", "path/with@sign"),
    ("", ""),
]


@pytest.mark.parametrize(("url", "cleaned"), URLS)
def test_a_url_keeps_host_path_and_harmless_parameters_only(url, cleaned):
    assert clean_url(url) == cleaned
    assert clean_url(cleaned) == cleaned


@given(TEXTS)
def test_no_userinfo_query_or_fragment_survives_in_a_url(text):
    cleaned = clean_url("https://user:hunter2@h.example.com/" + text + "?t=leak#leak2")
    assert "hunter2" not in cleaned
    assert "leak" not in cleaned


@pytest.mark.parametrize(
    ("path", "cut"),
    [
        ("/simple/torch/?token=abc", "/simple/torch/"),
        ("/a#b?c", "/a"),
        ("/what%3F.txt", "/what%3F.txt"),
        ("/a%3Fsig%3Dabc", "/a%3Fsig%3D***"),
        ("/u/AKIAIOSFODNN7EXAMPLE/x", "/u/***/x"),
        ("", ""),
    ],
)
def test_a_path_ends_before_its_query(path, cut):
    assert path_without_query(path) == cut


def test_an_excerpt_is_one_short_line_without_control_characters():
    assert excerpt(b"a\tb\r\n\x00\x1b[31m\xff\xc2\x85") == "a\\tb\\r\\n\\x00\\x1b[31m\ufffd\\x85"
    assert excerpt("a\u202eb".encode()) == "a\\u202eb"
    assert excerpt(b"x" * 200) == "x" * 200
    assert excerpt(b"x" * 201) == "x" * 199 + "…"
    assert excerpt(b"") == ""
    assert excerpt(b"abcdef", limit=3) == "ab…"


@pytest.mark.parametrize("lead", [150, 190, 195, 199])
def test_a_secret_at_the_cut_does_not_survive_in_part(lead):
    shown = excerpt(b"x" * (lead - 1) + b" AKIAIOSFODNN7EXAMPLE and more" + b"y" * 500)
    assert "AKI" not in shown
    assert len(shown) <= 200


@pytest.mark.parametrize("size", [16_370, 16_384, 17_000, 70_000])
def test_a_secret_at_the_edge_of_what_is_read_does_not_survive(size):
    masked_lead = b"-----BEGIN PRIVATE KEY-----" + b"a" * size + b"-----END PRIVATE KEY-----"
    shown = excerpt(masked_lead + b" AKIAIOSFODNN7EXAMPLE " + b"z" * 100_000)
    assert "AKIA" not in shown
    assert "aaaa" not in shown
    assert shown.startswith("*** *** zzz")


@given(st.binary(max_size=300), st.integers(1, 300))
def test_an_excerpt_of_any_bytes_is_printable_and_short(raw, limit):
    shown = excerpt(raw, limit)
    assert len(shown) <= limit
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in shown)


def test_a_keyed_hash_needs_a_key():
    assert KeyedHash(None).of("AKIAIOSFODNN7EXAMPLE") is None
    hashed = KeyedHash(b"key").of("The quick brown fox jumps over the lazy dog")
    assert hashed == "f7bc83f430538424b13298e6aa6fb143"  # RFC-style example of HMAC-SHA-256


def test_an_excerpt_around_a_place_is_cut_on_both_sides() -> None:
    raw = b"a" * 100 + b"!" + b"b" * 100
    shown, column = excerpt_around(raw, 100, before=10, after=8)
    assert shown == "…" + "a" * 9 + "!" + "b" * 6 + "…"
    assert shown[column] == "!"


@pytest.mark.parametrize(
    ("raw", "at", "shown", "column"),
    [
        (b'{"a" 1}', 5, '{"a" 1}', 5),
        (b"short", 5, "short", 5),
        (b"\tx\x00!", 3, "\\tx\\x00!", 7),
        ("über !".encode(), 6, "über !", 5),
        (b"token=abcdef123 !", 16, "token=*** !", 10),
        (b"token=abcdef123 !", 9, "token=*** !", 6),
        (b"", 0, "", 0),
    ],
)
def test_the_place_moves_with_what_is_masked_and_escaped(
    raw: bytes, at: int, shown: str, column: int
) -> None:
    assert excerpt_around(raw, at) == (shown, column)


@given(st.sampled_from(PLANTED), st.integers(0, 400), st.integers(0, 60), st.integers(0, 60))
def test_no_place_in_a_record_shows_its_secret(
    planted: tuple[str, str, str], at: int, left: int, right: int
) -> None:
    text, secret, _ = planted
    raw = f"{'x ' * left}{text}{' y' * right}".encode()
    shown, column = excerpt_around(raw, min(at, len(raw)), before=200, after=200)
    assert secret not in shown
    assert 0 <= column <= len(shown)
