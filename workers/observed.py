"""Observability of workers: Celery's signals start traces and JSON logs in each process of a worker."""

import logging
from typing import TYPE_CHECKING, Any

from celery import current_app
from celery.concurrency.prefork import TaskPool as PreforkPool
from celery.concurrency.solo import TaskPool as SoloPool
from celery.signals import (
    after_setup_logger,
    after_setup_task_logger,
    worker_init,
    worker_process_init,
    worker_ready,
)

from slowwave.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_providers: "list[TracerProvider]" = []


def _settings(app: Any = None) -> Settings | None:
    """Return the settings if this is an app of Slowwave, else None."""
    settings = getattr(current_app if app is None else app, "settings", None)
    return settings if isinstance(settings, Settings) else None


def _missing(setting: str, error: ImportError, extra: str) -> SystemExit:
    return SystemExit(f"slowwave: {setting} needs a package ({error.name}): install the extra '{extra}'")


@worker_init.connect
def refuse_tracing_without_its_packages(sender: Any = None, **_: Any) -> None:
    """Report a missing package once, at the worker's start."""
    settings = _settings(getattr(sender, "app", None))
    if settings is not None and settings.tracing:
        try:
            import slowwave_server.workers.tracing  # noqa: F401, PLC0415 (where it is off, nothing of it is loaded)
        except ImportError as error:
            raise _missing("tracing", error, "tracing") from None


@worker_process_init.connect
def trace_a_child(**_: Any) -> None:
    """Start tracing after the fork: exporters and connections must not be shared. A solo pool calls this, too."""
    _trace(_settings())


@worker_ready.connect
def trace_threads(sender: Any = None, **_: Any) -> None:
    """Start tracing in threads, for whose start Celery has no signal. The parents of children run no tasks."""
    if not isinstance(getattr(sender, "pool", None), PreforkPool | SoloPool):
        _trace(_settings(getattr(sender, "app", None)))


def _trace(settings: Settings | None) -> None:
    if settings is not None and settings.tracing:
        from slowwave_server.workers.tracing import start_tracing  # noqa: PLC0415 (as above)

        _providers.append(start_tracing())


def send_last_spans() -> None:
    """Send the remaining spans at the end of a process, because a child skips Python's own exit handlers."""
    if _providers:
        from slowwave_server.workers.tracing import close_tracing  # noqa: PLC0415 (as above)

        close_tracing(_providers.pop())


@after_setup_logger.connect
@after_setup_task_logger.connect
def write_json(logger: logging.Logger, **_: Any) -> None:
    """Write one JSON object per line instead of Celery's format, in workers and beat, if `log_format` says so."""
    settings = _settings()
    if settings is not None and settings.log_format == "json":
        try:
            from slowwave_server.workers.log_lines import JsonLines  # noqa: PLC0415 (as above)
        except ImportError as error:
            raise _missing("log_format: json", error, "json-logs") from None
        for handler in logger.handlers:
            handler.setFormatter(JsonLines())
