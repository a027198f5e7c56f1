"""Rewrite an existing memory file: Slowwave's lines change with the memories, all other lines stay byte for byte.

If the file contains only Slowwave's lines, the result equals a fresh rendering.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from uuid import UUID

from slowwave_server.domain.memory_files.documents import Document, Entry
from slowwave_server.domain.memory_files.headers import FileHeader, is_header, render_header
from slowwave_server.domain.memory_files.lines import FileMemory, render_line
from slowwave_server.domain.memory_files.rendering import section_of, section_order
from slowwave_server.domain.memory_files.summaries import FileSummary, render_summary

_FIRST = UUID(int=0)
_BLANK_SECTION = 3


@dataclass(frozen=True, slots=True)
class _Item:
    """A piece of the new file.

    Attributes:
        own: the id of the memory on the line, if Slowwave wrote the line.
        heading: the text of a Slowwave heading.
        of: the agent to whom a summary belongs.
        number: the number of the original entry, 0 for a new one.
        edited: True if a person edited the summary.
        is_heading: True if a section begins here, Slowwave's or another one.
    """

    raw: str
    section: str | None = None
    own: UUID | None = None
    heading: str | None = None
    of: str | None = None
    number: int = 0
    edited: bool = False
    is_heading: bool = False

    @property
    def blank(self) -> bool:
        return not self.raw.strip()


def rewrite(
    document: Document,
    header: FileHeader,
    memories: Iterable[FileMemory],
    summaries: Sequence[FileSummary] = (),
    *,
    placed: Mapping[int, FileMemory] | None = None,
) -> str:
    """Return the text of the file with exactly these memories and summaries of Slowwave.

    Args:
        document: the existing file.
        header: the header of the new file.
        memories: memories with ids, in any order.
        summaries: summaries of days; one that a person edited stays unchanged.
        placed: for the number of a typed or edited entry, the memory that it became; the memory's line replaces the
            entry.
    """
    wanted = {memory.id: memory for memory in memories if memory.id is not None}
    rewriter = _Rewriter(header, wanted, placed or {}, _end_of_line(document))
    items = rewriter.known(document)
    items = rewriter.with_summaries(items, {summary.agent: summary for summary in summaries})
    items = rewriter.with_new(items)
    items = rewriter.without_empty(items)
    items = rewriter.with_sections(items)
    return _joined(items)


def _end_of_line(document: Document) -> str:
    return "\r\n" if document.entries and document.entries[0].raw.endswith("\r\n") else "\n"


def _joined(items: Sequence[_Item]) -> str:
    # A person's last line may lack its line end; it gets one if a Slowwave line follows.
    closed = (item.raw if item.raw.endswith("\n") else f"{item.raw}\n" for item in items[:-1])
    return "".join(closed) + (items[-1].raw if items else "")


class _Rewriter:
    def __init__(
        self,
        header: FileHeader,
        wanted: Mapping[UUID, FileMemory],
        placed: Mapping[int, FileMemory],
        end: str,
    ) -> None:
        self._header = header
        self._placed = placed
        self._end = end
        self._wanted = wanted
        self._present: set[UUID] = set()
        # Numbers of the headings above Slowwave's lines; 0 means before any heading.
        self._had: set[int] = set()
        self._heading_number = 0

    def known(self, document: Document) -> list[_Item]:
        """Return the header and the existing entries, with the current text of Slowwave's lines."""
        entries = list(document.entries)
        head = f"{render_header(self._header)}{self._end}"
        if entries and is_header(entries[0].raw):
            first = entries.pop(0)
            head = first.raw if document.header == self._header else head
        items = [_Item(head)]
        if entries and document.header is None and entries[0].raw.strip():
            items.append(self._blank())
        # A placed memory must not be written again elsewhere, so collect the placed ids first.
        placed = {memory.id for memory in self._placed.values()}
        for entry in entries:
            item = self._item(entry, placed)
            if item is not None:
                items.append(item)
        return items

    def _item(self, entry: Entry, placed: Collection[UUID | None]) -> _Item | None:
        item = _Item(entry.raw, entry.section, number=entry.number)
        if entry.kind == "heading":
            self._heading_number = entry.number
            return replace(item, heading=entry.section or None, is_heading=True)
        if entry.summary is not None:
            return replace(item, of=entry.summary.agent, edited=entry.summary.edited, is_heading=True)
        if entry.number in self._placed:
            return self._own(item, self._placed[entry.number], entry)
        if entry.memory is None or entry.memory.id is None:
            return item
        return self._line_of(item, entry, entry.memory, entry.memory.id, placed)

    def _line_of(
        self, item: _Item, entry: Entry, before: FileMemory, identity: UUID, placed: Collection[UUID | None]
    ) -> _Item | None:
        """Return the current text of a Slowwave line; None if the line is removed."""
        if entry.section:
            self._had.add(self._heading_number)
        now = self._wanted.get(identity)
        if now is None or identity in placed or self._was_moved(entry, before, now):
            return None
        if identity in self._present:
            return None if before == now else item
        return self._own(item, now, entry)

    def _own(self, item: _Item, now: FileMemory, entry: Entry) -> _Item:
        if now.id is not None:
            self._present.add(now.id)
        # A person's own bullet sign or blanks stay while the memory is unchanged.
        raw = entry.raw if entry.memory == now else f"{render_line(now)}{self._end}"
        return replace(item, raw=raw, own=now.id)

    def _was_moved(self, entry: Entry, before: FileMemory, now: FileMemory) -> bool:
        """Return True if the line is in the section of its old type and its memory has a new type."""
        here = entry.section == section_of(self._header, before)
        return here and section_of(self._header, now) != entry.section and now.id not in self._present

    def _blank(self) -> _Item:
        return _Item(self._end)

    def with_summaries(self, items: list[_Item], wanted: dict[str, FileSummary]) -> list[_Item]:
        """Update existing summaries in place; insert new ones after the header, by agent."""
        kept: list[_Item] = []
        for item in items:
            summary = None if item.of is None else wanted.pop(item.of, None)
            if item.of is None or item.edited:
                kept.append(item)
            elif summary is not None:
                kept.append(replace(item, raw=self._rendered(summary)))
            elif kept and kept[-1].blank:
                kept.pop()
        for agent in sorted(wanted):
            self._insert_summary(kept, agent, wanted[agent])
        return kept

    def _insert_summary(self, items: list[_Item], agent: str, summary: FileSummary) -> None:
        new = _Item(self._rendered(summary), of=agent, is_heading=True)
        known = [n for n, item in enumerate(items) if item.of is not None]
        later = next((n for n in known if (items[n].of or "") > agent), None)
        if later is not None:
            items[later:later] = [new, self._blank()]
        else:
            behind = known[-1] + 1 if known else 1
            items[behind:behind] = [self._blank(), new]

    def _rendered(self, summary: FileSummary) -> str:
        return render_summary(summary, shared=self._header.shared).replace("\n", self._end)

    def with_new(self, items: list[_Item]) -> list[_Item]:
        """Insert new memories into their section, by id, if the file has that section."""
        before: dict[int, list[_Item]] = {}
        for title, new in self._missing().items():
            heading = next((n for n, item in enumerate(items) if item.heading == title), None)
            if heading is None:
                continue
            places = [n for n, item in enumerate(items) if item.section == title and item.own is not None]
            # Insert before the first line with a greater id, even if a person changed the order of the lines.
            highest = list(accumulate((items[n].own or _FIRST for n in places), max))
            behind = places[-1] + 1 if places else self._behind(items, heading)
            for memory in new:
                at = bisect_right(highest, memory.id or _FIRST)
                place = places[at] if at < len(places) else behind
                before.setdefault(place, []).append(self._line(memory, title))
        if not before:
            return items
        merged: list[_Item] = []
        for n, item in enumerate([*items, None]):
            merged.extend(before.get(n, ()))
            if item is not None:
                merged.append(item)
        return merged

    def _behind(self, items: Sequence[_Item], heading: int) -> int:
        return heading + (2 if heading + 1 < len(items) and items[heading + 1].blank else 1)

    def _missing(self) -> dict[str, list[FileMemory]]:
        sections: dict[str, list[FileMemory]] = {}
        new = (memory for identity, memory in self._wanted.items() if identity not in self._present)
        for memory in sorted(new, key=lambda memory: memory.id or _FIRST):
            sections.setdefault(section_of(self._header, memory), []).append(memory)
        return sections

    def _line(self, memory: FileMemory, title: str) -> _Item:
        if memory.id is not None:
            self._present.add(memory.id)
        return _Item(f"{render_line(memory)}{self._end}", title, memory.id)

    def without_empty(self, items: list[_Item]) -> list[_Item]:
        """Remove Slowwave's headings that lost their last line and have no other content."""
        kept: list[_Item] = []
        at = 0
        while at < len(items):
            end = next((n for n in range(at + 1, len(items)) if items[n].is_heading), len(items))
            block = items[at:end]
            if block[0].heading and block[0].number in self._had and all(item.blank for item in block[1:]):
                # Keep one blank line between sections: if none follows the heading, remove the one before it.
                if len(block) < _BLANK_SECTION and kept and kept[-1].blank:
                    kept.pop()
            else:
                kept.extend(block)
            at = end
        return kept

    def with_sections(self, items: list[_Item]) -> list[_Item]:
        """Insert missing sections, in their order among Slowwave's sections, else at the end."""
        order = section_order(self._header)
        for title, new in sorted(self._missing().items(), key=lambda part: order.index(part[0])):
            later = frozenset(order[order.index(title) + 1 :])
            at = next((n for n, item in enumerate(items) if item.heading in later), len(items))
            part = [_Item(f"## {title}{self._end}", title, heading=title, is_heading=True), self._blank()]
            part.extend(self._line(memory, title) for memory in new)
            if at < len(items):
                part.append(self._blank())
            if not items[at - 1].blank:
                part.insert(0, self._blank())
            items[at:at] = part
        return items
