"""Import libraries without the optional packages that they look for, so that a short command starts fast."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_PLUGINS = "PYDANTIC_DISABLE_PLUGINS"
_TELEMETRY = "opentelemetry"


@contextmanager
def without_plugins() -> Iterator[None]:
    """Build Pydantic models without its plugins: the search for plugins reads the metadata of every installed package.

    Typer does so, too. Settings hold passwords, which no plugin has to see.
    """
    before = os.environ.get(_PLUGINS)
    os.environ[_PLUGINS] = "__all__"
    try:
        yield
    finally:
        del os.environ[_PLUGINS]
        if before is not None:
            os.environ[_PLUGINS] = before


def import_redis() -> None:
    """Import redis-py without OpenTelemetry, which redis-py imports if it is installed.

    It serves redis-py's own metrics, which Slowwave never turns on. Spans of Redis calls come from elsewhere.
    """
    if "redis" in sys.modules or _TELEMETRY in sys.modules:
        return
    modules: dict[str, Any] = sys.modules
    modules[_TELEMETRY] = None  # the import of this name raises ModuleNotFoundError
    try:
        import redis  # noqa: F401
    finally:
        del modules[_TELEMETRY]
