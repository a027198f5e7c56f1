"""A judge of statements that says what a test wants."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from slowwave_server.domain.extraction.worth import Proposal


@dataclass
class Judge:
    """Says of each text what `likes` says, and remembers what it was asked."""

    likes: Callable[[str], float]
    asked: list[str] = field(default_factory=list)
    name: str = "test"

    def __call__(self, proposals: Sequence[Proposal], /) -> Sequence[float]:
        self.asked += [one.text for one in proposals]
        return [self.likes(one.text) for one in proposals]
