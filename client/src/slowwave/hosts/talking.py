"""The hook's connection to the helper: ask it, leave work in its inbox, start it if none runs."""

# The import of pathlib takes longer than all of the hook's own modules.
# ruff: noqa: PTH104, PTH116, PTH118

import json
import os
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from slowwave.hosts.places import INBOX, LOG, SOCKET, UNUSABLE

MAX_ANSWER_BYTES = 65_536
MAX_WAITING_FILES = 2000
MAX_WAITING_BYTES = 64_000_000
UNUSABLE_SECONDS = 60.0
"""For so long no helper is started again after one that could not use its settings."""
_MAX_LOG_BYTES = 1_000_000


def ask(
    place: str, request: Mapping[str, Any], seconds: float, settings: Mapping[str, str], *, patient: bool = False
) -> str:
    """Return the helper's answer, or "" if no answer comes within `seconds`. If no helper runs, start one.

    patient: wait as long also for a helper that must be started first; it needs a second before it can answer.
    """
    until = time.monotonic() + seconds
    while (connection := _connected(place, until)) is None:
        if time.monotonic() >= until or not start_helper(place, settings):
            return ""
        if not patient:
            return ""
        time.sleep(0.01)  # a new helper listens before it imports its modules
    with connection:
        try:
            connection.sendall(json.dumps(request).encode() + b"\n")
            return _received(connection, until)
        except OSError:
            return ""


def leave(place: str, request: Mapping[str, Any], settings: Mapping[str, str]) -> None:
    """Store work in the inbox, synced to disk, and wake the helper. Raises OSError if the disk write fails."""
    _write_job(os.path.join(place, INBOX), json.dumps(request).encode())
    if (connection := _connected(place, time.monotonic() + 0.05)) is None:
        start_helper(place, settings)
        return
    with connection, suppress(OSError):
        connection.sendall(b'{"kind": "wake"}\n')


def start_helper(place: str, settings: Mapping[str, str]) -> bool:
    """Start a helper that outlives this process and shares none of its open files. False: a start is pointless."""
    global _started  # noqa: PLW0603 (a hook is one call of one process)
    if _started:
        return True
    with suppress(OSError):
        if time.time() - os.stat(os.path.join(place, UNUSABLE)).st_mtime < UNUSABLE_SECONDS:
            return False
    _started = True
    environment = {**os.environ, **settings}
    command = [sys.executable, "-m", "slowwave.hosts.warm_process", place]
    if os.fork() == 0:
        try:
            os.setsid()
            # The host reads this process' output until it is closed, so the helper must not inherit it.
            nothing = os.open(os.devnull, os.O_RDWR)
            log = os.open(os.path.join(place, LOG), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            if os.fstat(log).st_size > _MAX_LOG_BYTES:
                os.ftruncate(log, 0)
            for number, descriptor in enumerate((nothing, log, log)):
                os.dup2(descriptor, number)
            os.closerange(3, 256)
            os.chdir(place)
            os.execve(sys.executable, command, environment)  # noqa: S606 (this interpreter)
        finally:
            os._exit(1)
    return True


_started = False


def _connected(place: str, until: float) -> socket.socket | None:
    """Return a connection to the helper, or None if no helper listens."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    here = os.open(".", os.O_RDONLY)
    try:
        # A socket's path has at most 107 bytes; a relative path stays shorter, whatever the home directory is called.
        os.chdir(place)
        connection.settimeout(max(0.01, until - time.monotonic()))
        connection.connect(SOCKET)
    except OSError:
        connection.close()
        return None
    finally:
        os.chdir(here)
        os.close(here)
    return connection


def _received(connection: socket.socket, until: float) -> str:
    data = b""
    while not data.endswith(b"\n") and len(data) < MAX_ANSWER_BYTES:
        connection.settimeout(max(0.001, until - time.monotonic()))
        part = connection.recv(MAX_ANSWER_BYTES)
        if not part:
            break
        data += part
    try:
        text = json.loads(data)["text"]
    except (ValueError, LookupError, TypeError):
        return ""
    return text if isinstance(text, str) else ""


def _write_job(inbox: str, data: bytes) -> None:
    """Write and sync a file in one step. Raises OSError, also if too many files wait in the inbox."""
    waiting = [entry.stat().st_size for entry in os.scandir(inbox) if entry.name.endswith(".json")]
    if len(waiting) >= MAX_WAITING_FILES or sum(waiting) + len(data) > MAX_WAITING_BYTES:
        raise OSError(f"{inbox} holds {len(waiting)} files that no helper took")
    name = f"{time.time_ns():020d}-{os.getpid()}.json"
    hidden = os.path.join(inbox, f".{name}")
    descriptor = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.rename(hidden, os.path.join(inbox, name))
