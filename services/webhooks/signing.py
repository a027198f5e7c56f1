"""Secrets and signatures by the Standard Webhooks convention."""

import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    """Return a secret in the form that its receiver sees once."""
    return PREFIX + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signed(delivery: str, at: datetime, body: bytes, keys: Iterable[str]) -> dict[str, str]:
    """Return the headers of a message, signed with each of these secrets."""
    seconds = str(int(at.timestamp()))
    content = b".".join((delivery.encode(), seconds.encode(), body))
    signatures = (hmac.new(b64decode(key.removeprefix(PREFIX)), content, sha256).digest() for key in keys)
    return {
        "webhook-id": delivery,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(f"v1,{b64encode(signature).decode()}" for signature in signatures),
    }
