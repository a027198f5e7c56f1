"""What a source of conversations answers: a session with its runs, and of each what was said in it.

Must not know: any program that keeps conversations; what becomes of them here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A prompt and what came of it. settled: nothing is being added to it now. private: it is not to be recorded.

    messages: {"role", "content", "at" (aware), "key"} each and what else `slowwave.messages.Message` has; none of a
    private run.
    """

    run_id: str
    settled: bool
    private: bool
    messages: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A conversation as it is kept now. private: all of it, whatever its runs say. runs: in their order."""

    private: bool
    runs: tuple[KeptRun, ...]


class SessionSource(Protocol):
    """Where conversations are kept. `name` is the value of `memory.source`."""

    @property
    def name(self) -> str: ...

    def read(self, session: str, runs: frozenset[str]) -> KeptSession | None:
        """Answer a session with those of `runs` that it has; None where there is none.

        Raises domain.failures.TransientError where it can't be reached now.
        """
        ...

    def close(self) -> None:
        """Let go of connections; a read opens them anew."""
        ...
