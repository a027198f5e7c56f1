"""Listen on one connection per process for tenants whose memories changed, on behalf of any number of listeners."""

import logging
import threading
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

log = logging.getLogger(__name__)

GLANCE_SECONDS = 0.2
"""After so long a channel that was asked for is listened to."""
REST_SECONDS = 1.0
_CONNECTION = {"connect_timeout": 3, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}


class Announcements:
    """Listens in a thread. heard: a function that the thread calls with each channel that has an announcement, and with
    each new channel when it is listened to, because an announcement may have come before.
    """

    def __init__(self, url: str, heard: Callable[[str], None]) -> None:
        self._url = make_conninfo(url, **_CONNECTION)
        self._heard = heard
        self._lock = threading.Lock()
        self._wanted: set[str] = set()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def want(self, channels: set[str]) -> None:
        """Listen to exactly these channels."""
        with self._lock:
            self._wanted = set(channels)
            if self._thread is None and channels and not self._ended.is_set():
                self._thread = threading.Thread(target=self._listen, name="slowwave-announcements", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """End the thread and its connection."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(5)

    def _listen(self) -> None:
        while not self._ended.is_set():
            try:
                with psycopg.connect(self._url, autocommit=True) as connection:
                    self._hear(connection)
            except psycopg.Error as error:
                log.warning("changes are read every few seconds, because none is announced: %s", error)
                self._ended.wait(REST_SECONDS)

    def _hear(self, connection: psycopg.Connection[Any]) -> None:
        listened: set[str] = set()
        while not self._ended.is_set():
            with self._lock:
                wanted = set(self._wanted)
            for channel in listened - wanted:
                connection.execute(sql.SQL("UNLISTEN {}").format(sql.Identifier(channel)))
            for channel in wanted - listened:
                connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
                self._heard(channel)
            listened = wanted
            for told in connection.notifies(timeout=GLANCE_SECONDS, stop_after=1):
                self._heard(told.channel)
