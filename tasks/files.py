"""Queue `consolidate`: updates the files of `memory.backend: file`, one scope per message; a tick requests the
updates.

A lost or duplicate message changes nothing: Postgres stores the waiting changes, and the files contain the hand edits.
"""

import logging

from redis.exceptions import RedisError
from sqlalchemy.exc import DBAPIError

from slowwave.coordination.keys import CONSOLIDATE_QUEUE
from slowwave.identity import SessionRef, scope_of
from slowwave.messages import DELIVER_OUTBOX
from slowwave.settings import MemorySettings
from slowwave_server.services.flush.flusher import FlushResult
from slowwave_server.services.lookup import find_scope
from slowwave_server.services.mem0_backend.choosing import feed_chosen
from slowwave_server.services.mem0_backend.delivery import copies_due, try_delivery
from slowwave_server.services.memory_files.delivery import DeliveryReport, FileRules, deliver
from slowwave_server.services.memory_files.disk import Disk
from slowwave_server.services.memory_files.files_queue import ask_for_delivery, begin_delivery
from slowwave_server.services.memory_files.outbox import WaitingScope
from slowwave_server.services.memory_files.sync import due_scopes, waiting_for_session
from slowwave_server.services.task_payloads import DeliverOutbox
from slowwave_server.tasks.base import Runtime, SlowwaveTask, slowwave_task

log = logging.getLogger(__name__)

DELIVERY_SECONDS = 600
"""The first delivery of a scope with years of memories writes thousands of files, each with an fsync."""


def file_rules(settings: MemorySettings) -> FileRules:
    """Return the rules for deliveries, from the settings."""
    return FileRules(settings.files.root.expanduser(), settings.auto_flush.curation.append_only)


@slowwave_task(DELIVER_OUTBOX, queue=CONSOLIDATE_QUEUE, most_seconds=DELIVERY_SECONDS)
def deliver_outbox(self: SlowwaveTask, asked: DeliverOutbox) -> str:
    """Update the files of a scope, after reading hand edits, or update mem0. If a cap ended it, request the rest."""
    runtime = self.runtime
    tenant = asked.tenant or runtime.settings.tenant
    kind, name = scope_of(asked.agent, asked.scope)
    if asked.ticket is not None:
        begin_delivery(runtime.redis, tenant, kind, name, asked.ticket)
    with runtime.engine.connect() as connection:
        scope_id = find_scope(connection, tenant, kind, name)
    if scope_id is None:
        log.info("files of %s:%s: nothing was ever written there", kind, name)
        return "unknown"
    if runtime.settings.memory.backend != "file":
        return _deliver_copies(runtime, WaitingScope(scope_id, tenant, kind, name))
    rules = file_rules(runtime.settings.memory)
    report = deliver(runtime.engine, scope_id, rules=rules, disk=Disk(), now=runtime.clock(), by=self.request.hostname)
    _tell(f"{kind}:{name}", report)
    if report.more:
        ask_for_delivery(runtime.redis, tenant, kind, name)
    return report.state


@slowwave_task("slowwave.sync_files", every=lambda settings: settings.memory.files.sync_seconds)
def sync_files(self: SlowwaveTask) -> None:
    """Request a delivery for each scope with waiting changes or with an edited file."""
    runtime = self.runtime
    settings = runtime.settings.memory
    room = runtime.room_in(CONSOLIDATE_QUEUE)
    if room <= 0:
        return
    now = runtime.clock()
    if settings.backend != "postgres":
        feed_chosen(runtime.engine, runtime.settings, now, anew=False)
    with runtime.engine.connect() as connection:
        if settings.backend == "file":
            scopes = due_scopes(connection, file_rules(settings).root, Disk(), limit=room, now=now)
        else:
            # If mem0 is not the backend: data that a forget could not delete in mem0.
            scopes = copies_due(connection, settings.backend, limit=room, now=now)
    sent = sum(ask_for_delivery(runtime.redis, scope.tenant, scope.kind, scope.name) for scope in scopes)
    if scopes:
        log.info("backends: %d scopes are due, %d are asked for now", len(scopes), sent)


def ask_after_flush(runtime: Runtime, ref: SessionRef, result: FlushResult) -> None:
    """Request a delivery of the changes of a committed flush, so that they reach the files within seconds.

    A failure here does not fail the flush, and the tick requests the delivery anyway.
    """
    backend = runtime.settings.memory.backend
    if backend == "postgres" or result.window is None:
        return
    try:
        with runtime.engine.connect() as connection:
            scope = waiting_for_session(connection, ref, backend, now=runtime.clock())
        if scope is not None and runtime.room_in(CONSOLIDATE_QUEUE) > 0:
            ask_for_delivery(runtime.redis, scope.tenant, scope.kind, scope.name)
    except (DBAPIError, RedisError) as error:
        log.warning("no delivery to a backend was asked for after a flush: %s", type(error).__name__)


def _deliver_copies(runtime: Runtime, scope: WaitingScope) -> str:
    """Deliver to mem0; if it is not the backend, deliver only pending deletions of a forget."""
    name = f"{scope.kind}:{scope.name}"
    with runtime.engine.connect() as connection:
        due = copies_due(connection, runtime.settings.memory.backend, limit=1, now=runtime.clock(), scope_id=scope.id)
    if not due:
        log.info("backends: nothing of %s waits, memory.backend is %s here", name, runtime.settings.memory.backend)
        return "off"
    report = try_delivery(runtime.engine, scope.id, runtime.memory.store.mem0.store, now=runtime.clock())
    level = logging.WARNING if report.state == "failed" else logging.INFO
    log.log(level, "mem0: %s: %s, %d written, %d removed", name, report.state, report.written, report.removed)
    if report.more:
        ask_for_delivery(runtime.redis, scope.tenant, scope.kind, scope.name)
    return report.state


def _tell(scope: str, report: DeliveryReport) -> None:
    for path, why in report.held.items():
        log.warning("files of %s: %s: %s", scope, path, why)
    for path, number, what in report.notes:
        log.info("files of %s: %s, line %d %s", scope, path, number, what)
    level = logging.WARNING if report.state == "failed" else logging.INFO
    log.log(level, "files of %s: %s, %d written, %d memories", scope, report.state, report.written, report.delivered)
