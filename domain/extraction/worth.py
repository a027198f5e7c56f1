"""The interface of a semantic judge, which rates how much a statement would be missed if it were not kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Proposal:
    """A statement that may become a memory.

    Attributes:
        text: the statement in its final wording.
        talk: the kind of conversation: a person and an agent, two people, or more.
        role: the speaker's role, as in the event ("user", "assistant").
        type: the type that the memory would have.
    """

    text: str
    talk: Literal["agent", "pair", "group"]
    role: str
    type: str

    @property
    def about(self) -> str:
        """Return the metadata that the judge reads together with the text: "TALK, ROLE, TYPE"."""
        return f"{self.talk}, {self.role}, {self.type}"


class Worth(Protocol):
    """A judge that rates how worth remembering statements are."""

    @property
    def name(self) -> str:
        """The judge's name and version, which the run that stores a memory records."""

    def __call__(self, proposals: Sequence[Proposal], /) -> Sequence[float]:
        """Return the usefulness of each statement, in order, from 0 (nobody would miss it) to 1."""
