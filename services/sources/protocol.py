"""The interface of a source of conversations: a session with its runs, and the messages of each run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A prompt and the messages that followed it. settled: True if no more messages are being added; private: True if
    it must not be recorded.

    messages: each with {"role", "content", "at" (aware), "key"} and further fields of `slowwave.messages.Message`;
    empty for a private run.
    """

    run_id: str
    settled: bool
    private: bool
    messages: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A conversation in its present state. private: the whole session, whatever its runs are; runs: in order."""

    private: bool
    runs: tuple[KeptRun, ...]


class SessionSource(Protocol):
    """A place where conversations are kept. name: the value of `memory.source`."""

    @property
    def name(self) -> str: ...

    def read(self, session: str, runs: frozenset[str]) -> KeptSession | None:
        """Return a session with those of `runs` that it has, or None. Raises domain.failures.TransientError."""
        ...

    def close(self) -> None:
        """Close connections; a read opens new ones."""
        ...
