"""Every function that reads the database, with a call for a place of `tests/support/walls.py`."""

import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from uuid import UUID

import networkx as nx
from sqlalchemy import Connection, Engine
from sqlalchemy.orm import Session

from slowwave import Memory
from slowwave.identity import SessionRef
from slowwave.recall import Context
from slowwave.settings import Days, Llm
from slowwave_server.models import MemoryChange
from slowwave_server.models.driver import Reads
from slowwave_server.services import lookup, reports, samples
from slowwave_server.services.access.reach import Reach
from slowwave_server.services.days import agents, book, due
from slowwave_server.services.memories import file_lines, masking
from slowwave_server.services.memory_files import export
from slowwave_server.services.reports import agents as listed
from slowwave_server.services.reports import (
    aliases,
    as_of,
    budget,
    conflicts,
    copies,
    days,
    dead_letters,
    dirty,
    explain,
    files,
    find,
    graph,
    history,
    inbox,
    memories,
    memory_ids,
    mentioned,
    metrics,
    quarantine,
    records,
    relations,
    review,
    runs,
    spending,
    status,
    text_filter,
    timeline,
    transcript,
    unkept,
    why,
    working,
)
from slowwave_server.services.review import conflict_sides
from tests.support.walls import PLACES, RULES, TODAY, YESTERDAY, Place, World

Ask = Callable[[World, Connection, Place], Any]


@dataclass(frozen=True)
class Reader:
    """A reading function. ask: calls it for a place. wide: it answers for the whole tenant, or for all of an agent's
    scopes. silent: its answer holds numbers and names of the caller alone.
    """

    function: Callable[..., Any]
    ask: Ask
    wide: str = "scope"
    silent: bool = False


def may_hold(reader: Reader, place: Place) -> set[str]:
    """The words that the answer may hold."""
    fits: Mapping[str, Callable[[Place], bool]] = {
        "scope": lambda other: other.key == place.key,
        "reader": lambda other: other.key in {place.key, ("agent", place.agent)},
        "agent": lambda other: other.agent == place.agent,
        "tenant": lambda _other: True,
        "place": lambda other: other == place,
    }
    return {other.word for other in PLACES if other.tenant == place.tenant and fits[reader.wide](other)}


def _reach(place: Place) -> Reach:
    """Of a key that reaches this place and nothing else."""
    kind, name = place.key
    return Reach((name,)) if kind == "agent" else Reach(("nobody",), (f"{kind}:{name}",))


def _scopes(place: Place) -> list[str]:
    return [] if place.scope is None else [place.scope]


def _shared(place: Place) -> tuple[str, str] | None:
    return None if place.scope is None else place.key


def _lines_of(connection: Connection, place: Place) -> list[dict[str, Any]]:
    """What the summary of a place's day says, beside a line that names an event of every other place."""
    story = days.read_day(connection, place.tenant, place.agent, YESTERDAY.date(), scope=place.scope)
    assert story.summary is not None
    elsewhere = [other for other in PLACES if (other.tenant, other.agent) != (place.tenant, place.agent)]
    return [*story.summary.lines, *({"session": f"{other.word}-talk", "seq": 1} for other in elsewhere)]


def _ref(place: Place, session: str = "talk") -> SessionRef:
    return SessionRef(place.tenant, place.agent, f"{place.word}-{session}")


def _graph(found: graph.EntityGraph) -> Any:
    return nx.node_link_data(found.graph, edges="edges")


def _relations(found: graph.EntityGraph) -> set[tuple[str, str]]:
    return {(source, edge["predicate"]) for source, _, edge in found.graph.edges(data=True)}


def _exported(world: World, place: Place) -> dict[str, str]:
    """What is written of a place's scope, by path."""
    report = export.export_scope(world.engine, place.tenant, *place.key, world.folder, append_only=True)
    return {path: (report.folder / path).read_text(encoding="utf-8") for path in _paths(report.folder)}


def _paths(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]


def changes(memories: Sequence[UUID]) -> list[mentioned.Changed]:
    """Changes that name these memories, as a merge names the survivor."""
    return [SimpleNamespace(before=None, after={"merged_into": str(memory)}) for memory in memories]


def _said(place: Place, seq: int = 1) -> list[tuple[str, str, int]]:
    return [(place.agent, f"{place.word}-{session}", seq) for session in ("talk", "odd", "tail")]


def open_keys_of(connection: Connection, place: Place) -> list[str]:
    return inbox.open_keys(connection, place.tenant, scope=place.key)


def answered(world: World, connection: Connection, place: Place) -> tuple[int, str]:
    """A run of the place that answered its first question, and the key of that; gone with the transaction."""
    run, question = (world.numbers(table, place)[0] for table in ("maintenance_runs", "review_items"))
    change = MemoryChange(
        memory_id=world.memories(place)[0],
        run_id=run,
        action="decided",
        after={"review_item": question, "by": place.word},
        reason=f"{place.word} was asked",
    )
    with Session(connection, join_transaction_mode="create_savepoint") as session:
        session.add(change)
        session.flush()
        session.commit()
    return run, f"q{question}"


def _keys_answered(world: World, connection: Connection, place: Place) -> list[str]:
    """What is found of the place's run, after the runs of all places have answered."""
    runs_of = {other: answered(world, connection, other) for other in PLACES}
    run, key = runs_of[place]
    found = inbox.keys_of_run(connection, place.tenant, run)
    assert found == [key]
    return found


def _of_relation(function: Callable[..., Any]) -> Reader:
    return Reader(function, lambda w, c, p: [function(c, w.scope_id(p), memory) for memory in w.memories(p)])


READERS = [
    Reader(Memory.search, lambda w, _, p: w.of(p).search(p.agent, "editor boat key", 50, scopes=_scopes(p)), "reader"),
    Reader(
        Memory.search,
        lambda w, _, p: w.of(p).search(p.agent, "editor", 50, scopes=_scopes(p), include_review=True),
        "reader",
    ),
    Reader(Memory.context, lambda w, _, p: w.of(p).context(p.agent, scopes=_scopes(p)), "reader"),
    Reader(Memory.context, lambda w, _, p: w.of(p).context(p.agent, None, "boat", 3, scopes=_scopes(p)), "reader"),
    Reader(
        Memory.context,
        lambda w, _, p: [
            form(w.of(p).context(p.agent, f"{p.word}-tail", scopes=_scopes(p), max_tokens=900))
            for form in (Context.to_text, Context.to_messages, Context.to_json)
        ],
        "reader",
    ),
    Reader(Memory.stats, lambda w, _, p: w.of(p).stats(p.agent, p.scope), silent=True),
    Reader(Memory.memories, lambda w, _, p: w.of(p).memories(p.agent, scope=p.scope)),
    Reader(Memory.get, lambda w, _, p: [w.of(p).get(memory) for memory in w.memories(p)]),
    Reader(Memory.explain, lambda w, _, p: [w.of(p).explain(memory) for memory in w.memories(p)]),
    Reader(Memory.used, lambda w, _, p: w.of(p).used(p.agent, w.memories(p)), silent=True),
    Reader(Memory.status, lambda w, _, p: w.of(p).status(), "tenant", silent=True),
    Reader(conflicts.list_conflicts, lambda _, c, p: conflicts.list_conflicts(c, p.tenant, scope=p.key)),
    Reader(conflicts.list_conflicts, lambda _, c, p: conflicts.list_conflicts(c, p.tenant, status=None), "tenant"),
    Reader(
        conflicts.read_conflicts, lambda _, c, p: conflicts.read_conflicts(c, p.tenant, "true", {}, limit=50), "tenant"
    ),
    Reader(
        days.read_day, lambda _, c, p: days.read_day(c, p.tenant, p.agent, YESTERDAY.date(), scope=p.scope), "place"
    ),
    Reader(
        days.read_day, lambda _, c, p: days.read_day(c, p.tenant, p.agent, TODAY, scope=p.scope, version=1), "place"
    ),
    Reader(days.said_for, lambda _, c, p: days.said_for(c, p.tenant, p.agent, _lines_of(c, p)), "place"),
    Reader(budget.read_budget, lambda _, c, p: budget.read_budget(c, p.tenant, Llm(), datetime.now(UTC)), silent=True),
    Reader(
        budget.read_budget,
        lambda _, c, p: budget.read_budget(c, p.tenant, Llm(), datetime.now(UTC), agent=p.agent),
        silent=True,
    ),
    Reader(
        budget.caps_reached, lambda _, c, p: budget.caps_reached(c, p.tenant, Llm(), datetime.now(UTC)), silent=True
    ),
    Reader(spending.read_spending, lambda _, c, p: spending.read_spending(c, p.tenant, datetime.now(UTC)), silent=True),
    Reader(book.day_book, lambda _, c, p: book.day_book(c, p.tenant, p.agent), silent=True),
    Reader(
        book.find_days,
        lambda _, c, p: book.find_days(c, p.tenant, p.agent, TODAY, scope=p.scope or "agent"),
        silent=True,
    ),
    Reader(
        due.due_days_of_sessions,
        lambda _, c, p: due.due_days_of_sessions(c, [_ref(p, "tail")], Days(), now=datetime.now(UTC)),
        silent=True,
    ),
    Reader(agents.configure_agent, lambda _, c, p: agents.configure_agent(c, p.tenant, p.agent), silent=True),
    Reader(dead_letters.list_dead_letters, lambda _, c, p: dead_letters.list_dead_letters(c, p.tenant), "tenant"),
    Reader(
        dead_letters.read_dead_letter,
        lambda w, c, p: dead_letters.read_dead_letter(c, p.tenant, letter(w, p)),
        "place",
    ),
    Reader(dead_letters.count_open, lambda _, c, p: dead_letters.count_open(c, p.tenant), silent=True),
    Reader(listed.list_agents, lambda _, c, p: listed.list_agents(c, p.tenant), "tenant", silent=True),
    Reader(listed.agent_names, lambda _, c, p: listed.agent_names(c, p.tenant), "tenant", silent=True),
    Reader(listed.read_agent, lambda _, c, p: listed.read_agent(c, p.tenant, p.agent), silent=True),
    Reader(find.find_anything, lambda _, c, p: find.find_anything(c, p.tenant, p.word)),
    Reader(find.find_anything, lambda _, c, p: find.find_anything(c, p.tenant, "boat key tide"), "tenant", silent=True),
    Reader(
        text_filter.quick_query,
        lambda w, c, p: text_filter.quick_query(c, [w.scope_id(p)], "editor boat key"),
        silent=True,
    ),
    Reader(history.read_history, lambda _, c, p: history.read_history(c, p.tenant, datetime.now(UTC)), silent=True),
    Reader(inbox.open_keys, lambda _, c, p: open_keys_of(c, p), silent=True),
    Reader(inbox.count_kinds, lambda _, c, p: inbox.count_kinds(c, p.tenant, scope=p.key), silent=True),
    Reader(inbox.keys_of_run, _keys_answered, silent=True),
    Reader(inbox.read_items, lambda _, c, p: inbox.read_items(c, p.tenant, open_keys_of(c, p))),
    Reader(inbox.read_items, lambda _, c, p: inbox.read_items(c, p.tenant, inbox.open_keys(c, p.tenant)), "tenant"),
    Reader(inbox.read_item, lambda _, c, p: [inbox.read_item(c, p.tenant, key) for key in open_keys_of(c, p)]),
    Reader(
        mentioned.contents_named,
        lambda w, c, p: mentioned.contents_named(c, p.tenant, changes(w.memories(p))),
    ),
    Reader(mentioned.contents_of, lambda w, c, p: mentioned.contents_of(c, p.tenant, w.memories(p))),
    Reader(
        transcript.read_transcript,
        lambda _, c, p: [transcript.read_transcript(c, p.tenant, p.agent, session) for _, session, _ in _said(p)],
        "place",
    ),
    Reader(
        transcript.read_transcript,
        lambda _, c, p: transcript.read_transcript(c, p.tenant, p.agent, f"{p.word}-talk", at=2),
        "place",
    ),
    Reader(
        transcript.read_surroundings,
        lambda _, c, p: list(transcript.read_surroundings(c, p.tenant, _said(p), around=50).values()),
        "place",
    ),
    Reader(listed.list_sessions, lambda _, c, p: listed.list_sessions(c, p.tenant, p.agent), "agent"),
    Reader(dirty.dirty_sessions, lambda _, c, p: dirty.dirty_sessions(c, p.tenant, p.agent), "agent"),
    Reader(dirty.goals_of, lambda _, c, p: dirty.goals_of(c, [_ref(p, "tail")]), "place"),
    Reader(
        explain.explain_memory,
        lambda w, c, p: [explain.explain_memory(c, p.tenant, memory) for memory in w.memories(p)],
    ),
    Reader(
        memory_ids.memory_called,
        lambda w, c, p: [memory_ids.memory_called(c, p.tenant, memory.hex[-12:]) for memory in w.memories(p)],
        silent=True,
    ),
    Reader(memories.list_memories, lambda _, c, p: memories.list_memories(c, p.tenant, p.agent, scope=_shared(p))),
    Reader(
        memories.list_memories,
        lambda _, c, p: memories.list_memories(
            c, p.tenant, p.agent, scope=_shared(p), as_of=datetime.now(UTC), known_at=datetime.now(UTC)
        ),
    ),
    Reader(
        memories.list_memories,
        lambda _, c, p: memories.list_memories(
            c, p.tenant, p.agent, scope=_shared(p), session=f"{p.word}-talk", status="archived"
        ),
        silent=True,
    ),
    Reader(
        memories.list_memories,
        lambda _, c, p: memories.list_memories(c, p.tenant, p.agent, scope=_shared(p), words="editor"),
    ),
    Reader(
        records.read_record,
        lambda w, c, p: [records.read_record(c, p.tenant, memory, _reach(p)) for memory in w.memories(p)],
    ),
    Reader(
        records.as_records,
        lambda _, c, p: records.as_records(
            c, p.tenant, ":".join(p.key), memories.list_memories(c, p.tenant, p.agent, scope=_shared(p)), then=True
        ),
    ),
    Reader(lookup.require_scope, lambda _, c, p: lookup.require_scope(c, p.tenant, p.key), silent=True),
    Reader(aliases.list_aliases, lambda _, c, p: aliases.list_aliases(c, p.tenant, p.key)),
    Reader(lookup.find_agent, lambda _, c, p: lookup.find_agent(c, p.tenant, p.agent), silent=True),
    Reader(
        lookup.find_session, lambda _, c, p: lookup.find_session(c, p.tenant, p.agent, f"{p.word}-talk"), silent=True
    ),
    Reader(lookup.find_scope, lambda _, c, p: lookup.find_scope(c, p.tenant, *p.key), silent=True),
    Reader(as_of.read_as_of, lambda w, c, p: as_of.read_as_of(c, w.scope_id(p), datetime.now(UTC)), silent=True),
    Reader(quarantine.list_quarantined, lambda _, c, p: quarantine.list_quarantined(c, p.tenant), "tenant"),
    Reader(
        quarantine.list_quarantined,
        lambda _, c, p: quarantine.list_quarantined(c, p.tenant, agent=p.agent, session=f"{p.word}-odd"),
        "place",
    ),
    Reader(quarantine.count_quarantined, lambda _, c, p: quarantine.count_quarantined(c, p.tenant), silent=True),
    _of_relation(relations.conflicts_of),
    _of_relation(relations.questions_of),
    _of_relation(relations.notes_of),
    _of_relation(file_lines.lines_of),
    Reader(file_lines.files_among, lambda w, c, p: list(file_lines.files_among(c, p.tenant, w.memories(p)))),
    Reader(review.list_questions, lambda _, c, p: review.list_questions(c, p.tenant, review.Asked(scope=p.key))),
    Reader(review.list_questions, lambda _, c, p: review.list_questions(c, p.tenant, review.Asked()), "tenant"),
    Reader(
        review.read_question,
        lambda w, c, p: [review.read_question(c, p.tenant, number) for number in w.numbers("review_items", p)],
    ),
    Reader(
        review.read_questions,
        lambda w, c, p: review.read_questions(c, p.tenant, w.numbers("review_items", p)),
    ),
    Reader(runs.list_runs, lambda _, c, p: runs.list_runs(c, p.tenant, scope=p.key)),
    Reader(runs.list_runs, lambda _, c, p: runs.list_runs(c, p.tenant, limit=500), "tenant"),
    Reader(
        runs.read_run,
        lambda w, c, p: [runs.read_run(c, p.tenant, run) for run in w.numbers("maintenance_runs", p)],
    ),
    Reader(conflict_sides.read_sides, lambda w, c, p: conflict_sides.read_sides(c, p.tenant, w.memories(p))),
    Reader(
        status.read_status, lambda w, c, p: status.read_status(c, w.queue, p.tenant, datetime.now(UTC)), silent=True
    ),
    Reader(unkept.read_unkept, lambda _, c, p: unkept.read_unkept(c, datetime.now(UTC), p.tenant), silent=True),
    Reader(
        why.why_waiting,
        lambda w, c, p: why.why_waiting(
            c, w.queue, _ref(p, "tail"), w.memory.store.settings.memory.auto_flush, now=datetime.now(UTC)
        ),
        silent=True,
    ),
    Reader(working.list_notes, lambda _, c, p: working.list_notes(c, p.tenant, *p.key, RULES, datetime.now(UTC))),
    Reader(
        working.list_notes,
        lambda _, c, p: working.list_notes(c, p.tenant, *p.key, RULES, datetime.now(UTC), settled=True),
    ),
    Reader(
        files.report_files,
        lambda w, c, p: files.report_files(c, p.tenant, "file", w.folder, limit=50),
        silent=True,
    ),
    Reader(
        copies.report_copies,
        lambda _, c, p: copies.report_copies(c, p.tenant, "mem0", limit=50),
        silent=True,
    ),
    Reader(export.export_scope, lambda w, _, p: _exported(w, p)),
    Reader(export.scopes_of, lambda _, c, p: export.scopes_of(c, p.tenant), silent=True),
    Reader(export.known_scope, lambda _, c, p: export.known_scope(c, p.tenant, *p.key), silent=True),
    Reader(
        review.revisions_of,
        lambda w, c, p: [review.revisions_of(c, p.tenant, "item", one) for one in w.numbers("review_items", p)],
        silent=True,
    ),
    Reader(graph.best_connected, lambda _, c, p: _graph(graph.best_connected(c, p.tenant, p.agent, scope=_shared(p)))),
    Reader(
        graph.neighbourhood,
        lambda _, c, p: _graph(graph.neighbourhood(c, p.tenant, p.agent, p.word, scope=_shared(p), depth=3)),
    ),
    Reader(
        timeline.values_of,
        lambda _, c, p: [
            timeline.values_of(c, p.tenant, p.agent, *relation, scope=_shared(p))
            for relation in _relations(graph.best_connected(c, p.tenant, p.agent, scope=_shared(p)))
        ],
    ),
    Reader(
        timeline.changed_relations,
        lambda _, c, p: timeline.changed_relations(c, p.tenant, p.agent, scope=_shared(p)),
        silent=True,
    ),
]

NOT_CALLED = {
    "due.due_days": "asked by workers for all tenants, as the sweep of sessions is: names of days, no words",
    "book.days_for_want_of_budget": "as due.due_days",
    "book.ended_days": "as due.due_days; `slowwave day finalize --ended` shows those of its tenant",
    "book.mark_settling": "writes",
    "masking.check_reveal": "asks what the login may do, and reads no row",
    "Memory.changes": "tests/integration/test_changes.py asks it as two tenants",
    "dirty.unmet": "is given goals, which `goals_of` made, and answers with some of these",
    "servers.check_postgres": "the server's version",
    "servers.check_version": "the server's version",
    "servers.check_clocks": "what time servers have",
    "sweeping.check_stranded": "of the whole installation, for its operator: counts, no names of sessions",
    "jobs_check.check_maintenance": "jobs belong to the installation",
    "waiting_for_people.check_quarantine": "of the whole installation: counts by tenant",
    "servers.postgres_ahead": "as check_clocks, which calls it",
    "sweeping.check_backlog": "of the whole installation: counts",
    "waiting_for_people.check_decisions": "of the whole installation: counts and ages",
    "waiting_for_people.check_budget": "of the whole installation, for its operator: names of tenants, tokens",
    "check.counts_by_tenant": "called by check_stranded and its like: counts by tenant",
    "sessions.read_sessions": "figures of the whole installation: counts and ages",
    "flushes.read_flushes": "as read_sessions",
    "waiting_for_people.read_waiting_for_people": "as read_sessions",
    "samples.take_samples": "writes, of every tenant; the test of a tenant's figures reads what it wrote",
    "runs.read_jobs": "jobs belong to the installation",
    "runs.read_runs": "as read_sessions, by kind",
    "budgets.read_usage": "tokens by tenant, for the installation's operator",
    "budgets.read_budgets": "as read_usage, by name only for tenants that are given",
    "deliveries.read_waiting": "as check_backlog, which calls it",
    "deliveries.read_sources": "as check_source, which calls it",
    "deliveries.files_held": "as check_files, which calls it",
    "deliveries.read_deliveries": "as read_sessions, by backend",
    "roles.check_roles": "of the installation: names of its tables and functions",
    "passes_check.check_passes": "of the whole installation: numbers of runs",
    "unkept.check_unkept": "of the whole installation: counts",
    "waiting_for_people.check_letters": "of the whole installation: counts by tenant",
    "embeddings.read_embeddings": "of the whole installation, for its operator: names of models, counts",
    "files.check_files": "of the whole installation: counts",
    "backlog.check_backlog": "as check_files and check_copies, which call it",
    "copies.check_copies": "of the whole installation: counts",
    "source.check_source": "of the whole installation: counts, and the kind of the last error",
    "maintenance.read_maintenance": "jobs belong to the installation; their runs' sentences hold counts",
    "memories.sources_of": "called by list_memories, which is called: names of sessions, no words",
    "relations.links_of": "shown by explain_memory, which is called; it asks for one memory of one scope",
    "relations.parts_of": "as links_of",
    "relations.chain_of": "as links_of",
    "relations.runs_of": "as links_of; a run's number, kind and who asked",
    "relations.triples_of": "as links_of",
    "review.what_answers_do": "called by read_question, which is called; answers in words of its own",
}
WRITING = {
    "turn_completed", "task_event", "session_idle", "session_compacted", "session_reset", "prompt_arrived", "remember",
    "consolidate_now", "flush", "close", "from_env", "from_url", "for_tenant", "warm", "correct", "archive", "forget",
}  # fmt: skip
"""What of `Memory` answers with nothing that was said."""


def letter(world: World, place: Place) -> int:
    (row,) = world.sql(
        "SELECT id FROM slowwave.dead_letters WHERE tenant = :tenant AND payload ->> 'content' = :word",
        tenant=place.tenant,
        word=place.word,
    )
    return int(row.id)


def keys_of(world: World, place: Place) -> list[str]:
    """The keys of the place's questions and contradictions, whether the inbox lists them or not."""
    questions, conflicts_there = (world.numbers(table, place) for table in ("review_items", "memory_conflicts"))
    assert questions
    assert conflicts_there
    return [*(f"q{number}" for number in questions), *(f"c{number}" for number in conflicts_there)]


def modules() -> Iterator[ModuleType]:
    """Where reading functions stand."""
    for package in (reports, metrics):
        for found in pkgutil.iter_modules(package.__path__):
            yield import_module(f"{package.__name__}.{found.name}")
    yield from (lookup, conflict_sides, file_lines, masking, book, due, agents, export, samples)


def readers() -> dict[str, Callable[..., Any]]:
    """Every public function there that is given a connection or an engine, as `module.function`, and every public
    method of Memory that reads.
    """
    found: dict[str, Callable[..., Any]] = {}
    for module in modules():
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("_") or function.__module__ != module.__name__:
                continue
            given = {parameter.annotation for parameter in inspect.signature(function).parameters.values()}
            if given & {Connection, Engine, Reads, "Connection"}:
                found[f"{module.__name__.rpartition('.')[2]}.{name}"] = function
    for name, method in inspect.getmembers(Memory, callable):
        if not name.startswith("_") and name not in WRITING:
            found[f"Memory.{name}"] = method
    return found
