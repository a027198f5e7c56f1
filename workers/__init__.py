"""Workers, beat and Flower. `celery -A workers …` works in the repository; `celery -A slowwave_server …` everywhere."""

from typing import Any

import slowwave_server

__all__ = ["celery"]


def __getattr__(name: str) -> Any:
    """Return the Celery app of `slowwave_server`, which makes it on first use."""
    if name in {"app", "celery"}:
        return slowwave_server.celery
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
