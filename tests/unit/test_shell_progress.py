"""How far a long command is, told on stderr."""

import io
import threading

from sqlalchemy.exc import OperationalError

from slowwave_server.workers.cli.progress import progress


class Lines(io.StringIO):
    """A stream that can be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Semaphore(0)

    def flush(self) -> None:
        self.written.release()


def test_a_long_command_tells_how_far_it_is() -> None:
    out = Lines()
    with progress("making vectors", lambda: "3 memories have one", first=0.01, every=0.01, out=out):
        assert out.written.acquire(timeout=10)
        assert out.written.acquire(timeout=10)
    lines = out.getvalue().splitlines()
    assert len(lines) >= 2
    assert {line.partition(", ")[0] for line in lines} == {"making vectors"}
    assert {line.partition(": ")[2] for line in lines} == {"3 memories have one"}


def test_a_quick_command_tells_nothing() -> None:
    out = Lines()
    with progress("making vectors", lambda: "none", first=60, out=out):
        pass
    assert out.getvalue() == ""


def test_a_database_that_is_away_does_not_end_progress() -> None:
    def away() -> str:
        raise OperationalError("SELECT 1", {}, Exception("away"))

    out = Lines()
    with progress("consolidating", away, first=0.01, every=0.01, out=out):
        assert out.written.acquire(timeout=10)
        assert out.written.acquire(timeout=10)
    assert out.getvalue().startswith("consolidating, ")
