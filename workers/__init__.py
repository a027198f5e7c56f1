"""Slowwave's workers: `celery -A workers worker`, `celery -A workers beat`, `celery -A workers flower`.

Must not know: nothing; this is where everything is put together.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workers.app import SlowwaveApp

__all__ = ["celery"]


def __getattr__(name: str) -> Any:
    """Make the app on first use: the shell imports this package too, and its help must not wait for Celery."""
    if name in {"app", "celery"}:
        celery: SlowwaveApp = _default_app()
        return celery
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _default_app() -> "SlowwaveApp":
    from workers.app import default_app  # noqa: PLC0415 - see __getattr__
    from workers.flower_access import guard_flower  # noqa: PLC0415 - as above

    guard_flower()
    return default_app()
