"""Faults as context managers, one for each kind; the block lasts as long as the fault.

Each yields its target. All work without privileges, except a full disk: this needs a separate file system (`mount`, in
a mount namespace of the run) or, without root, a folder that can't be written.
"""

import errno
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

from sqlalchemy import text

from proof.chaos import messages
from proof.chaos.places import put
from proof.chaos.plan import KINDS, Fault
from proof.chaos.world import WORKERS, World
from proof.servers import children_of, until
from slowwave_server.workers.stack.child import Child

Making = Callable[[World, Fault], AbstractContextManager[str]]

# A server may request a wait of up to an hour, so such a due time looks valid: a session that fails while a clock is up
# to an hour ahead waits for it. Later due times are corrected.
_CLOCK_STEPS = (90.0, 2 * 3600.0, 6 * 3600.0)
_ALIVE_SECONDS = 45.0
_BALLAST = "ballast"
_CUT = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE usename = current_user AND pid <> pg_backend_pid()
"""


@contextmanager
def _flushall(world: World, _: Fault) -> Iterator[str]:
    with world.client() as client:
        client.flushall()
    yield "valkey"


@contextmanager
def _valkey_stop(world: World, _: Fault) -> Iterator[str]:
    world.servers.valkey.stop()
    yield "valkey"
    world.servers.valkey.start()


@contextmanager
def _valkey_kill(world: World, _: Fault) -> Iterator[str]:
    world.servers.valkey.stop(signal.SIGKILL)
    yield "valkey"
    world.servers.valkey.start()


@contextmanager
def _valkey_pause(world: World, _: Fault) -> Iterator[str]:
    world.servers.valkey.pause()
    yield "valkey"
    world.servers.valkey.resume()


@contextmanager
def _messages_copied(world: World, _: Fault) -> Iterator[str]:
    with world.client() as client:
        yield f"{messages.copy_all(client)} messages"


@contextmanager
def _messages_held(world: World, _: Fault) -> Iterator[str]:
    with world.client() as client:
        held = messages.take_all(client)
        yield f"{sum(map(len, held.values()))} messages"
        messages.put_back(client, held)


@contextmanager
def _messages_lost(world: World, _: Fault) -> Iterator[str]:
    with world.client() as client:
        yield f"{sum(map(len, messages.take_all(client).values()))} messages"


@contextmanager
def _postgres_stop(world: World, _: Fault) -> Iterator[str]:
    world.servers.postgres.stop(signal.SIGQUIT)
    yield "postgres"
    world.servers.postgres.start()


@contextmanager
def _postgres_pause(world: World, _: Fault) -> Iterator[str]:
    world.servers.postgres.pause()
    yield "postgres"
    world.servers.postgres.resume()


@contextmanager
def _postgres_cut(world: World, _: Fault) -> Iterator[str]:
    engine = world.engine
    with engine.connect() as connection:
        ended = connection.execute(text(_CUT)).scalar_one()
    engine.dispose()
    yield f"{ended} connections"


@contextmanager
def _spool_full(world: World, fault: Fault) -> Iterator[str]:
    with ExitStack() as full:
        for number in range(world.options.talkers):
            full.enter_context(_full(world.places.spool(number), disk=world.disks))
        with _postgres_stop(world, fault):
            yield "every spool"


@contextmanager
def _full(folder: Path, *, disk: bool) -> Iterator[None]:
    """Fill a folder. disk: the folder is a separate file system; otherwise make the folder unwritable."""
    if not disk:
        folder.chmod(0o500)
        yield
        folder.chmod(0o700)
        return
    ballast = folder / _BALLAST
    with ballast.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            with suppress(OSError):
                while True:
                    file.write(b"\0" * size)
    yield
    ballast.unlink()


@contextmanager
def _worker_child(world: World, fault: Fault) -> Iterator[str]:
    pools = [child for child, worker in zip(world.workers, WORKERS, strict=True) if worker.name != "threads"]
    grown = [(child.program.name, one) for child in pools for one in children_of(_alive(child))]
    name, pid = grown[int(fault.pick * len(grown))] if grown else ("no", 0)
    if pid:
        _kill(pid)
    yield f"{name}'s child"


@contextmanager
def _worker_parent(world: World, fault: Fault) -> Iterator[str]:
    child = _one_of(world.workers, fault)
    _kill(_alive(child))
    yield child.program.name


@contextmanager
def _worker_orphans(world: World, _: Fault) -> Iterator[str]:
    """While its guardian is suspended, nothing cleans up after a killed worker or restarts it."""
    child = world.workers[1]
    pid = _alive(child)
    guardian = _parent_of(pid)
    os.kill(guardian, signal.SIGSTOP)
    try:
        left = len(children_of(pid))
        _kill(pid)
        yield f"{child.program.name}, {left} children left"
    finally:
        os.kill(guardian, signal.SIGCONT)


@contextmanager
def _beat(world: World, _: Fault) -> Iterator[str]:
    _kill(_alive(world.beat))
    yield "beat"


@contextmanager
def _talker(world: World, fault: Fault) -> Iterator[str]:
    child = _one_of(world.talkers, fault)
    _kill(_alive(child))
    yield child.program.name


@contextmanager
def _clock_ahead(world: World, fault: Fault) -> Iterator[str]:
    with _wrong_clock(world, fault, 1.0) as said:
        yield said


@contextmanager
def _clock_behind(world: World, fault: Fault) -> Iterator[str]:
    with _wrong_clock(world, fault, -1.0) as said:
        yield said


@contextmanager
def _wrong_clock(world: World, fault: Fault, sign: float) -> Iterator[str]:
    step = _CLOCK_STEPS[int(fault.pick * len(_CLOCK_STEPS))]
    put(world.places.clock, str(sign * step))
    yield f"by {step:g} s"
    world.places.clock.unlink()


def _model(mode: str) -> Making:
    @contextmanager
    def behave(world: World, _: Fault) -> Iterator[str]:
        put(world.places.model_mode, mode)
        yield "the model"
        world.places.model_mode.unlink()

    return behave


MAKE: Mapping[str, Making] = {
    "flushall": _flushall,
    "valkey-stop": _valkey_stop,
    "valkey-kill": _valkey_kill,
    "valkey-pause": _valkey_pause,
    "messages-copied": _messages_copied,
    "messages-held": _messages_held,
    "messages-lost": _messages_lost,
    "postgres-stop": _postgres_stop,
    "postgres-pause": _postgres_pause,
    "postgres-cut": _postgres_cut,
    "spool-full": _spool_full,
    "worker-child": _worker_child,
    "worker-parent": _worker_parent,
    "worker-orphans": _worker_orphans,
    "beat": _beat,
    "talker": _talker,
    "clock-ahead": _clock_ahead,
    "clock-behind": _clock_behind,
    **{f"model-{mode}": _model(mode) for mode in ("slow", "limited", "broken", "cut")},
}


def impossible(*, disks: bool) -> list[str]:
    """Return kinds that are impossible here: without a separate file system, root can write while the disk has room."""
    return [] if disks or os.geteuid() else ["spool-full"]


def unmade() -> set[str]:
    """Return kinds of the plan without an implementation; the result must be empty."""
    return {kind.name for kind in KINDS} - set(MAKE)


def _one_of(children: list[Child], fault: Fault) -> Child:
    return children[int(fault.pick * len(children))]


def _alive(child: Child) -> int:
    """Return the process of a program; wait if the program is restarting."""
    until(lambda: child.pid is not None, _ALIVE_SECONDS, f"{child.program.name} runs")
    return child.pid or 0


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError as error:
        if error.errno != errno.ESRCH:
            raise


def _parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])
