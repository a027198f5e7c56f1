"""The console's log on stderr: failures, and actions of people that no row stores with their name (dead letters sent
again or dismissed, paused jobs, retried events).

For an error, the log has its class and its places in the code, because its text may quote a conversation.
"""

import logging
import traceback
from copy import copy
from types import TracebackType
from typing import TextIO

from slowwave.settings import Settings
from slowwave_server.workers.log_lines import JsonLines

PLACES = 12
Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class PlainLines(logging.Formatter):
    """Lines for people."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        # Another handler may have cached its own text of the error in the record.
        record = copy(record)
        record.exc_text = None
        return super().format(record)

    def formatException(self, ei: Raised) -> str:  # noqa: N802 (its name in logging)
        kind, _, trace = ei
        frames = traceback.extract_tb(trace)[-PLACES:]
        places = [f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}" for frame in frames]
        return "\n  ".join([kind.__name__ if kind is not None else "", *places])


def write_log(settings: Settings, stream: TextIO | None = None) -> logging.Handler:
    """Write the log from now on, in the format of `log_format`; to stderr unless another stream is given."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if settings.log_format == "json" else PlainLines())
    handler.setLevel(logging.INFO)
    logging.getLogger().addHandler(handler)
    logging.getLogger("slowwave_server.workers.console").setLevel(logging.INFO)
    return handler
