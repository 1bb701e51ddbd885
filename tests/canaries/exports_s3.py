"""Lines of an S3 server access log with a secret in every place."""

from urllib.parse import quote

from tests.canaries.planter import Planter
from tests.canaries.records import lines


def request(
    number: int, key: str, uri: str, *, referer: str = "-", agent: str = "-", principal: str = "-"
) -> str:
    """A line for one whole read."""
    return (
        f"ownerEXAMPLE example-datasets [10/Mar/2026:08:00:{number:02d} +0000] 10.20.1.5 "
        f'{principal} REQ{number:04d}EXAMPLE REST.GET.OBJECT {key} "GET {uri} HTTP/1.1" 200 - '
        f'100 100 20 10 "{referer}" "{agent}" - hostid{number}EXAMPLE SigV4 '
        "TLS_AES_128_GCM_SHA256 QueryString example-datasets.s3.us-east-1.amazonaws.com TLSv1.3 - -"
    )


def s3_access_log(p: Planter) -> str:
    """Lines of a bucket."""
    where = "s3_access_log"
    arn = "arn:aws:iam::111122223333:user/reader"
    key = p.keep("data")
    queries = [
        p.s3_query(f"{where} URI"),
        p.s3_old_query(f"{where} URI"),
        p.gcs_query(f"{where} URI"),
        p.azure_query(f"{where} URI"),
        f"note={p.plain(f'{where} URI')}&versionId=7",
        f"response-content-disposition=x;%20filename=%22{p.plain(f'{where} URI, file name')}%22",
    ]
    good = [
        request(n, f"{key}-{n}", f"/{key}-{n}?{query}", principal=arn)
        for n, query in enumerate(queries)
    ]
    agents = [
        text.replace('"', "'").replace("\n", " ")
        for text in p.of_every_shape(f"{where} user agent")
    ]
    good += [
        request(10 + n, f"{key}-a", f"/{key}-a", agent=f"{p.keep('agent')} {text}", principal=arn)
        for n, text in enumerate(agents)
    ]
    token = p.github(f"{where} key")
    good += [
        request(
            40,
            f"{p.keep()}/{token}/x",
            f"/{token}/x",
            referer=(
                f"https://u:{p.plain(f'{where} referer')}@example.com/"
                f"?q={p.plain(f'{where} query of the referer')}"
            ),
            principal=f"arn:aws:sts::111122223333:assumed-role/{p.keep('role')}/"
            f"{p.aws_key_id(f'{where} session name')}",
        ),
        request(41, quote(quote(f"{p.keep()}/{p.slack(f'{where} encoded key')}=", safe="/")), "/x"),
        request(42, "k", "/k").replace(" SigV4 ", f" {p.plain(f'{where} signature version')} "),
        request(43, "k", "/k").replace(
            "example-datasets.s3", f"{p.aws_key_id(f'{where} host').lower()}.s3"
        ),
        request(44, "k", "/k").replace("hostid44EXAMPLE", p.plain(f"{where} host id")),
        request(45, "k", f"/{p.plain(f'{where} path of the URI')}"),
    ]
    rejected = [
        request(50, "k", f"/k?note={p.plain(f'{where} rejected URI')}").replace(":08:00:50", ":x"),
        request(51, p.keep(), f"/k?{p.s3_query(f'{where} rejected URI')}").replace(" 200 ", " 20 "),
        request(52, "k", f'/k?x=" 200 - 9 9 1 1 "-" "-" ?note={p.plain(f"{where} forged line")}'),
        f"{p.keep()} {p.url_password(f'{where} line')} ?q={p.plain(f'{where} query in a line')}",
        *(text.replace("\n", " ") for text in p.of_every_shape(f"{where} line of text")),
    ]
    return lines(*good, *rejected)
