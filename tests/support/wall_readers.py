"""A call of every function that reads the database, for a place of `tests/support/walls.py`."""

from datetime import UTC, datetime

from slowwave import Memory
from slowwave.recall import Context
from slowwave.settings import Days, Llm
from slowwave_server.services import lookup
from slowwave_server.services.days import agents, book, due
from slowwave_server.services.memories import file_lines
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
    quarantine,
    records,
    relations,
    review,
    run_list,
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
from tests.support.midday import TODAY
from tests.support.wall_calls import (
    Reader,
    as_data,
    by_memory,
    changes,
    day_lines,
    events_of,
    exported,
    keys_answered,
    letter,
    open_keys_of,
    reach,
    ref,
    relations_of,
    scopes,
    shared,
)
from tests.support.walls import RULES, YESTERDAY

READERS = [
    Reader(Memory.search, lambda w, _, p: w.of(p).search(p.agent, "editor boat key", 50, scopes=scopes(p)), "reader"),
    Reader(
        Memory.search,
        lambda w, _, p: w.of(p).search(p.agent, "editor", 50, scopes=scopes(p), include_review=True),
        "reader",
    ),
    Reader(Memory.context, lambda w, _, p: w.of(p).context(p.agent, scopes=scopes(p)), "reader"),
    Reader(Memory.context, lambda w, _, p: w.of(p).context(p.agent, None, "boat", 3, scopes=scopes(p)), "reader"),
    Reader(
        Memory.context,
        lambda w, _, p: [
            form(w.of(p).context(p.agent, f"{p.word}-tail", scopes=scopes(p), max_tokens=900))
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
    Reader(days.said_for, lambda _, c, p: days.said_for(c, p.tenant, p.agent, day_lines(c, p)), "place"),
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
        lambda _, c, p: due.due_days_of_sessions(c, [ref(p, "tail")], Days(), now=datetime.now(UTC)),
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
    Reader(inbox.keys_of_run, keys_answered, silent=True),
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
        lambda _, c, p: [transcript.read_transcript(c, p.tenant, p.agent, session) for _, session, _ in events_of(p)],
        "place",
    ),
    Reader(
        transcript.read_transcript,
        lambda _, c, p: transcript.read_transcript(c, p.tenant, p.agent, f"{p.word}-talk", at=2),
        "place",
    ),
    Reader(
        transcript.read_surroundings,
        lambda _, c, p: list(transcript.read_surroundings(c, p.tenant, events_of(p), around=50).values()),
        "place",
    ),
    Reader(listed.list_sessions, lambda _, c, p: listed.list_sessions(c, p.tenant, p.agent), "agent"),
    Reader(dirty.dirty_sessions, lambda _, c, p: dirty.dirty_sessions(c, p.tenant, p.agent), "agent"),
    Reader(dirty.goals_of, lambda _, c, p: dirty.goals_of(c, [ref(p, "tail")]), "place"),
    Reader(
        explain.explain_memory,
        lambda w, c, p: [explain.explain_memory(c, p.tenant, memory) for memory in w.memories(p)],
    ),
    Reader(
        memory_ids.memory_called,
        lambda w, c, p: [memory_ids.memory_called(c, p.tenant, memory.hex[-8:]) for memory in w.memories(p)],
        silent=True,
    ),
    Reader(memories.list_memories, lambda _, c, p: memories.list_memories(c, p.tenant, p.agent, scope=shared(p))),
    Reader(
        memories.list_memories,
        lambda _, c, p: memories.list_memories(
            c, p.tenant, p.agent, scope=shared(p), as_of=datetime.now(UTC), known_at=datetime.now(UTC)
        ),
    ),
    Reader(
        memories.list_memories,
        lambda _, c, p: memories.list_memories(
            c, p.tenant, p.agent, scope=shared(p), session=f"{p.word}-talk", status="archived"
        ),
        silent=True,
    ),
    Reader(
        memories.list_memories,
        lambda _, c, p: memories.list_memories(c, p.tenant, p.agent, scope=shared(p), words="editor"),
    ),
    Reader(
        records.read_record,
        lambda w, c, p: [records.read_record(c, p.tenant, memory, reach(p)) for memory in w.memories(p)],
    ),
    Reader(
        records.as_records,
        lambda _, c, p: records.as_records(
            c, p.tenant, ":".join(p.key), memories.list_memories(c, p.tenant, p.agent, scope=shared(p)), then=True
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
    by_memory(relations.conflicts_of),
    by_memory(relations.questions_of),
    by_memory(relations.notes_of),
    by_memory(file_lines.lines_of),
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
    Reader(run_list.list_runs, lambda _, c, p: run_list.list_runs(c, p.tenant, scope=p.key)),
    Reader(run_list.list_runs, lambda _, c, p: run_list.list_runs(c, p.tenant, limit=500), "tenant"),
    Reader(
        run_list.find_run,
        lambda w, c, p: [run_list.find_run(c, p.tenant, run) for run in w.numbers("maintenance_runs", p)],
    ),
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
            c, w.queue, ref(p, "tail"), w.memory.store.settings.memory.auto_flush, now=datetime.now(UTC)
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
    Reader(export.export_scope, lambda w, _, p: exported(w, p)),
    Reader(export.scopes_of, lambda _, c, p: export.scopes_of(c, p.tenant), silent=True),
    Reader(export.known_scope, lambda _, c, p: export.known_scope(c, p.tenant, *p.key), silent=True),
    Reader(
        review.revisions_of,
        lambda w, c, p: [review.revisions_of(c, p.tenant, "item", one) for one in w.numbers("review_items", p)],
        silent=True,
    ),
    Reader(
        graph.best_connected,
        lambda _, c, p: as_data(graph.best_connected(c, p.tenant, p.agent, scope=shared(p))),
    ),
    Reader(
        graph.neighbourhood,
        lambda _, c, p: as_data(graph.neighbourhood(c, p.tenant, p.agent, p.word, scope=shared(p), depth=3)),
    ),
    Reader(
        timeline.values_of,
        lambda _, c, p: [
            timeline.values_of(c, p.tenant, p.agent, *relation, scope=shared(p))
            for relation in relations_of(graph.best_connected(c, p.tenant, p.agent, scope=shared(p)))
        ],
    ),
    Reader(
        timeline.changed_relations,
        lambda _, c, p: timeline.changed_relations(c, p.tenant, p.agent, scope=shared(p)),
        silent=True,
    ),
]
