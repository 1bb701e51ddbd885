r"""How credentials look in free text: shapes of tokens, named values, headers, userinfo of URLs.

A rule is a literal anchor, found by a plain search, and a pattern that is matched once at that
place. Every repetition in a pattern is bounded, possessive or ends at a character that its
neighbour excludes, and a search goes on behind what was matched, so that the time grows with the
length of the text and not faster, whatever the text is.

Shapes follow the rules of gitleaks, trufflehog and detect-secrets and the providers' own pages.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

Span = tuple[int, int]

MASK = "***"
_ALNUM = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789*")
"""What may not stand before a word-like anchor; a mask counts as part of a word."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One way in which a secret shows.

    Attributes:
        anchor: Literal text that starts the pattern.
        pattern: Matched at the anchor; group 1 is the secret.
        bounded: The anchor must not continue a word.
        check: Last word on a match, for what a pattern cannot say.
    """

    anchor: str
    pattern: re.Pattern[str]
    bounded: bool = True
    check: Callable[[str], bool] | None = None


def _shapes(*rows: tuple[str, str]) -> list[Rule]:
    """Rules for tokens that say by their prefix what they are; anchors split at spaces."""
    return [
        Rule(anchor, re.compile(f"({re.escape(anchor)}{tail})"))
        for anchors, tail in rows
        for anchor in anchors.split()
    ]


def _has_digit(secret: str) -> bool:
    return any(c.isdigit() for c in secret)


def _is_mixed(secret: str) -> bool:
    return any(c.isdigit() or c.isupper() for c in secret)


def _not_only_numbers(secret: str) -> bool:
    return not secret.replace(":", "").isdigit()


def _is_bearer(secret: str) -> bool:
    """A token rather than the next word of a sentence."""
    return _has_digit(secret) or len(secret) >= 20


def _is_basic(secret: str) -> bool:
    """Base64 of `user:password`."""
    body = secret.rstrip("=")[:4096]
    body = body[: len(body) - (len(body) % 4 == 1)]
    try:
        return b":" in base64.b64decode(body + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):
        return False


_SHAPES = [
    # AWS: key ids (also lower-cased, as in a host name), session tokens, Bedrock keys
    *(
        Rule(
            anchor, re.compile(rf"({anchor}[A-Z0-9]{{16}}(?![a-z])[A-Z0-9]*+(?::[\w+/=]{{16,}}+)?)")
        )
        for anchor in ("AKIA", "ASIA", "ABIA", "ACCA", "A3T")
    ),
    *_shapes(
        ("akia", r"[a-z2-7]{16}(?![a-z0-9])"),
        ("IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz", r"[\w+/=%-]{8,}+"),
        ("ABSK", r"[A-Za-z0-9+/]{40,}+={0,2}"),
        ("bedrock-api-key-", r"[A-Za-z0-9+/=_-]{8,}+"),
        # Google: API keys, OAuth tokens, client secrets, HMAC ids
        ("AIza", r"[\w-]{30,}+"),
        ("AQ.", r"Ab8[\w-]{30,}+"),
        ("ya29.", r"[\w.-]{10,}+"),
        ("1//0", r"[\w-]{20,}+"),
        ("GOCSPX-", r"[\w-]{20,}+"),
        ("GOOG1", r"[A-Z0-9]{15,}+"),
        # Other clouds: Alibaba, Tencent, Yandex, DigitalOcean, Scaleway, Backblaze, Cloudflare,
        # Heroku, Fly
        ("LTAI", r"[A-Za-z0-9]{12,30}+"),
        ("AKID", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
        ("AQVN", r"[\w-]{35,}+"),
        ("dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{32,}+"),
        ("DO00", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
        ("SCW", r"[A-Z0-9]{17}(?![A-Za-z0-9])"),
        ("K00", r"[0-9][A-Za-z0-9/+]{27}(?![A-Za-z0-9])"),
        ("cfut_ cfat_", r"\w{30,}+"),
        ("v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}+"),
        ("HRKU-", r"[\w-]{36,}+"),
        ("fm1_ fm2_ fo1_", r"[\w+/=,-]{40,}+"),
        # Code hosts, registries, CI
        ("ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{16,}+"),
        ("github_pat_", r"\w{16,}+"),
        (
            "glpat- gldt- glrt- glptt- glft- glimt- glagent- gloas- glcbt- glsoat- glffct- glrtr-",
            r"[\w.-]{16,}+",
        ),
        ("GR1348941", r"[\w.-]{16,}+"),
        ("ATBB", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
        ("ATATT3 ATCTT3", r"[\w=.-]{20,}+"),
        ("npm_", r"[A-Za-z0-9]{30,}+"),
        ("pypi-", r"Ag[\w-]{16,}+"),
        ("rubygems_", r"[0-9a-f]{40,}+"),
        ("dckr_pat_ dckr_oat_", r"[\w-]{16,}+"),
        ("AKCp", r"[A-Za-z0-9]{20,}+"),
        ("cmVmd", r"[A-Za-z0-9]{40,}+"),
        ("CCIPAT_ CCIPRJ_", r"\w{40,}+"),
        ("bkua_ bkaj_ bkct_ bkpt_", r"[0-9a-f]{32,}+"),
        ("sgp_", r"\w{40,}+"),
        # Model hubs, model services, experiment trackers, vector stores
        ("hf_", r"[A-Za-z0-9]{20,}+"),
        ("api_org_", r"[A-Za-z0-9]{20,}+"),
        ("wandb_v1_", r"\w{16,}+"),
        ("nvapi-", r"[\w-]{20,}+"),
        ("gsk_ r8_", r"[\w-]{20,}+"),
        ("xai-", r"[A-Za-z0-9]\w{39,}+"),
        ("KGAT_", r"\w{16,}+"),
        ("pplx- csk-", r"[A-Za-z0-9]{32,}+"),
        ("tgp_v1_", r"[\w-]{30,}+"),
        ("jina_", r"[A-Za-z0-9]{32,}+"),
        ("pcsk_", r"\w{30,}+"),
        ("lsv2_", r"[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{8,}+"),
        ("rpa_", r"[A-Z0-9]{40,}+"),
        ("dapi", r"[0-9a-f]{32}(?:-\d)?"),
        ("dose", r"[0-9a-f]{32}(?![0-9a-f])"),
        ("pnu_ pnb_", r"[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
        ("dbtu_ dbtc_", r"[\w=-]{30,}+"),
        # Chat, mail, payment, work tools
        (
            "xoxa- xoxb- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xoxc- xoxd- xapp- xwfp-",
            r"[\w.%-]{10,}+",
        ),
        ("SG.", r"[\w-]{16,64}\.[\w-]{16,}+"),
        ("sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ whsec_", r"[A-Za-z0-9]{10,}+"),
        ("ntn_", r"[A-Za-z0-9]{40,}+"),
        ("lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,}+"),
        ("figd_", r"[\w-]{30,}+"),
        ("PMAK-", r"[0-9a-f]{24}-[0-9a-f]{30,}+"),
        # Infrastructure, secret stores, monitoring, databases
        ("hvs. hvb. hvr.", r"[\w-]{16,}+"),
        ("dp.pt. dp.st. dp.ct. dp.sa.", r"[\w.-]{40,}+"),
        ("A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6,11}-[A-Z0-9-]{17,}+"),
        ("pul-", r"[0-9a-f]{40}(?![0-9a-f])"),
        ("tskey-", r"[a-z]{3,10}-[\w-]{10,}+"),
        ("glsa_ glc_", r"[\w=+/-]{20,}+"),
        ("sntryu_", r"[0-9a-f]{64}"),
        ("NRAK- NRII- NRJS-", r"[\w-]{19,}+"),
        ("dt0c01. dt0s01. dt0s02. dt0s16.", r"[A-Z0-9]{8,24}\.[A-Z0-9]{60,}+"),
        ("hcaik_ hcbik_", r"\w{40,}+"),
        ("pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w=.-]{32,}+"),
        ("napi_", r"[a-z0-9]{60,}+"),
        ("sbp_", r"[0-9a-f]{40}(?![0-9a-f])"),
        ("sb_secret_", r"[\w-]{20,}+"),
        ("mdb_sa_sk_", r"[\w-]{36,}+"),
        ("AGE-SECRET-KEY-1", r"[0-9A-Z]{20,}+"),
        # JWT, whole or cut; also any other JSON object in base64
        ("eyJ", r"[\w+/=-]{14,}+(?:\.[\w+/=-]*+){0,5}"),
        # Password hashes
        ("$1$ $2a$ $2b$ $2y$ $5$ $6$ $y$ $apr1$", r"[\w./$=]{16,}+"),
        ("$argon2", r"[\w=,$+/.-]{16,}+"),
    ),
    Rule("asia", re.compile(r"(asia[a-z2-7]{16}(?![a-z0-9]))"), check=_has_digit),
    Rule("SK", re.compile(r"(SK[0-9a-f]{32}(?![0-9a-f]))")),
    Rule("sk-", re.compile(r"(sk-[\w-]{20,}+)"), check=_is_mixed),
    Rule("local-", re.compile(r"(local-[0-9a-f]{40}(?![0-9a-f]))")),
    Rule(".atlasv1.", re.compile(r"(\.atlasv1\.[\w=-]{40,}+)"), bounded=False),
    Rule(":AA", re.compile(r"(:AA[\w-]{33})(?![\w-])"), bounded=False),
    Rule("asic", re.compile(r"asic[\s+]{1,8}([A-Za-z0-9+/]{6,}+={0,2})"), False, _is_basic),
    Rule("Q~", re.compile(r"(Q~[\w.~-]{31,34})(?![\w~])"), bounded=False),
]

_LOWER_SHAPES = [
    Rule(
        "-----begin",
        re.compile(
            r"(-----begin [a-z0-9 ]{0,40}private key(?: block)?-----"
            r"(?:.*?-----end [a-z0-9 ]{0,40}private key(?: block)?-----|.*))",
            re.DOTALL,
        ),
        bounded=False,
    ),
    Rule("bearer", re.compile(r"bearer[\s+]{1,8}([\w.~+/=:-]{6,}+)"), check=_is_bearer),
    Rule(
        "-u",
        re.compile(r"""-u[ =]{1,4}["']?([^\s:"']{1,128}:[^\s"']{1,1024}+)"""),
        check=_not_only_numbers,
    ),
    Rule(
        "-user",
        re.compile(r"""-user[ =]{1,4}["']?([^\s:"']{1,128}:[^\s"']{1,1024}+)"""),
        bounded=False,
        check=_not_only_numbers,
    ),
    Rule("identified by", re.compile(r"""identified by\s{1,8}["']?([^\s"';]++)""")),
    # A secret key of AWS may hold slashes, at which a name in a path would end.
    *(
        Rule(
            anchor,
            re.compile(
                rf"""{anchor}["']?\s{{0,4}}[:=]\s{{0,4}}["']?([a-z0-9/+]{{40}})(?![a-z0-9/+])"""
            ),
            bounded=False,
        )
        for anchor in ("accesskey", "access_key", "access-key")
    ),
    Rule(
        "wandb",
        re.compile(r"wandb[\w./]{0,20}\s{1,4}login\s{1,4}(?:-\S{1,80}\s{1,4}){0,4}([0-9a-f]{40})"),
    ),
    # Addresses of chat rooms, which are credentials: Slack, Discord, Teams, Zapier
    Rule(
        "hook",
        re.compile(
            r"hook(?:s\.slack\.com/[a-z]{1,20}/|s\.zapier\.com/hooks/catch/|s/(?=\d{15,20}/)"
            r"|\.office\.com/webhookb2/)([\w/@+-]++)"
        ),
        bounded=False,
    ),
    # A token in the path of a channel of conda packages
    Rule(
        "/t/",
        re.compile(r"/t/([a-z]{2}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
        bounded=False,
    ),
    Rule("thin:", re.compile(r"thin:([^\s/@:]{1,128}/[^\s@]{1,256})@"), bounded=False),
    Rule("sshpass", re.compile(r"""sshpass\s{1,4}-p\s{0,4}["']?([^\s"']++)""")),
    # Userinfo with a slash in the password, which no URL may have and some have.
    Rule(
        "://",
        re.compile(
            r"""://([^\s/:@?\#"'<>]{1,128}:(?!\d{1,5}(?:[/?\#\s"']|$))[^\s@"'<>?\#]{1,256})@""",
        ),
        bounded=False,
    ),
]

_NAMES = (
    "password", "passwd", "passphrase", "passcode", "secret", "token", "credential", "credentials",
    "signature", "apikey", "accesskeyid", "access_key_id", "access-key-id", "googleaccessid",
    "assertion", "upload_id", "jsessionid", "phpsessid", "xet-session-id", "key-pair-id",
)  # fmt: skip
"""Ends of names whose value is secret, wherever the name begins (`db_password`, `HF_TOKEN`)."""
_WORDS = ("pwd", "pass", "sig", "hmac", "auth", "jwt", "sid", "psk")
"""Names that are secret only as whole words or behind a separator (`design=` is none)."""
_HEADERS = ("authorization", "cookie")
_KEY_KINDS = re.compile(
    r"(?:access|secret|private|account|shared|encryption|signing|auth|master|storage|session"
    r"|customer|client|ssh|service|api|write|license|deploy|webhook|sas)[_. -]?\Z"
)
_QUERY_NAMES = ("key", "code", "policy")
"""Names that are secret only as a parameter of a URL."""

_SUFFIX = r"(?:[_-]?(?:b64|base64|data|value|plain(?:text)?))?\d{0,2}"
_SEPARATOR = (
    rf"""{_SUFFIX}(?:["'\]]{{0,2}}\s{{0,8}}(?:=>|:=|={{1,2}}|:)\s{{0,40}}"""
    r"""|["']?\s{0,40},?\s{0,40}["']?value["']?\s{0,8}[:=]\s{0,40})"""
)
_OBJECT = r"""(?:\{\s{0,8}["']?(?:string_?value|value|default|data)["']?\s{0,8}[:=]\s{0,8})?"""
_QUOTED = r""""(?:[^"\\\n]++|\\.)*+|'(?:[^'\\\n]++|\\.)*+|\[[^\]\n]++"""
_BARE = (
    r"""(?:[^\s"'&,;:<>)\]}|\\]|:(?!\s|\Z)|[,;](?!\s|\Z|["']?[\w.-]{1,64}["']?\s?[=:])|[)\]}|](?=[a-z0-9])"""
    r"""|\\(?![nrtbfux"'/\\]))++"""
)
_PAIR = re.compile(rf"{_SEPARATOR}{_OBJECT}({_QUOTED}|(?![{{\[]){_BARE})", re.DOTALL)
_SEGMENT = re.compile(rf"""{_SEPARATOR}["']?([^\s"'/?&]++)""")
MIN_TOKEN = 16
"""Characters from which a value named `token` in a path is taken for one."""
_STRONG_NAMES = frozenset(
    {"password", "passwd", "passphrase", "passcode", "secret", "apikey", "key"}
)
"""Names whose value in a path is secret however short it is."""
_PARAMETER_BEFORE = re.compile(r"[?&;][\w.-]{0,63}\Z")
_SPACED = re.compile(rf"""["']?[\s,=]{{1,8}}({_QUOTED}|(?![-{{\[]){_BARE})""", re.DOTALL)
_HEADER = re.compile(
    rf"""{_SEPARATOR}{_OBJECT}({_QUOTED}|(?:[\w.-]{{1,40}}[ \t+]{{1,4}})?[^\s"',;&{{\[]++"""
    r"""(?:[ \t]{0,2},[ \t]{0,2}[\w-]{1,40}=(?:"[^"\n]*+"|[^\s,"']*+))*+)""",
    re.DOTALL,
)
_COOKIE = re.compile(rf"""{_SEPARATOR}{_OBJECT}({_QUOTED}|[^\n"'{{\[]++)""", re.DOTALL)
_QUERY = re.compile(r"""=([^\s"'&<>]++)""")
_FLAG_BEFORE = re.compile(r"(?:(?:^|[\s\"',])--?[\w.-]{0,60}|\slogin\s{1,4}\S{1,128}\s{1,4})\Z")
_VALUE_FIRST = re.compile(
    r'"value"\s{0,8}:\s{0,8}("(?:[^"\\\n]++|\\.)*+)"\s{0,8},\s{0,8}'
    r'"(?:name|key)"\s{0,8}:\s{0,8}"([\w.-]{1,128})"',
    re.DOTALL,
)
_USERINFO = re.compile(r"""//([^\s/?\#"'<>\\]++)""")
_HARMLESS = frozenset({"null", "none", "true", "false", "undefined", "nil", "", MASK})
_RANDOM = re.compile(r"(?<![A-Za-z0-9+/*])[A-Za-z0-9+/]{40,}+={0,2}")


_SIGNS = ("xox", "$", ":", "~", "--", "-u", "access", "asi", "/", " ", ".")
"""Rare ones first."""
_END_SIGNS = "_-."
"""What most shapes' anchors end with; they are looked up by what stands at such a sign."""


def _by_sign(rules: Iterable[Rule]) -> tuple[tuple[str, tuple[Rule, ...]], ...]:
    """Rules by a sign that their anchor holds: most texts lack most signs, which spares a search.

    Anchors without a sign stand under the empty text, which is in every text.
    """
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        sign = next((sign for sign in _SIGNS if sign in rule.anchor), "")
        found.setdefault(sign, []).append(rule)
    return tuple((sign, tuple(each)) for sign, each in found.items())


def _by_end(rules: Iterable[Rule]) -> dict[str, tuple[Rule, ...]]:
    """Rules by the last three characters of their anchors, of which the last one is a sign."""
    found: dict[str, tuple[Rule, ...]] = {}
    for rule in rules:
        end = rule.anchor[-3:]
        found[end] = (*found.get(end, ()), rule)
    return found


def _with_sign(rule: Rule) -> bool:
    """Whether a rule can be looked up: its end must not overlap with the end of another."""
    word, sign = rule.anchor[-3:-1], rule.anchor[-1]
    return rule.bounded and sign in _END_SIGNS and len(word) == 2 and word.isalnum()


_SHAPES_BY_END = _by_end(rule for rule in _SHAPES if _with_sign(rule))
_AT_SIGN = re.compile(
    "".join(f"[{''.join(sorted({re.escape(end[n]) for end in _SHAPES_BY_END}))}]" for n in range(3))
    + r"(?=[\w.+/=%-]{10})"
)
"""Where an anchor that ends with a sign may end."""
_OTHER_SHAPES = [rule for rule in _SHAPES if not _with_sign(rule)]
_CAPITAL_SHAPES = tuple(r for r in _OTHER_SHAPES if re.match("[A-Z][A-Za-z0-9]", r.anchor))
_CAPITALS = re.compile("|".join(sorted({re.escape(rule.anchor[:3]) for rule in _CAPITAL_SHAPES})))
"""How an anchor that begins with a capital begins; most texts have no such place."""
_SHAPES_BY_SIGN = _by_sign(rule for rule in _OTHER_SHAPES if rule not in _CAPITAL_SHAPES)
_LOWER_SHAPES_BY_SIGN = _by_sign(_LOWER_SHAPES)


def shape_rules() -> Sequence[Rule]:
    """All rules for tokens that show by their shape."""
    return (*_SHAPES, *_LOWER_SHAPES)


def secret_spans(text: str, *, prose: bool) -> Iterator[Span]:
    """Find secrets; spans may overlap and come in no order.

    Args:
        text: A text without escapes (see decoded_views).
        prose: True for free text, where more is taken for a secret: long random-looking runs of
            base64, and every named value. False for names, keys and paths, which must stay apart:
            `pass=1/part-0` and `token=bert/part-0` are no secrets there.
    """
    lower = _ascii_lower(text)
    yield from _shaped_at_signs(text)
    yield from _shaped(_SHAPES_BY_SIGN, text)
    if _CAPITALS.search(text):
        yield from _shaped((("", _CAPITAL_SHAPES),), text)
    yield from _shaped(_LOWER_SHAPES_BY_SIGN, lower)
    if "=" in text or ":" in text or (prose and ("-" in text or "login" in lower)):
        yield from _named_values(lower, prose=prose)
    if "//" in lower:
        yield from _userinfo(lower, "//" if prose else "://")
    if prose:
        yield from _random_runs(text)


def named_spans(name: str) -> Iterator[Span]:
    """Find values of secret names in a name, key or path."""
    return _named_values(_ascii_lower(name), prose=False)


def _shaped(rules_by_sign: Sequence[tuple[str, Sequence[Rule]]], text: str) -> Iterator[Span]:
    for sign, rules in rules_by_sign:
        if sign in text:
            for rule in rules:
                if rule.anchor in text:
                    yield from _matches(rule, text)


def _shaped_at_signs(text: str) -> Iterator[Span]:
    for found in _AT_SIGN.finditer(text):
        for rule in _SHAPES_BY_END.get(found[0], ()):
            start = found.end() - len(rule.anchor)
            if start > 0 and text[start - 1] in _ALNUM:
                continue
            match = rule.pattern.match(text, start) if start >= 0 else None
            if match is not None and (rule.check is None or rule.check(match[1])):
                yield match.span(1)


def _named_values(lower: str, *, prose: bool) -> Iterator[Span]:
    """Values of secret names: behind `=` or `:`, or, in free text, behind a flag or `login`."""
    value = _value_in_prose if prose else _value_in_path
    for name in _NAMES:
        if name in lower:
            yield from _named(lower, name, value)
    for name in _WORDS:
        if name in lower:
            yield from _named(lower, name, value, bounded=True)
    if "key" in lower:
        yield from _named(lower, "key", value)
    if "authorization" in lower:
        yield from _named(lower, "authorization", _value_of_header)
    if "cookie" in lower:
        yield from _named(lower, "cookie", _value_of_cookie)
    for name in _QUERY_NAMES:
        if name in lower:
            yield from _parameters(lower, name)
    if '"value"' in lower:
        yield from _value_first(lower)


def _ascii_lower(text: str) -> str:
    """Lower case of A to Z only, so that every character keeps its place."""
    if text.isascii():
        return text.lower()
    return text.translate(_LOWER)


_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def _matches(rule: Rule, text: str) -> Iterator[Span]:
    position = text.find(rule.anchor)
    while position >= 0:
        following = position + len(rule.anchor)
        if not (rule.bounded and position and text[position - 1] in _ALNUM):
            match = rule.pattern.match(text, position)
            if match is not None and (rule.check is None or rule.check(match[1])):
                yield match.span(1)
                following = max(following, match.end())
        position = text.find(rule.anchor, following)


Value = Callable[[str, int, int], re.Match[str] | None]
"""Finds the value of a name that stands at two places of a text; group 1 is the value."""


def _named(lower: str, name: str, value: Value, *, bounded: bool = False) -> Iterator[Span]:
    """Values of a secret name."""
    position = lower.find(name)
    while position >= 0:
        following = position + len(name)
        known = name != "key" or _KEY_KINDS.search(lower[max(0, position - 16) : position])
        if known and not (bounded and position and lower[position - 1] in _ALNUM):
            match = value(lower, position, following)
            if match is not None:
                start, end = _inside_quotes(lower, *match.span(1))
                if lower[start:end] not in _HARMLESS:
                    yield start, end
                following = match.end()
        position = lower.find(name, following)


def _value_in_prose(lower: str, start: int, end: int) -> re.Match[str] | None:
    """A value behind a separator or, for flags of a command, a space."""
    match = _PAIR.match(lower, end)
    if match is None and lower[end : end + 1] in _AFTER_FLAG:
        before = lower[max(0, start - 200) : start]
        match = _SPACED.match(lower, end) if _FLAG_BEFORE.search(before) else None
    return match


def _value_in_path(lower: str, start: int, end: int) -> re.Match[str] | None:
    """A value of a parameter, or one that ends with its segment and looks like a secret."""
    if _PARAMETER_BEFORE.search(lower[max(0, start - 64) : start]):
        return _PAIR.match(lower, end)
    match = _SEGMENT.match(lower, end)
    if match is None or lower[start:end] in _STRONG_NAMES or len(match[1]) >= MIN_TOKEN:
        return match
    return None


def _value_of_header(lower: str, _start: int, end: int) -> re.Match[str] | None:
    return _HEADER.match(lower, end)


def _value_of_cookie(lower: str, _start: int, end: int) -> re.Match[str] | None:
    return _COOKIE.match(lower, end)


_AFTER_FLAG = frozenset(" \t\n\"'=,")


def _inside_quotes(text: str, start: int, end: int) -> Span:
    """Leave an opening quote or bracket standing."""
    return (start + 1, end) if text[start] in "\"'[" else (start, end)


def _parameters(lower: str, name: str) -> Iterator[Span]:
    position = lower.find(name)
    while position >= 0:
        following = position + len(name)
        if position and lower[position - 1] in "?&;":
            match = _QUERY.match(lower, following)
            if match is not None:
                yield match.span(1)
                following = match.end()
        position = lower.find(name, following)


def _value_first(lower: str) -> Iterator[Span]:
    """`"value": "…", "name": "API_KEY"`: the value stands before its name."""
    position = lower.find('"value"')
    while position >= 0:
        match = _VALUE_FIRST.match(lower, position)
        if match is not None and is_secret_name(match[2]):
            yield match.start(1) + 1, match.end(1)
        position = lower.find('"value"', position + 7)


def is_secret_name(name: str) -> bool:
    """Whether a value under this name is a secret (`DB_PASSWORD`, `HF_TOKEN`, `Cookie`)."""
    name = _ascii_lower(name)
    if name.endswith((*_NAMES, *_HEADERS)):
        return True
    if any(name == word or name.endswith(("_" + word, "-" + word, "." + word)) for word in _WORDS):
        return True
    return name.endswith("key") and _KEY_KINDS.search(name[:-3]) is not None


def _userinfo(lower: str, anchor: str) -> Iterator[Span]:
    position = lower.find(anchor)
    while position >= 0:
        match = _USERINFO.match(lower, position + len(anchor) - 2)
        following = position + len(anchor)
        if match is not None:
            end = match[1].rfind("@")
            if end > 0:
                yield match.start(1), match.start(1) + end
            following = match.end()
        position = lower.find(anchor, following)


def _random_runs(text: str) -> Iterator[Span]:
    for match in _RANDOM.finditer(text):
        if _looks_random(match[0]):
            yield match.span()


def _looks_random(run: str) -> bool:
    """Whether upper case, lower case and digits alternate as in base64 of random bytes.

    Random base64 changes class at about 0.64 of its places; words, paths, camel case and dates at
    less than 0.4; hex digests have no upper case beside lower case.
    """
    classes = [
        "u" if c.isupper() else "l" if c.islower() else "d" if c.isdigit() else "s"
        for c in run[:512]
    ]
    if not {"u", "l", "d"} <= set(classes) or max(map(len, run[:512].split("/"))) < 16:
        return False
    changes = sum(a != b for a, b in pairwise(classes))
    return changes >= 0.4 * (len(classes) - 1)
