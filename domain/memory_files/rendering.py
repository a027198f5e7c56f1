"""Render new memory files: `MEMORY.md`, an agent's permanent memory, and `daily/YYYY-MM-DD.md`, its log.

Sections have a fixed order, and memories are sorted by id, so that the same memories always give the same bytes.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from slowwave_server.domain.memory_files.headers import FileHeader, render_header
from slowwave_server.domain.memory_files.lines import FileMemory, render_line
from slowwave_server.domain.memory_files.summaries import FileSummary, render_summary

TITLES = {
    "fact": "Facts",
    "preference": "Preferences",
    "instruction": "Instructions",
    "decision": "Decisions",
    "task": "Tasks",
    "event": "Events",
    "result": "Results",
    "lesson": "Lessons",
    "summary": "Summaries",
}
"""The sections of `MEMORY.md`, in their order."""
NOTES = "Notes"
"""The only section of memories in a daily file."""


def section_of(header: FileHeader, memory: FileMemory) -> str:
    """Return the heading of a memory's section."""
    return TITLES[memory.type] if header.day is None else NOTES


def section_order(header: FileHeader) -> list[str]:
    """Return the headings of a file, in their order."""
    return list(TITLES.values()) if header.day is None else [NOTES]


def render_memory_md(header: FileHeader, memories: Iterable[FileMemory]) -> Iterator[str]:
    """Yield the lines of `MEMORY.md`, line ends included. memories: by type in the order of TITLES, then by id."""
    return _render(header, memories, ())


def render_daily(
    header: FileHeader, memories: Iterable[FileMemory], summaries: Sequence[FileSummary] = ()
) -> Iterator[str]:
    """Yield the lines of a daily file. memories: by id; summaries: by agent."""
    return _render(header, memories, summaries)


def _render(header: FileHeader, memories: Iterable[FileMemory], summaries: Sequence[FileSummary]) -> Iterator[str]:
    yield f"{render_header(header)}\n"
    for summary in summaries:
        yield "\n"
        yield render_summary(summary, shared=header.shared)
    for title, part in groupby(memories, key=lambda memory: section_of(header, memory)):
        yield f"\n## {title}\n\n"
        for memory in part:
            yield f"{render_line(memory)}\n"
