"""The requests of `Memory.search` and `Memory.context`: their arguments with defaults and checks, for every backend.

They are separate from the other requests, because each dataclass takes a millisecond of a command's start.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slowwave.recall import Format, Order


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """The arguments of `Memory.search`. now: the reference time; None means the time of the call."""

    agent: str
    query: str
    limit: int = 10
    scopes: Sequence[str] = ()
    include_review: bool = False
    now: datetime | None = None
    order: "Order" = "auto"
    max_tokens: int | None = None
    min_relevance: float = 0.0
    min_share: float = 0.0
    around: int = 0

    def __post_init__(self) -> None:
        """Raise InvalidName or InvalidQuery for an invalid argument."""
        from slowwave.recall.scopes import reader  # noqa: PLC0415 (hosts that only record need none of it)
        from slowwave.recall.search import check_search  # noqa: PLC0415 (as above)

        reader("-", self.agent, self.scopes)
        check_search(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """The arguments of `Memory.context`. now: the reference time; None means the time of the call.

    noted: True if the memories of the context count as shown; False if the caller shows only a part of the memories.
    """

    agent: str
    session: str | None = None
    query: str | None = None
    days: int | None = None
    scopes: Sequence[str] = ()
    max_tokens: int | None = None
    count_tokens: Callable[[str], int] | None = None
    format: "Format" = "markdown"
    now: datetime | None = None
    noted: bool = True

    def __post_init__(self) -> None:
        """Raise InvalidName or InvalidQuery for an invalid argument."""
        from slowwave.recall.context_query import check_context_query  # noqa: PLC0415 (as above)
        from slowwave.recall.scopes import reader  # noqa: PLC0415 (as above)

        reader("-", self.agent, self.scopes)
        check_context_query(self)
