"""Check I2, exactly once in effect: windows of a session follow each other without a gap, and each statement is kept
once.
"""

from collections import defaultdict

from proof.chaos.evidence import Evidence
from proof.chaos.findings import Finding, none_of, rows, some
from proof.chaos.journal import LineKind
from proof.chaos.words import words_in

_NOT_IN_ONE = """
    SELECT e.session_id, e.seq, count(f.id) AS windows
    FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id AND e.seq <= s.processed_until
    LEFT JOIN slowwave.flushes f ON f.session_id = e.session_id AND e.seq BETWEEN f.from_seq AND f.to_seq
    GROUP BY e.session_id, e.seq HAVING count(f.id) <> 1
"""
_GAPS = """
    SELECT session_id, from_seq FROM (
        SELECT f.session_id, f.from_seq, lag(f.to_seq, 1, 0::bigint) OVER (
            PARTITION BY f.session_id ORDER BY f.from_seq) AS before
        FROM slowwave.flushes f) AS w
    WHERE from_seq <> before + 1
"""
_WATERMARKS = """
    SELECT s.id, s.processed_until, coalesce(max(f.to_seq), 0) AS ledger
    FROM slowwave.sessions s LEFT JOIN slowwave.flushes f ON f.session_id = s.id
    GROUP BY s.id HAVING s.processed_until <> coalesce(max(f.to_seq), 0)
"""
_LEDGER = """
    SELECT f.id, f.stored, f.repeated, count(c.id) FILTER (WHERE c.action = 'created') AS created,
           count(c.id) FILTER (WHERE c.action = 'repeated') AS heard
    FROM slowwave.flushes f LEFT JOIN slowwave.memory_changes c ON c.flush_id = f.id
    GROUP BY f.id HAVING count(c.id) FILTER (WHERE c.action = 'created') <> f.stored
        OR count(c.id) FILTER (WHERE c.action = 'repeated') < f.repeated OR f.stored + f.repeated <> f.candidates
"""
_OUTSIDE = """
    SELECT c.flush_id, c.memory_id, q.seq FROM slowwave.memory_changes c
    JOIN slowwave.flushes f ON f.id = c.flush_id
    CROSS JOIN LATERAL (SELECT value::bigint AS seq FROM jsonb_array_elements_text(c.after -> 'sources')) AS q
    WHERE q.seq NOT BETWEEN f.from_seq AND f.to_seq
"""
_SOURCES = """
    SELECT x.memory_id, x.session_id, x.seq FROM slowwave.memory_sources x
    WHERE x.via IS NULL AND NOT EXISTS (
        SELECT FROM slowwave.memory_changes c JOIN slowwave.flushes f ON f.id = c.flush_id
        WHERE c.memory_id = x.memory_id AND f.session_id = x.session_id AND c.after -> 'sources' @> to_jsonb(x.seq))
"""
_ORPHANS = """
    SELECT m.id FROM slowwave.memories m
    WHERE NOT EXISTS (SELECT FROM slowwave.memory_sources x WHERE x.memory_id = m.id)
      AND NOT EXISTS (SELECT FROM slowwave.memory_notes n WHERE n.memory_id = m.id)
      AND NOT EXISTS (SELECT FROM slowwave.memory_imports i WHERE i.memory_id = m.id)
"""
_PASSAGES = """
    SELECT e.session_id, e.seq FROM slowwave.events e
    JOIN slowwave.flushes f ON f.session_id = e.session_id AND e.seq BETWEEN f.from_seq AND f.to_seq
    FULL JOIN (SELECT * FROM slowwave.passages n WHERE n.part = 0) AS p
        ON p.session_id = e.session_id AND p.seq = e.seq
    WHERE e.seq IS NULL OR (p.seq IS NULL AND e.content <> '')
"""
_QUARANTINED = "SELECT session_id, from_seq, error FROM slowwave.flushes WHERE outcome = 'quarantined'"
_MEMORIES = """
    SELECT m.id, m.content, array_agg(DISTINCT k.key ORDER BY k.key) AS keys
    FROM slowwave.memories m
    LEFT JOIN (
        SELECT x.memory_id, e.key FROM slowwave.memory_sources x
        JOIN slowwave.events e ON e.session_id = x.session_id AND e.seq = x.seq
        UNION ALL SELECT n.memory_id, w.key FROM slowwave.memory_notes n
        JOIN slowwave.working_memory w ON w.id = n.working_id
    ) AS k ON k.memory_id = m.id
    GROUP BY m.id, m.content
"""
_MEMORIES_OF: dict[LineKind, int] = {"fact": 1, "lasting": 1, "both": 2, "milestone": 1, "note": 1}


def windows_in_order(evidence: Evidence) -> list[Finding]:
    """Check that each flushed event is in one window, and that windows cover 1 to the watermark without a gap."""
    engine = evidence.engine
    return [
        *none_of(engine, "I2", "flushed events are not in exactly one window", _NOT_IN_ONE),
        *none_of(engine, "I2", "windows do not begin where the one before ends", _GAPS),
        *none_of(engine, "I2", "watermarks are not where the ledger ends", _WATERMARKS),
    ]


def ledger_adds_up(evidence: Evidence) -> list[Finding]:
    """Check that ledger, changes, sources and passages of a window were written together."""
    engine = evidence.engine
    return [
        *none_of(engine, "I2", "windows count other memories than they made", _LEDGER),
        *none_of(engine, "I2", "changes name sources outside of their window", _OUTSIDE),
        *none_of(engine, "I2", "sources that no window brought", _SOURCES),
        *none_of(engine, "I2", "memories come from nowhere", _ORPHANS),
        *none_of(engine, "I2", "flushed events and passages do not agree", _PASSAGES),
    ]


def nothing_given_up(evidence: Evidence) -> list[Finding]:
    """Check that no window was quarantined: every text is readable, and an outage is not a reason."""
    return none_of(evidence.engine, "I2", "events are quarantined", _QUARANTINED)


def remembered_once(evidence: Evidence) -> list[Finding]:
    """Check that lasting statements became exactly their memories, from their own events, and each other one at most
    one memory.
    """
    kept: dict[str, list[list[str | None]]] = defaultdict(list)
    for row in rows(evidence.engine, _MEMORIES):
        for word in words_in(row.content):
            kept[word].append(row.keys)
    lost, doubled, foreign = [], [], []
    for one in evidence.certain:
        for line in one.call.lines:
            if line.role in {"assistant", "tool"}:
                continue
            wanted = _MEMORIES_OF.get(line.kind)
            found = kept.get(line.word, [])
            if wanted is not None and len(found) < wanted:
                lost.append(f"{one.call.key} {line.kind}")
            if len(found) > (wanted or 1):
                doubled.append(f"{one.call.key} {line.kind} {len(found)}")
            foreign += [one.call.key for keys in found if any(not _is_of(key, one.call.key) for key in keys)]
    return [
        Finding("I2", f"{len(things)} {what}", some(things))
        for what, things in (
            ("statements were read and not kept", lost),
            ("statements were kept more than once", doubled),
            ("memories name events that do not say them", foreign),
        )
        if things
    ]


CHECKS = (windows_in_order, ledger_adds_up, nothing_given_up, remembered_once)


def _is_of(key: str | None, call: str) -> bool:
    return key is not None and (key == call or key.startswith(f"{call}:"))
