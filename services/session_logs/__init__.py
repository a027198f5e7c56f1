"""Logs of sessions as files: one line of JSON per event, complete, in order, each event once. Off by default."""

from slowwave_server.services.session_logs.folders import (
    CleanUp,
    cleanup_session_logs_older_than,
    log_path,
    remove_session_logs,
)
from slowwave_server.services.session_logs.writing import LogReport, write_session_logs

__all__ = [
    "CleanUp",
    "LogReport",
    "cleanup_session_logs_older_than",
    "log_path",
    "remove_session_logs",
    "write_session_logs",
]
