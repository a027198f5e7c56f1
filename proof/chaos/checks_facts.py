"""I9, event time rules: of all values that an attribute was given, the one said last holds, however they arrived."""

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
    """The values that hold are those that the journals' times alone say."""
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
    """The values that each attribute was given, with the times that they were said at. Of calls that never came back
    only those that arrived count: that they may is checked elsewhere.
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
