"""Check I10, forgetting is final: no table, key or file contains forgotten text, and the fences exist."""

from collections.abc import Iterator
from pathlib import Path

from proof.chaos.checks_budget import environments
from proof.chaos.evidence import Evidence
from proof.chaos.findings import Finding, rows, some
from proof.chaos.held import everything
from proof.chaos.journal import forgets
from proof.chaos.words import words_in
from slowwave.settings import load_settings

_TABLES = """
    SELECT DISTINCT c.table_name AS name FROM information_schema.columns c
    JOIN information_schema.tables t USING (table_schema, table_name)
    WHERE c.table_schema = 'slowwave' AND t.table_type = 'BASE TABLE'
      AND c.data_type IN ('text', 'jsonb', 'json', 'character varying', 'ARRAY', 'tsvector') ORDER BY 1
"""
_FENCE = """
    SELECT n.tenant, n.agent, n.session, n.erased_at, coalesce(a.epoch, 0) AS epoch FROM slowwave.erased_names n
    LEFT JOIN slowwave.agents a ON a.tenant = n.tenant AND a.name = n.agent
"""


def nothing_is_left(evidence: Evidence) -> list[Finding]:
    """Check that no word of a forgotten conversation exists anywhere."""
    gone = {line.word for one in evidence.forgotten for line in one.call.lines} - {""}
    # Later statements under the same name have other words.
    found = [f"{where}: {some(words & gone)}" for where, words in _places(evidence) if words & gone]
    return [Finding("I10", f"words that were forgotten are in {len(found)} places", some(found))] if found else []


def fences_stand(evidence: Evidence) -> list[Finding]:
    """Check that every forget that returned left its fence against older entries; the epoch of a whole agent has
    increased.
    """
    there = {(row.tenant, row.agent, row.session): row for row in rows(evidence.engine, _FENCE)}
    missing, fresh = [], []
    for one in forgets(evidence.told):
        name = (one.call.tenant, one.call.agent, one.call.session)
        if not one.done:
            continue
        if name not in there:
            missing.append(name)
        elif not one.call.session and there[name].epoch < 1:
            fresh.append(name)
    return [
        Finding("I10", f"{len(things)} {what}", some(things))
        for what, things in (("forgets left no fence", missing), ("forgotten agents have their first epoch", fresh))
        if things
    ]


def logs_hold_nothing_said(evidence: Evidence) -> list[Finding]:
    """Check that no log of a program contains a word that anybody said, because logs outlive every forget."""
    logs = evidence.places.logs
    found = [file.name for file in sorted(logs.glob("*")) if file.is_file() and _holds_words(file)]
    return [Finding("I10", f"words that were said stand in {len(found)} logs", some(found))] if found else []


CHECKS = (nothing_is_left, fences_stand, logs_hold_nothing_said)


def _holds_words(file: Path) -> bool:
    with file.open(encoding="utf-8", errors="replace") as lines:
        return any(words_in(line) for line in lines)


def _places(evidence: Evidence) -> Iterator[tuple[str, set[str]]]:
    """Yield all places where data is kept, each with the words in it."""
    with evidence.engine.connect() as connection:
        for table in rows(evidence.engine, _TABLES):
            name = connection.dialect.identifier_preparer.quote(table.name)
            for (row,) in connection.exec_driver_sql(f"SELECT t::text FROM slowwave.{name} t"):
                yield table.name, words_in(row)
    for key, text in everything(evidence.redis):
        yield key, words_in(text)
    for file in _files(evidence):
        yield file.name, words_in(file.read_text(encoding="utf-8", errors="replace"))


def _files(evidence: Evidence) -> Iterator[Path]:
    """Return spools, memory files, logs of sessions."""
    roots = {Path(load_settings(settings).memory.files.root).expanduser() for settings in environments(evidence)}
    for root in (*evidence.folder.glob("spool*"), *roots):
        if root.is_dir():
            yield from (path for path in root.rglob("*") if path.is_file())
