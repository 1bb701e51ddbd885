"""What must never be written: credentials, tokens, headers, signed query strings.

Every text that comes from an export passes through here before the first byte is written.
"""

import hashlib
import hmac
from dataclasses import dataclass


@dataclass(frozen=True)
class KeyedHash:
    """Keyed hash for join keys that are secrets (access key ids).

    Attributes:
        key: Bytes of `redaction_key_file`; without it every hash is null.
    """

    key: bytes | None

    def of(self, value: str) -> str | None:
        """HMAC-SHA-256 of the value, 32 hex digits; null without a key."""
        if self.key is None:
            return None
        return hmac.new(self.key, value.encode(), hashlib.sha256).hexdigest()[:32]
