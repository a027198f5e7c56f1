"""What a judge of meaning is asked about a statement: whether somebody will miss it if it is not kept.

Must not know: which judge answers, or how.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Proposal:
    """A statement that may become a memory.

    Attributes:
        text: the statement as it would stand in the memory.
        talk: between a person and an agent, two people, or more.
        role: of who said it, as in the event ("user", "assistant").
        type: the type that the memory would have.
    """

    text: str
    talk: Literal["agent", "pair", "group"]
    role: str
    type: str

    @property
    def about(self) -> str:
        """What the judge reads beside the text: "TALK, ROLE, TYPE"."""
        return f"{self.talk}, {self.role}, {self.type}"


class Worth(Protocol):
    """A judge of what is worth remembering."""

    @property
    def name(self) -> str:
        """Which judge it is, with its version: it stands in the run that stored a memory."""

    def __call__(self, proposals: Sequence[Proposal], /) -> Sequence[float]:
        """How useful each statement will be, from 0 (nobody misses it) to 1, in the order of the proposals."""
