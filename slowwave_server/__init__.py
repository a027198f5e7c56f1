"""The Slowwave server: the command `slowwave`, and the Celery app of `celery -A slowwave_server worker`.

In the repository the members of this package are links to the folders at the top level; a wheel contains them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slowwave_server.workers.app import SlowwaveApp

__all__ = ["celery"]


def __getattr__(name: str) -> Any:
    """Make the Celery app on first use: every command imports this package, and `--help` must not load Celery."""
    if name in {"app", "celery"}:
        celery: SlowwaveApp = _default_app()
        return celery
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _default_app() -> "SlowwaveApp":
    from slowwave_server.workers.app import default_app  # noqa: PLC0415 - see __getattr__
    from slowwave_server.workers.flower_access import guard_flower  # noqa: PLC0415 - as above

    guard_flower()
    return default_app()
