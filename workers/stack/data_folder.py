"""The data folder of a stack: its files, the process that holds it, and the phase of this process.

lock            locked (flock) by the supervisor and by every guardian; if free, no process is left
state           {"pid": …, "phase": "starting" | "ready" | "stopping"} of the holder
environment     NAME=value lines for other programs, only while the stack is ready (mode 600)
secrets.json    passwords, made once (mode 600)
ports.json      ports, selected once
logs/           NAME.log, one per program
postgres/ valkey/ beat/
"""

import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from slowwave_server.workers.stack.errors import AlreadyRunning, StackFailed

T = TypeVar("T", int, str)
Phase = Literal["starting", "ready", "stopping"]

# Guardians of a killed supervisor still stop their programs; no stop takes longer than this.
_LEAVING_SECONDS = 20.0
_READER_SECONDS = 0.5
_POLL_SECONDS = 0.05


def default_data_folder() -> Path:
    """Return the default data folder of a stack: in the user's data folder, or a system folder for root.

    Postgres never runs as root, and its system user can't enter root's home.
    """
    if os.geteuid() == 0:
        return Path("/var/lib/slowwave")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "slowwave"


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that last wrote `state`."""

    pid: int
    phase: Phase

    @property
    def alive(self) -> bool:
        """True if a process with this id exists."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True


class DataFolder:
    """The files of one stack under `root`; `claim` creates the folder."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().resolve()
        self.logs = self.root / "logs"
        self.postgres = self.root / "postgres"
        self.valkey = self.root / "valkey"
        self.beat = self.root / "beat"
        self.environment = self.root / "environment"
        self.ports = self.root / "ports.json"
        self._secrets = self.root / "secrets.json"
        self._state = self.root / "state"
        self._lock = self.root / "lock"

    @contextmanager
    def claim(self) -> Iterator[int]:
        """Lock the folder. Return the descriptor of its lock; guardians inherit it.

        Raises AlreadyRunning if another stack runs on it; waits for a stack that is stopping.
        """
        # Root's Postgres runs as another user, who must be able to enter this folder.
        mode = 0o711 if os.geteuid() == 0 else 0o700
        try:
            self.root.mkdir(mode=mode, parents=True, exist_ok=True)
            self.logs.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StackFailed(f"the data folder {self.root} can't be used: {error}") from None
        try:
            self._take(descriptor)
            # A file of a killed supervisor.
            self.environment.unlink(missing_ok=True)
            self.enter("starting")
            try:
                yield descriptor
            finally:
                self.environment.unlink(missing_ok=True)
                self._state.unlink(missing_ok=True)
        finally:
            os.close(descriptor)

    def _take(self, descriptor: int) -> None:
        asked = time.monotonic()
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            holder = self.holder()
            leaving = holder is None or holder.phase == "stopping" or not holder.alive
            if time.monotonic() - asked > (_LEAVING_SECONDS if leaving else _READER_SECONDS):
                who = f"process {holder.pid}" if holder is not None else "an unknown process"
                raise AlreadyRunning(f"a stack already runs on {self.root} ({who}): stop it, or name another folder")
            time.sleep(_POLL_SECONDS)

    def is_claimed(self) -> bool:
        """Return True if a stack, or remaining processes of a stack, hold the folder."""
        try:
            descriptor = os.open(self._lock, os.O_RDONLY)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def enter(self, phase: Phase) -> None:
        """Store the phase of the stack that this process runs here."""
        write_private(self._state, json.dumps({"pid": os.getpid(), "phase": phase}))

    def holder(self) -> Holder | None:
        """Return the process that runs a stack here by its own record; `is_claimed` tells whether it is still true."""
        try:
            return Holder(**json.loads(self._state.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def has_secret(self, name: str) -> bool:
        """Return True if a password of this name exists. Raises StackFailed."""
        return name in self._known_secrets()

    def secret(self, name: str) -> str:
        """Return the password of this name, made at first use, safe in URLs and option files. Raises StackFailed."""
        known = self._known_secrets()
        if name not in known:
            known[name] = secrets.token_urlsafe(24)
            write_private(self._secrets, json.dumps(known, indent=2))
        return known[name]

    def _known_secrets(self) -> dict[str, str]:
        return read_kept(self._secrets, str, "the next start makes new passwords and gives them to the servers")


def read_kept(file: Path, kind: type[T], after: str) -> dict[str, T]:
    """Return the values in a file of names and values; {} if it is missing. after: the consequence of its deletion, for
    the error.

    Raises StackFailed for a file with other content, such as an incomplete one.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise StackFailed(f"{file} can't be read ({error}): delete it; {after}") from None
    if not isinstance(found, dict) or not all(isinstance(value, kind) for value in found.values()):
        raise StackFailed(f"{file} must hold names with {kind.__name__} values and holds others: delete it; {after}")
    return found


def write_private(file: Path, text: str) -> None:
    """Replace a file in one step: it is never visible half written, nor readable for others in between."""
    draft = file.with_name(f"{file.name}.{os.getpid()}.draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        draft.replace(file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
