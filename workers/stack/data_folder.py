"""The data folder of a stack: what lies where, who holds it, and in which phase its holder is.

lock            held (flock) by the supervisor and by every guardian: free means that no process is left
state           {"pid": …, "phase": "starting" | "ready" | "stopping"} of the holder
environment     NAME=value lines for other programs, only while the stack is ready (mode 600)
secrets.json    passwords, made once (mode 600)
ports.json      ports, chosen once
logs/           NAME.log, one a program
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

# A supervisor that was killed leaves guardians that still stop their programs; no stop takes longer than this.
_LEAVING_SECONDS = 20.0
_READER_SECONDS = 0.5
_POLL_SECONDS = 0.05


def default_data_folder() -> Path:
    """Answer where a stack keeps its data unless told: the user's data folder, or a system folder for root.

    Postgres never runs as root, and the system user that it runs as can't enter root's home.
    """
    if os.geteuid() == 0:
        return Path("/var/lib/slowwave")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "slowwave"


@dataclass(frozen=True, slots=True)
class Holder:
    """Who wrote `state` last."""

    pid: int
    phase: Phase

    @property
    def alive(self) -> bool:
        """Whether a process of this number exists."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True


class DataFolder:
    """The files of one stack under `root`; the folder itself is made by `claim`."""

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
        """Hold the folder, and answer the descriptor of its lock; guardians inherit it.

        Raises AlreadyRunning when another stack runs on it; waits for one that is just stopping.
        """
        # Root's Postgres runs as another user, who must be able to pass through.
        mode = 0o711 if os.geteuid() == 0 else 0o700
        try:
            self.root.mkdir(mode=mode, parents=True, exist_ok=True)
            self.logs.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StackFailed(f"the data folder {self.root} can't be used: {error}") from None
        try:
            self._take(descriptor)
            # Left by a supervisor that was killed.
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
        """Whether a stack, or something that is left of one, holds the folder."""
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
        """Record the phase of the stack that this process runs here."""
        write_private(self._state, json.dumps({"pid": os.getpid(), "phase": phase}))

    def holder(self) -> Holder | None:
        """Answer who runs a stack here by its own account; `is_claimed` says whether that still holds."""
        try:
            return Holder(**json.loads(self._state.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def has_secret(self, name: str) -> bool:
        """Whether a password of that name was made. Raises StackFailed."""
        return name in self._known_secrets()

    def secret(self, name: str) -> str:
        """Answer the password of that name, made at its first use. Safe in URLs and files of options.

        Raises StackFailed.
        """
        known = self._known_secrets()
        if name not in known:
            known[name] = secrets.token_urlsafe(24)
            write_private(self._secrets, json.dumps(known, indent=2))
        return known[name]

    def _known_secrets(self) -> dict[str, str]:
        return read_kept(self._secrets, str, "the next start makes new passwords and gives them to the servers")


def read_kept(file: Path, kind: type[T], after: str) -> dict[str, T]:
    """The values of a file of names and values; {} where there is none. after: what follows once it is deleted.

    Raises StackFailed for a file that holds anything else, such as one that was cut off.
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


def write_private(file: Path, text: str, *, mode: int = 0o600) -> None:
    """Replace a file in one step; it is never seen half written, nor readable for others in between."""
    draft = file.with_name(f"{file.name}.{os.getpid()}.draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        draft.replace(file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
