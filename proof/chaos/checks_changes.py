"""Check I6, no silent overwrite: the changes of each memory, applied in order, result in its current state."""

from typing import Any

from proof.chaos.evidence import Evidence
from proof.chaos.findings import Finding, none_of, rows, some

_DECIDED = frozenset({"status", "content", "type", "valid_to", "superseded_by", "merged_into", "archive_reason"})
_OTHERS = frozenset({"conflict", "review_item"})
# One statement sees one moment, even if a pass is still running. JSON, because changes store their values as JSON.
_HISTORIES = """
    SELECT m.id, to_jsonb(m) - 'search' AS now, (
        SELECT jsonb_agg(jsonb_build_object('action', c.action, 'before', c.before, 'after', c.after) ORDER BY c.id)
        FROM slowwave.memory_changes c WHERE c.memory_id = m.id) AS changes
    FROM slowwave.memories m
"""
# A run that touched forgotten data keeps a row that says so, and nothing else.
_DELETED = """
    SELECT c.memory_id, count(*) FROM slowwave.memory_changes c
    WHERE NOT EXISTS (SELECT FROM slowwave.memories m WHERE m.id = c.memory_id)
      AND NOT (c.action = 'forgotten' AND c.before IS NULL AND c.after IS NULL) GROUP BY 1
"""
_SILENT = """
    SELECT m.id FROM slowwave.memories m
    WHERE NOT EXISTS (SELECT FROM slowwave.memory_changes c WHERE c.memory_id = m.id AND c.before IS NULL)
"""
_ONE_SIDED = """
    SELECT c.id FROM slowwave.memory_conflicts c
    LEFT JOIN slowwave.memories m ON m.id = c.memory_id LEFT JOIN slowwave.memories n ON n.id = c.conflicting_memory_id
    WHERE m.id IS NULL OR n.id IS NULL
       OR (c.status = 'open' AND 'archived' IN (m.status, n.status))
"""
_ENDS = """
    SELECT m.id FROM slowwave.memories m LEFT JOIN slowwave.memories n ON n.id = m.superseded_by
    WHERE m.superseded_by IS NOT NULL AND (m.valid_to IS NULL OR n.id IS NULL)
       OR m.merged_into IS NOT NULL AND m.status <> 'archived'
       OR m.status = 'archived' AND m.archive_reason IS NULL
"""


def changes_lead_to_what_is(evidence: Evidence) -> list[Finding]:
    """Check each decided field: a change's old value equals the previous change's new value, and the last one is the
    present value.
    """
    broken, ended = [], []
    for row in rows(evidence.engine, _HISTORIES):
        known: dict[str, Any] = {}
        for change in row.changes or []:
            before, after = change["before"] or {}, change["after"] or {}
            # The status of a decided conflict or question is not the memory's status.
            fields = set() if _OTHERS & set(before) else set(before) & set(after) & _DECIDED
            broken += [(row.id, name) for name in fields if name in known and known[name] != before[name]]
            known |= {name: after[name] for name in fields}
            if change["action"] == "created" and "status" in after:
                known["status"] = after["status"]
        ended += [(row.id, name) for name, value in known.items() if not _same(value, row.now[name])]
    return [
        Finding("I6", f"{len(found)} {what}", some((str(memory), name) for memory, name in found))
        for what, found in (
            ("changes do not begin where the one before ended", broken),
            ("memories are not what their changes made of them", ended),
        )
        if found
    ]


def nothing_goes_in_silence(evidence: Evidence) -> list[Finding]:
    """Check that every memory has a creation, that no change belongs to a missing memory, and that every conflict has
    both sides.
    """
    engine = evidence.engine
    return [
        *none_of(engine, "I6", "memories are there that no change made", _SILENT),
        *none_of(engine, "I6", "memories are gone without a forget", _DELETED),
        *none_of(engine, "I6", "conflicts have lost a side", _ONE_SIDED),
        *none_of(engine, "I6", "memories ended without saying how", _ENDS),
    ]


CHECKS = (changes_lead_to_what_is, nothing_goes_in_silence)


def _same(noted: Any, there: Any) -> bool:
    """Return True if the value in a change equals the memory's value. Changes write times in two forms."""
    if noted == there or noted is None or there is None:
        return bool(noted == there)
    return str(noted).replace("Z", "+00:00")[:19] == str(there).replace("Z", "+00:00")[:19]
