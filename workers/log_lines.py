"""Logs as JSON, one object a line, where `log_format` is json: who wrote it, in which task, whose work, which trace.

Lines hold names and numbers, never what somebody said. An error with a trace is named by its kind and its places in the
code: its text may quote a value. Of libraries' messages the first line is kept, since some show a message's body below.
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
    """A line: time, level, logger, process, message; and where known task, task_id, tenant, agent, session, run,
    trace_id, span_id, error and its places (FILE:LINE FUNCTION, the innermost last).
    """

    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, _: dict[str, Any]) -> None:
        """What a record carries besides (`extra`) stays out: Celery's holds arguments."""
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
        # The error as text, which its kind below stands for.
        text = str(record.msg) % {**record.args, "exc": "see error"}
    return text.strip().split("\n", 1)[0][:_MAX_CHARACTERS]


def _error(error: BaseException) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)[-_PLACES:]
    places = [f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}" for frame in frames]
    return {"error": type(error).__name__, "places": places}
