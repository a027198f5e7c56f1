"""A sentence that could stand in a summary.

Must not know: how it was read, and whether it is chosen.
"""

from dataclasses import dataclass

from slowwave_server.domain.events import Event
from slowwave_server.domain.summaries.lines import Facet


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence as a summary would show it. fired: its signals, and what else the weights know it by; run: the id
    of the run whose milestone it is.
    """

    facet: Facet
    text: str
    speaker: str
    event: Event
    fired: tuple[str, ...]
    run: str | None = None
