"""Summaries of days: sentences chosen from the events, with their speakers; deterministic for the same events.

cut_segments splits a session's events of one day, summarize_segment chooses sentences from each segment, and
merge_lines merges the segments within a word limit.
"""

from slowwave_server.domain.summaries.lines import FACETS, DaySummary, Facet, Line
from slowwave_server.domain.summaries.merging import merge_lines
from slowwave_server.domain.summaries.segment import MAX_SEGMENT_LINES, SUMMARIZER, summarize_segment
from slowwave_server.domain.summaries.segments import MAX_SEGMENT_CHARACTERS, MAX_SEGMENT_EVENTS, Segment, cut_segments

__all__ = [
    "FACETS",
    "MAX_SEGMENT_CHARACTERS",
    "MAX_SEGMENT_EVENTS",
    "MAX_SEGMENT_LINES",
    "SUMMARIZER",
    "DaySummary",
    "Facet",
    "Line",
    "Segment",
    "cut_segments",
    "merge_lines",
    "summarize_segment",
]
