"""Extraction by rules: pure functions that turn a window of events into statements worth keeping."""

from slowwave_server.domain.extraction.rules import RulesExtractor

__all__ = ["RulesExtractor"]
