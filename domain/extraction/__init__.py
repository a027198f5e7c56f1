"""Extraction by rules: turn a window of events into statements worth keeping.

Every function is pure.
"""

from slowwave_server.domain.extraction.rules import RulesExtractor

__all__ = ["RulesExtractor"]
