"""Prints one memory: text, sources, changes, links and conflicts."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.output import console, one_line, print_rows, safe, styled
from slowwave_server.workers.shared.differences import difference

if TYPE_CHECKING:
    from slowwave_server.services.memories.file_lines import ReadLine
    from slowwave_server.services.reports.explain import ChangeMade, Explanation, MemoryFlush
    from slowwave_server.services.reports.relations import Conflict, LinkedMemory, MemoryPart

WIDTH = 300


def print_life(found: "Explanation") -> None:
    """Print the memory with everything that is known about it."""
    out = console()
    out.print(styled(found.content, "bold"), soft_wrap=True)
    print_rows(out, _head(found), indent=2)
    _said(found)
    _section("Noted by the agent itself", (_noted(note.session, note.content) for note in found.notes))
    _section("Read in files", (_read(line) for line in found.lines))
    _section("Merged into it", (_part(part) for part in found.parts))
    _section("Versions over time", (_part(part, here=part.id == found.id) for part in found.chain))
    _section("Conflicts", (_conflict(conflict) for conflict in found.conflicts))
    _section(
        "Questions",
        (
            f"{item.id}  {item.state}, {item.tier} risk"
            + (f", by {item.decided_by}" if item.decided_by else f", until {item.expires_at:%Y-%m-%d}")
            + f": {item.why}"
            for item in found.questions
        ),
    )
    _section("Links", (_link(link) for link in found.links))
    _section("States", (f"{triple.subject} — {triple.predicate} — {triple.object}" for triple in found.triples))
    _changes(found)


def _head(found: "Explanation") -> list[tuple[str, str]]:
    until = "" if found.valid_to is None else f" to {found.valid_to:%Y-%m-%d %H:%M}"
    again = f"; repeated {found.reaffirmed_at:%Y-%m-%d}" if found.reaffirmed_at > found.valid_from else ""
    recorded = f"recorded {found.recorded_at:%Y-%m-%d %H:%M} UTC"
    rows = [
        ("memory", str(found.id)),
        ("scope", found.scope),
        ("kind", f"{found.type}, {found.status}, source: {found.trust}"),
        ("holds", f"from {found.valid_from:%Y-%m-%d %H:%M}{until} UTC; {recorded}{again}"),
        ("confidence", f"{found.confidence:.2f}"),
        ("importance", f"{found.importance:.2f}"),
        *([("use", found.use)] if found.use else []),
        ("because of", ", ".join(found.signals) or "no signal was recorded"),
    ]
    if found.entities:
        rows.append(("about", ", ".join(found.entities)))
    if found.archive_reason is not None:
        rows.append(("archived", found.archive_reason))
    if found.merged_into is not None:
        rows.append(("merged", f"into {found.merged_into}"))
    if found.superseded_by is not None:
        rows.append(("superseded", f"by {found.superseded_by}"))
    return rows


def _said(found: "Explanation") -> None:
    out = console()
    if (found.notes or found.lines) and not found.sources:
        return
    out.print(f"\nSaid in {pluralize(len(found.sources), 'event')}:")
    for source in found.sources:
        where = f"{source.agent} {source.session}#{source.seq}, {source.happened_at:%Y-%m-%d %H:%M} UTC"
        if source.via is not None:
            where += f", in the words of {source.via}"
        out.print(styled(f"  {where}", "dim"), soft_wrap=True)
        print_rows(out, [(f"{source.name or source.role}:", safe(source.content))], indent=4)


def _section(title: str, lines: Iterable[str]) -> None:
    told = list(lines)
    if told:
        out = console()
        out.print(f"\n{title}:")
        print_rows(out, [(one_line(line, WIDTH),) for line in told], indent=2)


def _noted(session: str | None, content: str) -> str:
    return content if session is None else f"in {session}: {content}"


def _read(line: "ReadLine") -> str:
    by = "" if line.run is None else f", by run {line.run}"
    when = "" if line.read_at is None else f", {line.read_at:%Y-%m-%d %H:%M} UTC"
    words = f", in the words of {line.via}" if line.via is not None else ""
    named = ", ".join(f"{session}#{seq}" for session, seq in line.sources)
    return f"{line.file}{when}{by}{words}; source: {line.trust}{f'; it names {named}' if named else ''}"


def _part(part: "MemoryPart", *, here: bool = False) -> str:
    until = "" if part.valid_to is None else f" to {part.valid_to:%Y-%m-%d}"
    return f"{part.id}  from {part.valid_from:%Y-%m-%d}{until}: {part.content}{'  (this one)' if here else ''}"


def _conflict(conflict: "Conflict") -> str:
    became = f": {conflict.resolution}" if conflict.resolution else ""
    by = f" by {conflict.decided_by}" if conflict.decided_by else ""
    return (
        f"{conflict.id}  {conflict.status}{by}{became}; {conflict.reason}; with {conflict.memory}: {conflict.content}"
    )


def _link(link: "LinkedMemory") -> str:
    how = f"{link.predicate} ({link.confidence:.2f})" if link.predicate == "related_to" else link.predicate
    arrow = f"{how} →" if link.direction == "to" else f"← {how}"
    ended = "" if link.ended_by is None else f"  (undone by run {link.ended_by})"
    return f"{arrow} {link.memory}: {link.content}{ended}"


def _changes(found: "Explanation") -> None:
    out = console()
    out.print("\nChanges:")
    flushes = {flush.id: flush for flush in found.flushes}
    undone = {run.id for run in found.runs if run.undone_by is not None}
    for change in found.changes:
        by = _author(change, None if change.flush is None else flushes.get(change.flush), undone)
        out.print(f"  {change.made_at:%Y-%m-%d %H:%M:%S} UTC  {change.action}{safe(by)}", soft_wrap=True)
        print_rows(out, [(one_line(text, WIDTH),) for text in _lines(change)], indent=4)


def _author(change: "ChangeMade", flush: "MemoryFlush | None", undone: set[int]) -> str:
    if change.run is not None:
        by = "" if change.by is None else f", {change.by}"
        return f" by run {change.run}{by}" + (" (undone since)" if change.run in undone else "")
    if change.flush is None:
        return ""
    by = f" by flush {change.flush}"
    if flush is not None:
        window = f"{flush.from_seq}" if flush.from_seq == flush.to_seq else f"{flush.from_seq} to {flush.to_seq}"
        by += f" of {flush.session}#{window}, {flush.extractor} {flush.extractor_version}"
        if flush.fallback is not None:
            by += f" in place of the model ({flush.fallback}: {flush.fallback_why})"
    return by


def _lines(change: "ChangeMade") -> list[str]:
    lines = [] if change.action == "created" and change.flush is not None else [change.reason]
    after = dict(change.after or {})
    sources = after.pop("sources", None)
    lines.extend(difference(change.before, after if change.after is not None else None))
    if sources:
        lines.append(f"sources + {', '.join(str(seq) for seq in sources)}")
    return lines
