"""The protocol of a source of conversations: a session with its runs, and the messages of each run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A prompt and the messages that followed it. settled: nothing is being added to it now. private: it is not to be
    recorded.

    messages: {"role", "content", "at" (aware), "key"} each and what else `slowwave.messages.Message` has; none of a
    private run.
    """

    run_id: str
    settled: bool
    private: bool
    messages: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A conversation as it is kept now. private: the whole session, even if its runs are not. runs: in their order."""

    private: bool
    runs: tuple[KeptRun, ...]


class SessionSource(Protocol):
    """Where conversations are kept. `name` is the value of `memory.source`."""

    @property
    def name(self) -> str: ...

    def read(self, session: str, runs: frozenset[str]) -> KeptSession | None:
        """Return a session with those of `runs` that it has; None if the session does not exist.

        Raises domain.failures.TransientError if the source does not answer.
        """
        ...

    def close(self) -> None:
        """Close connections; a read opens new ones."""
        ...
