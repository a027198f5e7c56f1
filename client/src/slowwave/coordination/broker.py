"""Connections to the broker: one server by its URL, or the master that the sentinels name.

All Redis connections that a process makes from its settings come from this module. Celery's own connections get the
same options.
"""

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, quote, unquote, urlsplit

from redis import Redis
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.retry import Retry
from redis.sentinel import Sentinel

from slowwave.coordination.wrong_types import MendingRedis

if TYPE_CHECKING:
    from slowwave.settings import Settings

SENTINEL = "sentinel://"
TLS = "rediss://"
DEFAULT_MASTER = "mymaster"
SENTINEL_PORT = 26379
_SENTINEL: Any = Sentinel  # redis-py has no types here


class Sentinels(NamedTuple):
    """Addresses of sentinels, and the master's database, user and password."""

    addresses: tuple[tuple[str, int], ...]
    database: int = 0
    username: str | None = None
    password: str | None = None

    def url(self) -> str:
        """Return a URL that repeats all options for each address: Celery may read the options from any address."""
        user = quote(self.username or "", safe="")
        login = "" if self.password is None else f"{user}:{quote(self.password, safe='')}@"
        return ";".join(f"{SENTINEL}{login}{_bracketed(host)}:{port}/{self.database}" for host, port in self.addresses)


def sentinels_of(url: str) -> Sentinels | None:
    """Parse `sentinel://[[USER]:PASSWORD@]HOST[:PORT];sentinel://HOST[:PORT];…[/DATABASE]`.

    Returns None for the URL of one server. Any address may carry the user and the password; they belong to the master,
    and sentinels are asked without a password. Raises ValueError for a malformed URL; the message does not quote the
    URL.
    """
    if not url.startswith(SENTINEL):
        return None
    parts = [urlsplit(part.strip()) for part in url.split(";") if part.strip()]
    if any(f"{part.scheme}://" != SENTINEL or not part.hostname for part in parts):
        raise ValueError("each part between semicolons must be sentinel://HOST:PORT")
    addresses = tuple((part.hostname or "", part.port or SENTINEL_PORT) for part in parts)
    login = next((part for part in parts if part.password is not None), SplitResult("", "", "", "", ""))
    database = next((part.path.strip("/") for part in parts if part.path.strip("/")), "0")
    if not database.isdecimal():
        raise ValueError("the text after the last slash must be the number of a database")
    return Sentinels(addresses, int(database), _unquoted(login.username) or None, _unquoted(login.password))


def connect_broker(settings: "Settings") -> Redis:
    """Return a client of the broker in these settings. Raises ValueError for a malformed `broker_url`."""
    return redis_from_url(settings.broker_url, settings.broker_master, settings.broker_ca)


def redis_from_url(url: str, master: str = DEFAULT_MASTER, ca: str = "") -> Redis:
    """Return a client for `url` with timeouts: 3 s to connect, 10 s for an answer, two retries.

    ca: a file with the certificate authorities of a rediss:// server; certificates are always verified. master: the
    master's name among the sentinels; after a fail-over the client connects to the new master. A call that timed out is
    not retried, because the caller has waited long enough and the sweep repeats the work. Answers are bytes. Nothing is
    sent before the first call. Raises ValueError for a malformed `url`.
    """
    options: dict[str, Any] = {
        "socket_connect_timeout": 3,
        "socket_timeout": 10,
        "socket_keepalive": True,
        "health_check_interval": 10,
        # No feature of the newer protocol is used, and redis-py parses the older protocol faster.
        "protocol": 2,
        "retry": Retry(ExponentialBackoff(cap=0.5, base=0.05), retries=2, supported_errors=(RedisConnectionError,)),
    }
    found = sentinels_of(url)
    if found is None:
        return MendingRedis.from_url(url, **options | tls_options(url, ca))
    # If a sentinel does not answer, the client asks the next one, so each sentinel gets a shorter timeout.
    asking = {"socket_connect_timeout": 1, "socket_timeout": 1}
    login = {"db": found.database, "username": found.username, "password": found.password}
    watchers: Any = _SENTINEL(found.addresses, sentinel_kwargs=asking)
    client: Redis = watchers.master_for(master, MendingRedis, **options, **login)
    return client


def tls_options(url: str, ca: str) -> dict[str, Any]:
    """Return options that make a rediss:// connection verify the certificate's authority and host; {} without TLS."""
    if not url.startswith(TLS):
        return {}
    return {"ssl_cert_reqs": "required", "ssl_check_hostname": True} | ({"ssl_ca_certs": ca} if ca else {})


def shown(url: str) -> str:
    """Return the URL without passwords, for messages."""
    return re.sub(r"(://[^:@/;]*):[^@;]*@", r"\1:***@", url)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _unquoted(text: str | None) -> str | None:
    return None if text is None else unquote(text)
