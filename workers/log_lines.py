"""Write logs as JSON, one object per line, if `log_format` is json: with process, task, agent, session and trace.

Lines contain names and numbers, never text of a conversation. For an error with a traceback, the line has its class and
its places in the code, because its text may quote a value. For messages of libraries only the first line is kept,
because some add a message's body below.
"""

import logging
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from celery import current_task
from pythonjsonlogger.json import JsonFormatter

from slowwave.tracing import span_ids
from slowwave_server.services.log_context import current

_OURS = frozenset(("slowwave", "slowwave_server"))
_OF_FAILED_TASKS = "celery.app.trace"
_MAX_CHARACTERS = 2000
_PLACES = 12
"""Innermost places of a trace."""


class JsonLines(JsonFormatter):
    """One line: time, level, logger, process, message; and if known task, task_id, tenant, agent, session, run,
    trace_id, span_id, error and its places (FILE:LINE FUNCTION, the innermost last).
    """

    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, _: dict[str, Any]) -> None:
        """Omit a record's extra fields (`extra`), because Celery's contain arguments."""
        log_data |= {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "process": record.processName,
            "message": _message(record),
        }
        if current_task:
            log_data |= {"task": current_task.name, "task_id": current_task.request.id}
        log_data |= current()
        if ids := span_ids():
            log_data |= {"trace_id": ids[0], "span_id": ids[1]}
        if record.exc_info and record.exc_info[1] is not None:
            log_data |= _error(record.exc_info[1])


def _message(record: logging.LogRecord) -> str:
    if record.name.split(".", 1)[0] in _OURS:
        return record.getMessage()[:_MAX_CHARACTERS]
    text = record.getMessage()
    if record.name == _OF_FAILED_TASKS and isinstance(record.args, Mapping) and "exc" in record.args:
        # The error as text, which its class below replaces.
        text = str(record.msg) % {**record.args, "exc": "see error"}
    return text.strip().split("\n", 1)[0][:_MAX_CHARACTERS]


def _error(error: BaseException) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)[-_PLACES:]
    places = [f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}" for frame in frames]
    return {"error": type(error).__name__, "places": places}
