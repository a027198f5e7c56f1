"""The functions that read the database, and the reasons why `tests/support/wall_readers.py` leaves some out."""

import inspect
import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from sqlalchemy import Connection, Engine

from slowwave import Memory
from slowwave_server.models.driver import Reads
from slowwave_server.services import lookup, reports, samples
from slowwave_server.services.days import agents, book, due
from slowwave_server.services.memories import file_lines, masking
from slowwave_server.services.memory_files import export
from slowwave_server.services.reports import metrics
from slowwave_server.services.review import conflict_sides

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
    "doctor.check_maintenance": "jobs belong to the installation",
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
    "doctor.check_roles": "of the installation: names of its tables and functions",
    "doctor.check_passes": "of the whole installation: numbers of runs",
    "unkept.check_unkept": "of the whole installation: counts",
    "waiting_for_people.check_letters": "of the whole installation: counts by tenant",
    "embeddings.read_embeddings": "of the whole installation, for its operator: names of models, counts",
    "files.check_files": "of the whole installation: counts",
    "backlog.check_backlog": "as check_files and check_copies, which call it",
    "copies.check_copies": "of the whole installation: counts",
    "doctor.check_source": "of the whole installation: counts, and the kind of the last error",
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
