"""A bound on the processor time of some work: a text that makes a pattern quadratic exceeds it by far."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Fail if the block takes more processor time of this process; how busy the machine is does not count."""
    began = time.process_time()
    yield
    assert time.process_time() - began < seconds
