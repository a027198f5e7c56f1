"""Make and check tokens of login forms. Each form gets a new token, signed with a key that all consoles of an
installation share.

Because of the signature, a cookie that an attacker planted is useless.
"""

import secrets

from itsdangerous import BadData, TimestampSigner
from redis import Redis
from redis.exceptions import RedisError

from slowwave.coordination.keys import PREFIX

COOKIE = "slowwave_before_login"
SECONDS = 12 * 3600
KEY_SECONDS = 30 * 86_400
_KEY = f"{PREFIX}login-form-key"
_own_key = secrets.token_urlsafe(32)
"""The signing key of this process while the broker is unavailable."""


class LoginForms:
    """Makes and checks tokens. The key is in `redis`, so a form of one console may be sent to another console."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def make(self) -> str:
        """Return a new random token, signed."""
        return str(TimestampSigner(self._key()).sign(secrets.token_urlsafe(24)), "ascii")

    def made(self, token: str) -> bool:
        """Return True if a console of this installation made this token within the last SECONDS."""
        for key in (self._key(), _own_key):
            try:
                TimestampSigner(key).unsign(token.encode("utf-8", "replace"), max_age=SECONDS)
            except BadData:
                continue
            return True
        return False

    def _key(self) -> str:
        try:
            self._redis.set(_KEY, secrets.token_urlsafe(32), ex=KEY_SECONDS, nx=True)
            kept = self._redis.get(_KEY)
        except RedisError:
            return _own_key
        return kept.decode() if isinstance(kept, bytes) else _own_key
