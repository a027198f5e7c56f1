"""Celery processes that fork from a server that has imported the app: to import it takes two seconds of a core."""

import atexit
import multiprocessing
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

from tests.support.processes import wait_until

_IMPORTED = [
    "celery.bin.celery", "celery.apps.worker", "celery.apps.beat", "kombu.transport.redis",
    "detect_secrets.plugins.aws", "slowwave_judge.pairs", "slowwave_server.workers.app",
    "slowwave_server.services.forget.forget", "slowwave_server.services.memory_files.sync",
    "slowwave_server.services.webhooks.delivery", "slowwave_server.services.working.cycle",
]  # fmt: skip
"""What a process imports at its start, or for its first tasks."""


@cache
def _server() -> ForkServerContext:
    """The server of this run. Its folder may be gone before the run ends: multiprocessing's own must not be."""
    folder = tempfile.mkdtemp(prefix="slowwave-fork-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    multiprocessing.current_process()._config["tempdir"] = folder  # type: ignore[attr-defined]
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(_IMPORTED)
    return server


class Forked:
    """A process of `celery ARGUMENTS` in a group of its own, with the methods of Popen that tests need."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], log: Path, folder: Path) -> None:
        self._process: ForkServerProcess = _server().Process(
            target=_run, args=(tuple(arguments), dict(environment), str(log), str(folder))
        )
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid
        wait_until(self._leads_a_group, 20, "the process has a group of its own")

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, seconds: float) -> int:
        self._process.join(seconds)
        if self._process.exitcode is None:
            raise TimeoutError(f"the process runs after {seconds} s")
        return self._process.exitcode

    def _leads_a_group(self) -> bool:
        try:
            return os.getpgid(self.pid) == self.pid
        except ProcessLookupError:
            return True


def _run(arguments: Sequence[str], environment: Mapping[str, str], log: str, folder: str) -> None:
    os.setsid()
    os.chdir(folder)
    with Path(log).open("ab") as out, Path(os.devnull).open("rb") as nothing:
        for source, descriptor in ((nothing, 0), (out, 1), (out, 2)):
            os.dup2(source.fileno(), descriptor)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["celery", *arguments]
    from celery.__main__ import main  # noqa: PLC0415

    try:
        main()
    finally:
        atexit._run_exitfuncs()  # a process that forked ends without them
