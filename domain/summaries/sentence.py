"""A candidate sentence of a summary."""

from dataclasses import dataclass

from slowwave_server.domain.events import Event
from slowwave_server.domain.summaries.lines import Facet


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence in its summary form. fired: its signals and other weighted properties; run: a milestone's run id."""

    facet: Facet
    text: str
    speaker: str
    event: Event
    fired: tuple[str, ...]
    run: str | None = None
