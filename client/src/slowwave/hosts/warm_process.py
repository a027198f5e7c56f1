"""The helper: the process that answers the hooks of one person's hosts and empties their inbox.

If no helper runs, a hook starts one. It ends after an hour without a hook. One helper holds the lock of its folder; a
second helper that finds the lock taken ends at once.
"""

import fcntl
import json
import logging
import os
import socket
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowwave.hosts import places

if TYPE_CHECKING:
    from slowwave.hosts.contexts import Contexts
    from slowwave.hosts.recording import Recorder

log = logging.getLogger("slowwave.hosts")

IDLE_SECONDS = 3600.0
LOOK_SECONDS = 5.0
DRAIN_WAIT_SECONDS = 0.1
"""How long a question waits for what is being recorded: the last words of the session before."""
REFUSED_SECONDS = 60.0
"""How long what was not recorded waits, if no hook comes before."""
REST_SECONDS = 5.0
"""After a failure nothing is read for so long: servers that are away cost one prompt a wait, not each."""
MAX_REQUEST_BYTES = 1_000_000
MAX_CONVERSATIONS = 16
REJECTED = ".rejected"
MAX_REJECTED_FILES = 200
MAX_REJECTED_BYTES = 16_000_000


class Helper:
    """The work of a helper. idle_seconds: the seconds without a hook after which it ends."""

    def __init__(self, contexts: "Contexts", recorder: "Recorder", inbox: Path, idle_seconds: float) -> None:
        self._contexts = contexts
        self._recorder = recorder
        self._inbox = inbox
        self._idle_seconds = idle_seconds
        self._heard = time.monotonic()
        self._rests_until = float("-inf")
        self._asking = threading.Lock()
        self._wake = threading.Event()
        self._rooms = threading.BoundedSemaphore(MAX_CONVERSATIONS)

    def serve(self, listener: socket.socket) -> None:
        """Answer until no hook comes for `idle_seconds`. The next helper reads files that arrive after this time."""
        threading.Thread(target=self._drain_for_ever, daemon=True).start()
        listener.settimeout(LOOK_SECONDS)
        while time.monotonic() - self._heard < self._idle_seconds:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            self._heard = time.monotonic()
            if self._rooms.acquire(blocking=False):
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()
            else:
                connection.close()

    def drain(self) -> bool:
        """Record the files of the inbox, oldest first. Return True if a file must wait.

        A file that can't be recorded for a permanent reason gets the suffix `.rejected` and is not tried again.

        Raises SpoolFull, RateLimited and OSError.
        """
        from slowwave.errors import NotAllowed, NotFound, RateLimited, SpoolFull  # noqa: PLC0415 (loaded by then)

        kept = False
        for path in self._waiting():
            try:
                self._recorder.record(json.loads(path.read_bytes()))
            except (SpoolFull, RateLimited, OSError):
                raise
            except (NotAllowed, NotFound) as error:
                # The key may be renewed or get this agent later: keep the file, and do not let it delay other agents.
                log.warning("%s waits: %s", path.name, error)
                kept = True
                continue
            except Exception:
                log.exception("%s can't be recorded and is kept as %s%s", path.name, path.name, REJECTED)
                _reject(path)
                continue
            path.unlink()
        return kept

    def _waiting(self) -> list[Path]:
        """List complete files; a file that is still being written has a name that begins with a dot."""
        return sorted(path for path in self._inbox.glob("*.json") if not path.name.startswith("."))

    def _drain_for_ever(self) -> None:
        while True:
            kept = True
            try:
                kept = self.drain()
            except Exception as error:  # noqa: BLE001 (nothing may end this thread while files wait)
                # Probably a full disk: keep the files, and try again in the next round.
                log.error("the files in the inbox were not recorded: %s: %s", type(error).__name__, error)  # noqa: TRY400
            self._wake.wait(REFUSED_SECONDS if kept else LOOK_SECONDS)
            self._wake.clear()

    def _talk(self, connection: socket.socket) -> None:
        with ExitStack() as ends, connection, suppress(OSError, ValueError, LookupError, TypeError):
            ends.callback(self._rooms.release)
            connection.settimeout(LOOK_SECONDS)
            data = b""
            while not data.endswith(b"\n") and len(data) < MAX_REQUEST_BYTES:
                if not (part := connection.recv(65_536)):
                    return
                data += part
            request = json.loads(data)
            if request["kind"] == "wake":
                self._wake.set()
                return
            text, ids = self._answer(request)
            connection.sendall(json.dumps({"text": text}).encode() + b"\n")
            with self._asking:
                self._contexts.delivered(request, ids)

    def _answer(self, request: dict[str, Any]) -> tuple[str, set[str]]:
        from slowwave.errors import SlowwaveError  # noqa: PLC0415 (loaded by then)

        self._wake.set()
        until = time.monotonic() + DRAIN_WAIT_SECONDS
        while self._waiting() and time.monotonic() < until:
            time.sleep(0.005)
        if time.monotonic() < self._rests_until:
            raise ValueError("the servers can't be reached")
        try:
            return self._contexts.answer(request)
        except SlowwaveError as error:
            self._rests_until = time.monotonic() + REST_SECONDS
            log.warning("no context: %s", error)
            raise ValueError("no context") from None


def _reject(path: Path) -> None:
    """Rename a file to `.rejected`, and delete the oldest such files beyond the limits. Raises OSError."""
    path.rename(path.with_name(f"{path.name}{REJECTED}"))
    kept = 0
    for place, rejected in enumerate(sorted(path.parent.glob(f"*{REJECTED}"), reverse=True)):
        kept += rejected.stat().st_size
        if place >= MAX_REJECTED_FILES or (place and kept > MAX_REJECTED_BYTES):
            log.error("%s is deleted: the inbox keeps %s rejected files", rejected.name, MAX_REJECTED_FILES)
            rejected.unlink()


def main(place: str, *, idle_seconds: float = IDLE_SECONDS) -> None:
    """Serve the hooks of a folder until none comes for `idle_seconds`. Return at once if another helper serves it."""
    os.chdir(place)
    lock = os.open(places.LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    os.truncate(lock, 0)
    os.write(lock, str(os.getpid()).encode())
    Path(places.SOCKET).unlink(missing_ok=True)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        # Listen before the imports, which take a second; meanwhile, clients wait in the socket's queue.
        listener.bind(places.SOCKET)
        listener.listen(64)
        try:
            _serve(listener, idle_seconds)
        finally:
            Path(places.SOCKET).unlink(missing_ok=True)


def _serve(listener: socket.socket, idle_seconds: float) -> None:
    from slowwave.errors import InvalidSettings  # noqa: PLC0415 (as above)

    try:
        from slowwave.hosts.contexts import Contexts  # noqa: PLC0415
        from slowwave.hosts.recording import Recorder, forget_old_marks  # noqa: PLC0415
        from slowwave.hosts.sinks import open_memory  # noqa: PLC0415

        memory, sink = open_memory()
    except InvalidSettings as error:
        Path(places.UNUSABLE).write_text(f"{error}\n", encoding="utf-8")
        log.error("the settings can't be used: %s", error)  # noqa: TRY400 (the sentence says it all)
        return
    Path(places.UNUSABLE).unlink(missing_ok=True)
    _adopt()
    sessions = Path(places.SESSIONS)
    forget_old_marks(sessions)
    with memory:
        Helper(Contexts(memory), Recorder(memory, sink, sessions), Path(places.INBOX), idle_seconds).serve(listener)


def _adopt() -> None:
    """Take over the inboxes of folders whose settings are unusable, because corrected settings have another folder."""
    for unusable in Path.cwd().parent.glob(f"*/{places.UNUSABLE}"):
        for job in (unusable.parent / places.INBOX).glob("*.json"):
            with suppress(OSError):
                job.rename(Path(places.INBOX, job.name))


if __name__ == "__main__":
    main(sys.argv[1])
