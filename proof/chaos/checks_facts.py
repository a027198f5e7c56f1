"""Check I9, event time decides: of all values of an attribute, the last one said is valid, in whatever order they
arrived.
"""

from collections import defaultdict
from datetime import datetime

from proof.chaos.evidence import Evidence
from proof.chaos.findings import Finding, rows, some
from proof.chaos.words import words_in

_KEYS = "SELECT key FROM slowwave.events"
_MEMORIES = """
    SELECT k.tenant, k.name, m.content,
           m.status <> 'archived' AND m.valid_to IS NULL AND m.superseded_by IS NULL AS holds
    FROM slowwave.memories m JOIN slowwave.scopes k ON k.id = m.scope_id WHERE k.kind = 'agent'
"""

Attribute = tuple[str, str, str]
"""Tenant, agent, attribute."""


def latest_value_holds(evidence: Evidence) -> list[Finding]:
    """Check that the valid values are those that follow from the journals' times alone."""
    told = _told(evidence)
    of_word = {word: attribute for attribute, values in told.items() for word in values}
    holding: dict[Attribute, set[str]] = defaultdict(set)
    for row in rows(evidence.engine, _MEMORIES):
        for word in words_in(row.content):
            if row.holds and word in of_word:
                holding[of_word[word]].add(word)
    wrong = []
    for attribute, values in told.items():
        newest = max(values, key=lambda word: values[word])
        if holding[attribute] != {newest}:
            wrong.append(f"{attribute}: {newest} should hold, {some(holding[attribute]) or 'nothing'} does")
    return [Finding("I9", f"{len(wrong)} attributes do not have the value said last", some(wrong))] if wrong else []


CHECKS = (latest_value_holds,)


def _told(evidence: Evidence) -> dict[Attribute, dict[str, datetime]]:
    """Return the values of each attribute with the times at which they were said.

    Of calls that never returned, only those that arrived count; another check decides whether they may exist.
    """
    certain = {one.call.key for one in evidence.certain}
    arrived = {row.key for row in rows(evidence.engine, _KEYS)}
    told: dict[Attribute, dict[str, datetime]] = defaultdict(dict)
    for one in evidence.possible:
        for number, line in enumerate(one.call.lines):
            there = one.call.key in certain or f"{one.call.key}:{number}" in arrived
            if there and line.about is not None and line.at is not None:
                told[one.call.tenant, one.call.agent, line.about][line.word] = datetime.fromisoformat(line.at)
    return told
