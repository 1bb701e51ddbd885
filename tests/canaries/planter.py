"""Mint secrets of every shape, each distinct, and harmless neighbours that must survive.

Nothing here looks like a secret by itself: bodies are drawn from a seeded generator while a test
runs.
"""

import base64
import random
import string
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import quote

UPPER = string.ascii_uppercase + "234567"
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
PIECE = 12
"""Characters of a secret that must not stand anywhere."""


@dataclass(frozen=True)
class Canary:
    """One planted secret.

    Attributes:
        number: Ordinal.
        kind: Its shape.
        place: Where it was planted.
        forms: The texts in which it would show, in lower case.
    """

    number: int
    kind: str
    place: str
    forms: tuple[str, ...]

    @property
    def pieces(self) -> set[str]:
        """Beginning, middle and end of each form: a leak of a part is a leak."""
        found = set()
        for form in self.forms:
            middle = len(form) // 2
            found |= {form[:PIECE], form[middle : middle + PIECE], form[-PIECE:]}
        return {piece for piece in found if len(piece) >= 6}

    def __str__(self) -> str:
        """What a failing test may say of it."""
        return f"canary {self.number} ({self.kind}) of {self.place}"


@dataclass
class Planter:
    """Hands out secrets and neighbours, and remembers them.

    Attributes:
        canaries: Secrets handed out.
        neighbours: Texts that must survive in the lake.
    """

    canaries: list[Canary] = field(default_factory=list)
    neighbours: list[str] = field(default_factory=list)

    def keep(self, word: str = "kept") -> str:
        """A harmless word, usable as a name in Kubernetes, DNS and S3."""
        # Numbered over all planters, so that no two are equal.
        found = f"{word}-{len(self.neighbours):04d}-{len(self.canaries):04d}x"
        self.neighbours.append(found)
        return found

    def refused(self) -> "Planter":
        """A planter of the same secrets for records of which no neighbour need survive."""
        return Planter(self.canaries)

    def plain(self, place: str) -> str:
        """A secret without any shape, for places of which nothing is kept."""
        # Lower case letters only: no rule could know it.
        return self._mint("plain word", place, string.ascii_lowercase, 20)

    def _mint(self, kind: str, place: str, alphabet: str, length: int, form: str = "{}") -> str:
        number = len(self.canaries)
        generator = random.Random(f"{kind} {number}")
        body = "".join(generator.choice(alphabet) for _ in range(length - 3))
        # At least one digit and one letter, so that what tells tokens from words sees a token.
        body += "".join(generator.choice(group) for group in _ends(alphabet))
        self.canaries.append(Canary(number, kind, place, (body.lower(),)))
        return form.format(body)

    def also(self, form: str) -> None:
        """The secret handed out last may show in this form, too."""
        last = self.canaries[-1]
        forms = (*last.forms, form.lower())
        self.canaries[-1] = Canary(last.number, last.kind, last.place, forms)

    def aws_key_id(self, place: str) -> str:
        """An access key id of a user."""
        return self._mint("AWS access key id", place, UPPER, 16, "AKIA{}")

    def aws_temporary_key_id(self, place: str) -> str:
        """An access key id of a session."""
        return self._mint("AWS temporary key id", place, UPPER, 16, "ASIA{}")

    def aws_secret(self, place: str) -> str:
        """A secret access key under its name."""
        return self._mint("AWS secret key", place, ALNUM + "/+", 40, "aws_secret_access_key={}")

    def aws_session_token(self, place: str) -> str:
        """A session token of STS."""
        return self._mint("AWS session token", place, ALNUM, 90, "IQoJb3JpZ2lu{}==")

    def bearer(self, place: str) -> str:
        """A bearer header."""
        return self._mint("bearer header", place, ALNUM, 32, "Authorization: Bearer {}")

    def basic(self, place: str) -> str:
        """A basic header."""
        password = self._mint("basic header", place, ALNUM, 16)
        encoded = base64.b64encode(f"reader:{password}".encode()).decode()
        self.also(encoded)
        return f"Authorization: Basic {encoded}"

    def jwt(self, place: str) -> str:
        """A JSON web token."""
        signature = self._mint("JWT", place, ALNUM, 43)
        return f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJyZWFkZXIifQ.{signature}"

    def github(self, place: str) -> str:
        """A token of GitHub."""
        return self._mint("GitHub token", place, ALNUM, 36, "ghp_{}")

    def hugging_face(self, place: str) -> str:
        """A token of the Hugging Face hub."""
        return self._mint("Hugging Face token", place, ALNUM, 34, "hf_{}")

    def openai(self, place: str) -> str:
        """A key of OpenAI."""
        return self._mint("OpenAI key", place, ALNUM, 48, "sk-proj-{}")

    def slack(self, place: str) -> str:
        """A token of Slack."""
        return self._mint("Slack token", place, ALNUM, 24, "xoxb-111122223333-{}")

    def url_password(self, place: str, host: str = "db.example.com") -> str:
        """A URL with a password."""
        return self._mint("password in a URL", place, ALNUM, 14, f"https://reader:{{}}@{host}/x")

    def private_key(self, place: str) -> str:
        """A private key in PEM."""
        return self._mint(
            "private key",
            place,
            ALNUM + "/+",
            120,
            "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
        )

    def password(self, place: str) -> str:
        """A password under its name."""
        return self._mint("named password", place, ALNUM, 14, "password={}")

    def escaped_password(self, place: str) -> str:
        """A password in JSON, written with escapes."""
        body = self._mint("JSON-escaped password", place, ALNUM, 14)
        escaped = "".join(f"\\u{ord(c):04x}" for c in body)
        self.also(escaped)
        self.also(escaped.replace("\\", "\\\\"))
        return f'"password":"{escaped}"'

    def encoded_password(self, place: str, times: int = 1) -> str:
        """A password that is percent-encoded, with its name."""
        body = self._mint("percent-encoded password", place, ALNUM + "/+=", 18)
        text = f"password={body}"
        for _ in range(times):
            text = quote(text, safe="")
            self.also(text.partition("password")[2])
        return text

    def s3_query(self, place: str) -> str:
        """The query of a presigned URL of S3."""
        token = quote(self.aws_session_token(f"{place}, security token"), safe="")
        key = self.aws_temporary_key_id(f"{place}, credential")
        signature = self._mint("S3 signature", place, HEX, 64)
        return (
            "X-Amz-Algorithm=AWS4-HMAC-SHA256"
            f"&X-Amz-Credential={key}%2F20260310%2Fus-east-1%2Fs3%2Faws4_request"
            f"&X-Amz-Date=20260310T000000Z&X-Amz-Expires=60&X-Amz-Security-Token={token}"
            f"&X-Amz-SignedHeaders=host&X-Amz-Signature={signature}"
        )

    def s3_old_query(self, place: str) -> str:
        """The query of a presigned URL of signature version 2."""
        key = self.aws_key_id(f"{place}, key id")
        signature = self._mint("S3 signature version 2", place, ALNUM, 27)
        return f"AWSAccessKeyId={key}&Expires=1773100800&Signature={signature}%3D"

    def gcs_query(self, place: str) -> str:
        """The query of a signed URL of Google Cloud Storage."""
        signature = self._mint("GCS signature", place, HEX, 128)
        return f"X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Signature={signature}"

    def azure_query(self, place: str) -> str:
        """The query of a shared access signature of Azure."""
        signature = self._mint("Azure signature", place, ALNUM, 43)
        return f"sv=2024-11-04&sr=b&sp=r&se=2026-03-11T00%3A00%3A00Z&sig={signature}%3D"

    def html_query(self, place: str) -> str:
        """A query whose ampersands and equals signs are HTML entities."""
        body = self._mint("HTML-encoded signature", place, ALNUM, 32)
        return f"href=&quot;/k?part=1&amp;sig&#61;{body}&amp;se&#61;2026&quot;"

    def encoded_url(self, place: str, times: int) -> str:
        """A whole URL with a password and a signature, percent-encoded."""
        text = f"{self.url_password(place)}?{self.azure_query(place)}"
        for _ in range(times):
            text = quote(text, safe="")
        return text

    def of_shape(self, name: str, place: str) -> str:
        """One secret of a shape that stands in running text."""
        return _SHAPES[name](self, place)

    @staticmethod
    def shape_names() -> tuple[str, ...]:
        """Names of all such shapes."""
        return tuple(_SHAPES)

    def of_every_shape(self, place: str) -> list[str]:
        """One secret of every shape that stands in running text."""
        return [make(self, place) for make in _SHAPES.values()]


_SHAPES: dict[str, Callable[[Planter, str], str]] = {
    "AWS access key id": Planter.aws_key_id,
    "AWS temporary key id": Planter.aws_temporary_key_id,
    "AWS secret key": Planter.aws_secret,
    "AWS session token": Planter.aws_session_token,
    "bearer header": Planter.bearer,
    "basic header": Planter.basic,
    "JWT": Planter.jwt,
    "GitHub token": Planter.github,
    "Hugging Face token": Planter.hugging_face,
    "OpenAI key": Planter.openai,
    "Slack token": Planter.slack,
    "password in a URL": Planter.url_password,
    "private key": Planter.private_key,
    "named password": Planter.password,
    "JSON-escaped password": Planter.escaped_password,
    "encoded password": Planter.encoded_password,
    "twice encoded password": lambda p, place: p.encoded_password(place, 2),
    "HTML-encoded query": Planter.html_query,
    "S3 URL": lambda p, place: f"https://example.com/k?{p.s3_query(place)}",
    "S3 URL of version 2": lambda p, place: f"https://example.com/k?{p.s3_old_query(place)}",
    "GCS URL": lambda p, place: f"https://example.com/k?{p.gcs_query(place)}",
    "Azure URL": lambda p, place: f"https://example.com/k?{p.azure_query(place)}",
    "once encoded URL": lambda p, place: p.encoded_url(place, 1),
    "twice encoded URL": lambda p, place: p.encoded_url(place, 2),
}


def _ends(alphabet: str) -> tuple[str, ...]:
    letters = [c for c in alphabet if c.isalpha()]
    digits = [c for c in alphabet if c.isdigit()] or letters
    return "".join(letters), "".join(digits), "".join(letters)
