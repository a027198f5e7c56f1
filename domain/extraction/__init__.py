"""Extraction by rules: turn a window of events into statements worth keeping.

Must not know: Celery, the database, language models; every function is pure.
"""

from slowwave_server.domain.extraction.rules import RulesExtractor

__all__ = ["RulesExtractor"]
