"""Extraction by rules: from a window of events to statements that are worth keeping.

Must not know: Celery, the database, models of language; everything here is a pure function of its arguments.
"""

from slowwave_server.domain.extraction.rules import RulesExtractor

__all__ = ["RulesExtractor"]
