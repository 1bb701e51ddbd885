"""Macros that `.sql` files of transforms may call, each made in a session that a text calls it in.

`row_id([id_text(a), id_time(b), …])` gives the ids of definitions.md 11. `is_private_address` and
`is_public_address` read canonical addresses; neither holds for multicast and reserved ones.
`address_bits` spells a canonical address as its family and its bits, null where it is none.
`image_repository` and `image_resource` name an image as people read it:
`oci://registry/repository`, and the digest, else the tag, behind it. `pull_error_class` says of
what kind the failure of a pull is, by its message; `is_refused_credential`, by the code or status
of a request, whether storage did not take its credentials. `is_health_end` says whether an end of a
flow is of Cilium's class `health`, by its identity where that tells, else by its labels.
`in_64_bits` ends sums at the largest number of a column. `moved_between` is what of bytes that
moved over `[from_us, until_us)` lies between two instants, by the cumulative floor
(reference/counters.md 3.2): whatever edges are cut, parts add up to the whole. `nano_usd` is what
an amount costs at a price (`nano` billionths of a dollar per `units`), rounded half to even, and
`usd_of_nano` that in dollars, null from 10^9 on. `place_of_scope` is the number of a fetch's place
in a scope, 0 in the fleet. `layer_rank` orders layers of bytes by how much of a packet they hold,
and `layer_of` names them by that; `pod_rung`, `name_rung` and `container_rung` order kinds by their
ladder, best first, and `pod_kind` and `container_kind_of` name them by that.
"""

import re
from functools import lru_cache

MACROS = {
    "micros": "(t) AS epoch_us(t)",
    "id_text": "(x) AS COALESCE(CAST(x AS VARCHAR), CHR(30))",
    "id_time": "(t) AS COALESCE(CAST(epoch_us(t) AS VARCHAR), CHR(30))",
    "row_id": "(parts) AS MD5(array_to_string(parts, CHR(31)))",
    "is_private_address": """(a) AS regexp_matches(
    a,
    '^(10|127|0)\\.|^192\\.168\\.|^172\\.(1[6-9]|2[0-9]|3[01])\\.|^169\\.254\\.|'
    || '^100\\.(6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])\\.|^f[cd][0-9a-f]{2}:|^fe[89ab][0-9a-f]:|'
    || '^::1?$'
)""",
    "is_public_address": """(a) AS
    regexp_matches(a, '^([1-9]|[1-9][0-9]|1[0-9][0-9]|2[01][0-9]|22[0-3])\\.|^[23][0-9a-f]{3}:')
    AND NOT is_private_address(a)""",
    "image_registry": """(registry) AS
    -- Older names of one registry (distribution/reference, normalize.go).
    CASE
        WHEN lower(registry) IN ('index.docker.io', 'registry-1.docker.io') THEN 'docker.io'
        ELSE lower(registry)
    END""",
    "image_path": """(image) AS regexp_replace(
    split_part(image, '@', 1), '^([^/]*[.:][^/]*|localhost)/', ''
)""",
    "image_repository": """(image, registry) AS
    'oci://' || image_registry(registry) || '/'
    || CASE
        WHEN image_registry(registry) = 'docker.io' AND image_path(image) NOT LIKE '%/%'
            THEN 'library/' ELSE ''
    END
    || regexp_replace(image_path(image), ':[^/:]*$', '')""",
    "image_resource": """(image, registry, digest) AS
    image_repository(image, registry)
    || CASE
        WHEN digest IS NOT NULL THEN '@' || digest
        ELSE ':'
            || coalesce(nullif(regexp_extract(image_path(image), ':([^/:]*)$', 1), ''), 'latest')
    END""",
    "pull_reason": """(message) AS
    -- Names, tags and digests of images may hold the words and numbers of any error.
    replace(
        regexp_replace(lower(message), 'https?://[^\\s"]+', '', 'g'),
        regexp_extract(lower(message), 'failed to pull image "([^"]+)"', 1), ''
    )""",
    "pull_error_class": """(message) AS CASE
    WHEN regexp_matches(
        pull_reason(message), '(^|[\\s=(])429\\b|toomanyrequests|too many requests|rate limit'
    ) THEN 'throttled'
    WHEN regexp_matches(
        pull_reason(message), '(^|[\\s=(])401\\b|unauthorized|authentication required|no basic auth'
    ) THEN 'credentials'
    WHEN regexp_matches(pull_reason(message), 'no space left|disk') THEN 'disk'
    WHEN regexp_matches(
        pull_reason(message),
        'not found|manifest unknown|name unknown|does not exist|(^|[\\s=(])404\\b'
    ) AND NOT regexp_matches(pull_reason(message), 'pull access denied') THEN 'not_found'
    WHEN regexp_matches(pull_reason(message), '(^|[\\s=(])403\\b|forbidden|denied') THEN 'forbidden'
    WHEN regexp_matches(pull_reason(message), 'no such host|server misbehaving')
        THEN 'name_failure'
    WHEN regexp_matches(pull_reason(message), 'time-?out|timed out|deadline exceeded')
        THEN 'timeout'
    WHEN regexp_matches(
        pull_reason(message), 'connection refused|connection reset|unreachable|x509|tls'
    ) THEN 'connection_failure'
    WHEN regexp_matches(
        pull_reason(message), '(^|[\\s=(])50[0-4]\\b|server error|bad gateway|unavailable'
    ) THEN 'server_error'
    ELSE 'other'
END""",
    "is_refused_credential": """(error) AS COALESCE(
    regexp_matches(
        error,
        '(^|: )401\\b|Expired|InvalidAccessKeyId|InvalidToken|TokenRefresh|UNAUTHENTICATED|'
        || 'SignatureDoesNotMatch|InvalidSecurity|AuthenticationFailed|NoCredential'
    ), FALSE
)""",
    "in_64_bits": """(x) AS
    CAST(x - GREATEST(0, x - 9223372036854775807) AS BIGINT)""",
    "moved_until": """(bytes, from_us, until_us, at_us) AS
    CAST(bytes AS HUGEINT) * (LEAST(GREATEST(at_us, from_us), until_us) - from_us)
    // (until_us - from_us)""",
    "moved_between": """(bytes, from_us, until_us, start_us, end_us) AS CAST(
    moved_until(bytes, from_us, until_us, end_us) - moved_until(bytes, from_us, until_us, start_us)
    AS BIGINT
)""",
    "nano_usd": """(amount, price) AS
    CAST(amount AS HUGEINT) * price.nano // price.units
    + CASE
        WHEN CAST(amount AS HUGEINT) * price.nano % price.units * 2 > price.units THEN 1
        WHEN CAST(amount AS HUGEINT) * price.nano % price.units * 2 = price.units
            THEN CAST(amount AS HUGEINT) * price.nano // price.units % 2
        ELSE 0
    END""",
    "usd_of_nano": """(nano) AS CASE
    WHEN nano < 1000000000000000000
        THEN CAST(
            CAST(nano AS DECIMAL(18, 0)) * CAST(0.000000001 AS DECIMAL(10, 9)) AS DECIMAL(18, 9)
        )
END""",
    "place_of_scope": """(scope, run_place, node_place, zone_place, region_place) AS CASE scope
    WHEN 'run' THEN run_place
    WHEN 'node' THEN node_place
    WHEN 'zone' THEN zone_place
    WHEN 'region' THEN region_place
    ELSE 0
END""",
    "layer_rank": "(layer) AS LIST_POSITION(['body', 'payload', 'packet', 'frame'], layer)",
    "layer_of": "(rank) AS ['body', 'payload', 'packet', 'frame'][rank]",
    "pod_rungs": """() AS [
    'uid', 'access_key', 'session_arn', 'name_window', 'address_window', 'session_name', 'app_id',
    'service_account', 'node', 'shared_address', 'ambiguous', 'conflict', 'none'
]""",
    "pod_rung": "(kind) AS LIST_POSITION(pod_rungs(), kind)",
    "pod_kind": "(rung) AS pod_rungs()[rung]",
    "name_rung": """(kind) AS LIST_POSITION([
    'http_host', 'tls_name', 'dns_pod', 'dns_node', 'dns_cluster', 'flow_names', 'dns_time',
    'kube_service', 'well_known_address', 'address_range', 'ambiguous', 'none'
], kind)""",
    "container_rungs": """() AS [
    'socket', 'user_agent', 'only_running', 'declared_by_one', 'several', 'none'
]""",
    "container_rung": "(kind) AS LIST_POSITION(container_rungs(), kind)",
    "container_kind_of": "(rung) AS container_rungs()[rung]",
    "is_health_end": """(identity, labels) AS COALESCE(
    CASE
        WHEN identity = 4 THEN TRUE
        WHEN identity IN (1, 2, 6, 9, 10) OR identity BETWEEN 256 AND 16777215 THEN FALSE
        ELSE list_contains(labels, 'reserved:health')
    END,
    FALSE
)""",
    "whole_groups": """(a) AS
    CASE WHEN starts_with(a, '::') THEN '0' ELSE '' END || a
    || CASE WHEN ends_with(a, '::') THEN '0' ELSE '' END""",
    "address_bits": """(a) AS CASE
    WHEN regexp_matches(a, '^[0-9]{1,3}(\\.[0-9]{1,3}){3}$') THEN '4' || array_to_string(
        list_transform(
            string_split(a, '.'), LAMBDA o: lpad(bin(TRY_CAST(o AS INTEGER)), 8, '0')
        ), ''
    )
    WHEN regexp_matches(a, '^[0-9a-f]{0,4}(:[0-9a-f]{0,4}){2,7}$') THEN '6' || array_to_string(
        list_transform(
            string_split(
                replace(
                    whole_groups(a), '::',
                    repeat(':0', 9 - len(string_split(whole_groups(a), ':'))) || ':'
                ), ':'
            ), LAMBDA g: lpad(bin(TRY_CAST('0x' || g AS INTEGER)), 16, '0')
        ), ''
    )
END""",
}
"""Parameters and body of each macro by its name; one that another calls stands before it."""

_WORD = re.compile(r"\w+")


@lru_cache(maxsize=4_000)
def macros_in(text: str) -> tuple[str, ...]:
    """Names of the macros that a text calls, and of those that these call, in order of `MACROS`."""
    words = set(_WORD.findall(text))
    called: set[str] = set()
    for name in reversed(MACROS):
        if name in words:
            called.add(name)
            words.update(_WORD.findall(MACROS[name]))
    return tuple(name for name in MACROS if name in called)


def made(name: str) -> str:
    """Statement that makes a macro in a session."""
    return f"CREATE OR REPLACE TEMP MACRO {name}{MACROS[name]}"
