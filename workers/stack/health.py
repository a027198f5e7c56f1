"""Check whether a program of the stack reports that it is up."""

import urllib.error
import urllib.request

_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""A proxy of the environment is for other hosts: it doesn't reach this one."""


def answers(url: str) -> bool:
    """Return True if a health check is answered with 200."""
    try:
        with _DIRECT.open(url, timeout=2) as answer:
            return bool(answer.status == 200)  # noqa: PLR2004  (HTTP's own number)
    except (urllib.error.URLError, OSError):
        return False
