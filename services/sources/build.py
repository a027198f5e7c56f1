"""The source of conversations that the settings name."""

from slowwave.settings import MemorySettings
from slowwave_server.services.sources.agno import AgnoSource
from slowwave_server.services.sources.protocol import SessionSource


def build_source(settings: MemorySettings) -> SessionSource | None:
    """Return the source that `memory.source` names; None for `events`, which hooks record. Raises InvalidSettings."""
    return AgnoSource(settings.agno) if settings.source == "agno" else None
