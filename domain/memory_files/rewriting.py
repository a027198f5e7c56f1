"""A memory file written again over what stands in it: our lines follow the memories, everybody else's stay byte for
byte.

Written over a file that holds nothing but ours, the result is what rendering would write.

Must not know: files; whether somebody's edit of a line is wanted (the caller says which entries stay or what they
became).
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
    """A piece of the file to be. own: the memory whose line it is; heading: of ours, as text; of: a summary's agent.

    number: of the entry that it was, 0 for a new one. edited: a summary that somebody edited. is_heading: a section,
    ours or not, begins here.
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
    keep: Collection[int] = (),
) -> str:
    """The text of the file with these memories and summaries, and no others of ours.

    memories: with ids, in any order. placed: what a typed or edited entry (by its number) became; its line goes there.
    keep: numbers of entries that stay as they are, though we would write something else. An edited summary stays.
    """
    wanted = {memory.id: memory for memory in memories if memory.id is not None}
    rewriter = _Rewriter(header, wanted, placed or {}, frozenset(keep), _end_of_line(document))
    items = rewriter.known(document)
    items = rewriter.with_summaries(items, {summary.agent: summary for summary in summaries})
    items = rewriter.with_new(items)
    items = rewriter.without_empty(items)
    items = rewriter.with_sections(items)
    return _joined(items)


def _end_of_line(document: Document) -> str:
    return "\r\n" if document.entries and document.entries[0].raw.endswith("\r\n") else "\n"


def _joined(items: Sequence[_Item]) -> str:
    # Somebody's last line may have no end; it gets one where a line of ours follows.
    closed = (item.raw if item.raw.endswith("\n") else f"{item.raw}\n" for item in items[:-1])
    return "".join(closed) + (items[-1].raw if items else "")


class _Rewriter:
    def __init__(
        self,
        header: FileHeader,
        wanted: Mapping[UUID, FileMemory],
        placed: Mapping[int, FileMemory],
        keep: frozenset[int],
        end: str,
    ) -> None:
        self._header = header
        self._placed = placed
        self._keep = keep
        self._end = end
        self._wanted = wanted
        self._present: set[UUID] = set()
        # Numbers of the headings that lines of ours stood below; 0: before any heading.
        self._had: set[int] = set()
        self._heading_number = 0

    def known(self, document: Document) -> list[_Item]:
        """The head and what stands in the file, our lines as they are now."""
        entries = list(document.entries)
        head = f"{render_header(self._header)}{self._end}"
        if entries and is_header(entries[0].raw):
            first = entries.pop(0)
            head = first.raw if document.header == self._header else head
        items = [_Item(head)]
        if entries and document.header is None and entries[0].raw.strip():
            items.append(self._blank())
        # What was placed comes first in the count of lines: it is written there and nowhere else.
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
        """A line of ours, as it is now; None where it goes."""
        if entry.section:
            self._had.add(self._heading_number)
        if entry.number in self._keep:
            self._present.add(identity)
            return replace(item, own=identity)
        now = self._wanted.get(identity)
        if now is None or identity in placed or self._was_moved(entry, before, now):
            return None
        if identity in self._present:
            return None if before == now else item
        return self._own(item, now, entry)

    def _own(self, item: _Item, now: FileMemory, entry: Entry) -> _Item:
        if now.id is not None:
            self._present.add(now.id)
        # Somebody's own bullet sign or blanks stay as long as the memory does.
        raw = entry.raw if entry.memory == now else f"{render_line(now)}{self._end}"
        return replace(item, raw=raw, own=now.id)

    def _was_moved(self, entry: Entry, before: FileMemory, now: FileMemory) -> bool:
        """Whether the line stands where its old type belongs and has another type now."""
        here = entry.section == section_of(self._header, before)
        return here and section_of(self._header, now) != entry.section and now.id not in self._present

    def _blank(self) -> _Item:
        return _Item(self._end)

    def with_summaries(self, items: list[_Item], wanted: dict[str, FileSummary]) -> list[_Item]:
        """Summaries that stand here follow what they are now; new ones come behind the head, by agent."""
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
        """New memories among those of their section, by id, where the file has the section."""
        before: dict[int, list[_Item]] = {}
        for title, new in self._missing().items():
            heading = next((n for n, item in enumerate(items) if item.heading == title), None)
            if heading is None:
                continue
            places = [n for n, item in enumerate(items) if item.section == title and item.own is not None]
            # The first line with a greater id, also where somebody changed their order.
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
        """Without the headings of ours that lost their last line and hold nothing of anybody's."""
        kept: list[_Item] = []
        at = 0
        while at < len(items):
            end = next((n for n in range(at + 1, len(items)) if items[n].is_heading), len(items))
            block = items[at:end]
            if block[0].heading and block[0].number in self._had and all(item.blank for item in block[1:]):
                # One blank line below the heading, one before the next: where that is missing the one before goes.
                if len(block) < _BLANK_SECTION and kept and kept[-1].blank:
                    kept.pop()
            else:
                kept.extend(block)
            at = end
        return kept

    def with_sections(self, items: list[_Item]) -> list[_Item]:
        """With the sections that the file did not have, in their order among ours, else at its end."""
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
