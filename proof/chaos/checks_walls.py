"""Check I8, isolated scopes: no row refers outside its tenant or scope, and no reader gets data of another one."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from random import Random

from proof.chaos.checks_budget import environments
from proof.chaos.evidence import Evidence
from proof.chaos.findings import Finding, none_of, some
from proof.chaos.words import words_in
from slowwave import Memory
from slowwave.errors import SlowwaveError
from slowwave.settings import load_settings

Owner = tuple[str, str, str]
"""Tenant, kind of scope, name of scope."""
_READERS = 40
_SEED = 8

# Tables with a scope, and references to rows with a scope: the two must be equal.
PATHS = {
    "sessions and agents of two tenants": (
        "SELECT s.id FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id"
        " JOIN slowwave.scopes k ON k.id = s.scope_id"
        " WHERE a.tenant <> k.tenant OR (k.kind = 'agent' AND k.name <> a.name)"
    ),
    "memories and their events": (
        "SELECT x.memory_id, x.session_id FROM slowwave.memory_sources x JOIN slowwave.memories m ON m.id = x.memory_id"
        " JOIN slowwave.sessions s ON s.id = x.session_id WHERE s.scope_id <> m.scope_id"
    ),
    "memories and their notes": (
        "SELECT n.memory_id, w.id FROM slowwave.memory_notes n JOIN slowwave.memories m ON m.id = n.memory_id"
        " JOIN slowwave.working_memory w ON w.id = n.working_id WHERE w.scope_id <> m.scope_id"
    ),
    "notes and agents of two tenants": (
        "SELECT w.id FROM slowwave.working_memory w JOIN slowwave.agents a ON a.id = w.agent_id"
        " JOIN slowwave.scopes k ON k.id = w.scope_id"
        " WHERE a.tenant <> k.tenant OR (k.kind = 'agent' AND k.name <> a.name)"
    ),
    "linked memories": (
        "SELECT l.id FROM slowwave.memory_links l JOIN slowwave.memories m ON m.id = l.source_id"
        " JOIN slowwave.memories n ON n.id = l.target_id WHERE m.scope_id <> n.scope_id"
    ),
    "memories and what took their place": (
        "SELECT m.id FROM slowwave.memories m JOIN slowwave.memories n ON n.id IN (m.superseded_by, m.merged_into)"
        " WHERE m.scope_id <> n.scope_id"
    ),
    "memories and what came by way of others": (
        "SELECT x.memory_id, x.via FROM slowwave.memory_sources x JOIN slowwave.memories m ON m.id = x.memory_id"
        " JOIN slowwave.memories n ON n.id = x.via WHERE m.scope_id <> n.scope_id"
    ),
    "triples and their memories": (
        "SELECT t.id FROM slowwave.triples t JOIN slowwave.memories m ON m.id = t.memory_id"
        " WHERE t.scope_id <> m.scope_id"
    ),
    "conflicts and their memories": (
        "SELECT c.id FROM slowwave.memory_conflicts c"
        " JOIN slowwave.memories m ON m.id IN (c.memory_id, c.conflicting_memory_id) WHERE c.scope_id <> m.scope_id"
    ),
    "questions and what they are about": (
        "SELECT i.id FROM slowwave.review_items i LEFT JOIN slowwave.memories m ON m.id = i.memory_id"
        " LEFT JOIN slowwave.memory_conflicts c ON c.id = i.conflict_id"
        " WHERE i.scope_id <> coalesce(m.scope_id, c.scope_id)"
    ),
    "keys of neighbourhood and their memories": (
        "SELECT b.memory_id FROM slowwave.memory_blocks b JOIN slowwave.memories m ON m.id = b.memory_id"
        " WHERE b.scope_id <> m.scope_id"
    ),
    "runs and the memories that they changed": (
        "SELECT c.id FROM slowwave.memory_changes c JOIN slowwave.maintenance_runs r ON r.id = c.run_id"
        " JOIN slowwave.memories m ON m.id = c.memory_id WHERE r.scope_id <> m.scope_id"
    ),
    "flushes and the memories that they changed": (
        "SELECT c.id FROM slowwave.memory_changes c JOIN slowwave.flushes f ON f.id = c.flush_id"
        " JOIN slowwave.sessions s ON s.id = f.session_id JOIN slowwave.memories m ON m.id = c.memory_id"
        " WHERE s.scope_id <> m.scope_id"
    ),
    "passages and their sessions": (
        "SELECT p.session_id, p.seq FROM slowwave.passages p JOIN slowwave.sessions s ON s.id = p.session_id"
        " WHERE p.scope_id <> s.scope_id"
    ),
    "days of sessions and their sessions": (
        "SELECT d.session_id, d.day FROM slowwave.session_days d JOIN slowwave.sessions s ON s.id = d.session_id"
        " WHERE d.scope_id <> s.scope_id OR d.agent_id <> s.agent_id"
    ),
    "days and agents of two tenants": (
        "SELECT y.agent_id, y.scope_id, y.day FROM slowwave.days y JOIN slowwave.agents a ON a.id = y.agent_id"
        " JOIN slowwave.scopes k ON k.id = y.scope_id"
        " WHERE a.tenant <> k.tenant OR (k.kind = 'agent' AND k.name <> a.name)"
    ),
    "summaries and agents of two tenants": (
        "SELECT u.id FROM slowwave.day_summaries u JOIN slowwave.agents a ON a.id = u.agent_id"
        " JOIN slowwave.scopes k ON k.id = u.scope_id WHERE a.tenant <> k.tenant"
    ),
    "segments and their sessions": (
        "SELECT g.session_id, g.day FROM slowwave.day_segments g JOIN slowwave.sessions s ON s.id = g.session_id"
        " WHERE g.scope_id <> s.scope_id OR g.agent_id <> s.agent_id"
    ),
}
_TEXTS = [
    f"SELECT k.tenant, k.kind, k.name, {said} AS content FROM slowwave.{table} t"
    " JOIN slowwave.scopes k ON k.id = t.scope_id"
    for table, said in (
        ("memories", "t.content"),
        ("triples", "t.subject || ' ' || t.object"),
        ("day_summaries", "t.text || t.lines::text"),
        ("day_segments", "t.lines::text"),
        ("memory_conflicts", "t.reason || t.evidence::text"),
    )
]


def no_row_crosses(evidence: Evidence) -> list[Finding]:
    """Check that every reference from row to row stays in one tenant and one scope."""
    return [
        finding
        for what, query in PATHS.items()
        for finding in none_of(evidence.engine, "I8", f"rows cross a wall: {what}", query)
    ]


def no_word_crosses(evidence: Evidence) -> list[Finding]:
    """Check that no memory, relation, summary or conflict of a scope contains a word that was said in another."""
    owners = _owners(evidence)
    found = []
    with evidence.engine.connect() as connection:
        for query in _TEXTS:
            for row in connection.exec_driver_sql(query):
                here = (row.tenant, row.kind, row.name)
                found += [(*here, word) for word in words_in(row.content) if owners.get(word, here) != here]
    return (
        [Finding("I8", f"{len(found)} words stand in a scope in which they were not said", some(found))]
        if found
        else []
    )


def no_reader_is_told(evidence: Evidence) -> list[Finding]:
    """Check that a reader that searches for the text of others finds nothing, and finds its own text."""
    owners = _owners(evidence)
    lasting: dict[Owner, list[str]] = defaultdict(list)
    for one in evidence.certain:
        if one.call.kind == "turn" and one.call.lines[0].kind == "lasting":
            lasting[owners[one.call.lines[0].word]].append(one.call.lines[0].word)
    told, blind = [], []
    for memory in _memories(evidence):
        chance = Random(_SEED)
        own = sorted(owner for owner in lasting if owner[1] == "agent")
        for reader in chance.sample(own, min(_READERS, len(own))):
            others = sorted(owner for owner in lasting if owner != reader)
            foreign = [chance.choice(lasting[owner]) for owner in chance.sample(others, min(3, len(others)))]
            mine = chance.choice(lasting[reader])
            told += [
                (*reader, word)
                for word in _told(memory, reader, (*foreign, mine))
                if owners.get(word, reader) != reader
            ]
            if mine not in _told(memory, reader, (mine,)):
                blind.append((*reader, mine))
    return [
        Finding("I8", f"{len(things)} {what}", some(things))
        for what, things in (
            ("words were told to a reader to whom they do not belong", told),
            ("words were not found by the reader to whom they belong", blind),
        )
        if things
    ]


CHECKS = (no_row_crosses, no_word_crosses, no_reader_is_told)


def _owners(evidence: Evidence) -> dict[str, Owner]:
    """Return the scope in which each word was said."""
    owners: dict[str, Owner] = {}
    for one in evidence.told:
        kind, _, name = (one.call.scope or f"agent:{one.call.agent}").partition(":")
        owners |= {line.word: (one.call.tenant, kind, name) for line in one.call.lines}
    return owners


def _memories(evidence: Evidence) -> Iterator[Memory]:
    """Return a client with the settings of the run and its own spool; None if no agent talked."""
    for settings in environments(evidence):
        reading = load_settings(settings | {"SLOWWAVE_SPOOL": str(evidence.folder / "spool-of-the-check")})
        with Memory(reading) as memory:
            yield memory
        return


def _told(memory: Memory, reader: Owner, words: Iterable[str]) -> set[str]:
    tenant, _, agent = reader
    client = memory.for_tenant(tenant)
    said: list[object] = [client.context(agent)]
    for word in words:
        try:
            said += [hit.content for hit in client.search(agent, word, limit=50)]
        except SlowwaveError as error:
            said.append(error)
    return words_in(" ".join(str(thing) for thing in said))
