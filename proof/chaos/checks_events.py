"""Check I1, nothing lost: Postgres has every acknowledged event once, word for word, and no event that was
never said.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from proof.chaos.evidence import Evidence
from proof.chaos.findings import Finding, none_of, rows, some
from proof.chaos.journal import Call
from slowwave.postgres_text import clean_text

_EVENTS = """
    SELECT a.tenant, a.name AS agent, s.name AS session, k.kind, k.name AS scope, e.seq, e.key, e.role, e.content,
           e.happened_at
    FROM slowwave.events e LEFT JOIN slowwave.sessions s ON s.id = e.session_id
    LEFT JOIN slowwave.agents a ON a.id = s.agent_id LEFT JOIN slowwave.scopes k ON k.id = s.scope_id
    ORDER BY e.session_id, e.seq
"""
_NOTES = """
    SELECT a.tenant, a.name AS agent, coalesce(w.session, '') AS session, k.kind, k.name AS scope, w.key, w.content
    FROM slowwave.working_memory w JOIN slowwave.agents a ON a.id = w.agent_id
    JOIN slowwave.scopes k ON k.id = w.scope_id
"""
_NUMBERS = """
    SELECT s.id, s.last_seq, count(e.seq) AS events, max(e.seq) AS newest
    FROM slowwave.sessions s LEFT JOIN slowwave.events e ON e.session_id = s.id
    GROUP BY s.id HAVING count(e.seq) <> s.last_seq OR coalesce(max(e.seq), 0) <> s.last_seq
"""
_LETTERS = "SELECT id, task FROM slowwave.dead_letters WHERE state = 'open'"


class Place(NamedTuple):
    """The place of a statement, and its key."""

    tenant: str
    agent: str
    session: str
    kind: str
    scope: str
    key: str


def recorded_once(evidence: Evidence) -> list[Finding]:
    """Check that every event of a call that returned exists exactly once, with its text, time and scope, and that no
    other exists.
    """
    there: Counter[Place] = Counter()
    texts: dict[Place, tuple[str, str, datetime]] = {}
    for row in rows(evidence.engine, _EVENTS):
        place = _place(row)
        there[place] += 1
        texts[place] = (row.role, row.content, row.happened_at)
    said = {place: line for one in evidence.possible for place, line in _places(one.call)}
    promised = {place for one in evidence.certain for place, _ in _places(one.call)}
    forgotten = {place for one in evidence.forgotten for place, _ in _places(one.call)}
    doubled = [place for place, count in there.items() if count > 1]
    changed = [place for place in there if place in said and not _same(said[place], texts[place])]
    return [
        *_finding("events that hooks promised are gone", promised - there.keys()),
        *_finding("events stand there more than once", doubled),
        *_finding("events were never said", there.keys() - said.keys() - forgotten),
        *_finding("events differ from what was said", changed),
    ]


def recorded_whole(evidence: Evidence) -> list[Finding]:
    """Check that a call is stored with all its lines, consecutively, or not at all."""
    seqs = {_place(row): (row.session, row.seq) for row in rows(evidence.engine, _EVENTS)}
    broken = []
    for one in evidence.possible:
        places = [place for place, _ in _places(one.call)]
        found = [seqs[place][1] for place in places if place in seqs]
        if found and found != list(range(found[0], found[0] + len(places))):
            broken.append(one.call.key)
    return _finding("calls are there in part, or not in one piece", broken)


def noted_once(evidence: Evidence) -> list[Finding]:
    """Check that every note whose call returned exists exactly once."""
    there = Counter((_place(row), row.content) for row in rows(evidence.engine, _NOTES))
    said = {_noted(one.call) for one in evidence.possible if one.call.kind == "note"}
    promised = {_noted(one.call) for one in evidence.certain if one.call.kind == "note"}
    forgotten = {_noted(one.call) for one in evidence.forgotten if one.call.kind == "note"}
    return [
        *_finding("notes that returned are gone", (place.key for place, _ in promised - there.keys())),
        *_finding("notes stand there more than once", (place.key for (place, _), n in there.items() if n > 1)),
        *_finding("notes were never noted", (place.key for place, _ in there.keys() - said - forgotten)),
    ]


def numbered_without_gaps(evidence: Evidence) -> list[Finding]:
    """Check that a session's events are numbered 1, 2, 3 … up to its last one."""
    return none_of(evidence.engine, "I1", "sessions have gaps in their numbers", _NUMBERS)


def nothing_set_aside(evidence: Evidence) -> list[Finding]:
    """Check that no entry waits in a spool, was refused there, or is a dead letter, because all entries were valid."""
    left = [
        f"{folder.name}/{path.name}"
        for folder in evidence.folder.glob("spool*")
        if folder.is_dir()
        for path in folder.iterdir()
        if path.suffix == ".rejected" or (path.suffix == ".jsonl" and path.stat().st_size)
    ]
    return [
        *_finding("files of spools still hold something", left),
        *none_of(evidence.engine, "I1", "dead letters", _LETTERS),
    ]


CHECKS = (recorded_once, recorded_whole, noted_once, numbered_without_gaps, nothing_set_aside)


def _places(call: Call) -> Iterator[tuple[Place, tuple[str, str, str | None]]]:
    """Return the events of a call: the place of each, with its role, text and own time."""
    if call.kind not in {"turn", "task"}:
        return
    for number, line in enumerate(call.lines):
        place = Place(call.tenant, call.agent, call.session, *_scope(call), f"{call.key}:{number}")
        yield place, (line.role, clean_text(line.text), line.at)


def _noted(call: Call) -> tuple[Place, str]:
    place = Place(call.tenant, call.agent, call.session, *_scope(call), call.key)
    return place, clean_text(call.lines[0].text)


def _scope(call: Call) -> tuple[str, str]:
    if call.scope is None:
        return "agent", call.agent
    kind, _, name = call.scope.partition(":")
    return kind, name


def _place(row: object) -> Place:
    return Place(*(getattr(row, name) for name in Place._fields))


def _same(said: tuple[str, str, str | None], there: tuple[str, str, datetime]) -> bool:
    role, text, at = said
    return (role, text) == there[:2] and (at is None or datetime.fromisoformat(at) == there[2])


def _finding(what: str, things: Iterable[object]) -> list[Finding]:
    found = list(things)
    return [Finding("I1", f"{len(found)} {what}", some(found))] if found else []
