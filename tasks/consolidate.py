"""Queues `capture` and `consolidate`: notes for working memory, cycles over it, passes over a scope."""

import logging

from celery.exceptions import Reject

from slowwave.coordination.consolidation_queue import ask_for_pass, begin_pass
from slowwave.coordination.keys import CAPTURE_QUEUE, CONSOLIDATE_QUEUE
from slowwave.errors import SlowwaveError, StoreUnavailable
from slowwave.identity import scope_of
from slowwave.messages import CONSOLIDATE_SCOPE, REMEMBER
from slowwave.working import ConsolidateScope, Remember
from slowwave_server.services.consolidation.asking import ModelUse
from slowwave_server.services.consolidation.scope_pass import Order
from slowwave_server.services.consolidation.unchecked import unchecked_scopes
from slowwave_server.services.consolidation.whole import consolidate_whole
from slowwave_server.services.lookup import find_scope
from slowwave_server.services.queued_calls import remember as keep
from slowwave_server.services.working.consolidate import consolidate_working
from slowwave_server.services.working.store import due_scopes
from slowwave_server.tasks.base import REST_SECONDS, Runtime, SlowwaveTask, slowwave_task

log = logging.getLogger(__name__)


@slowwave_task(REMEMBER, queue=CAPTURE_QUEUE)
def remember(self: SlowwaveTask, note: Remember) -> None:
    """Add a note to working memory. Without a key the message's id is the key, so that a redelivery adds nothing."""
    # As in record_turn: the time of receipt is taken before the check.
    taken = self.runtime.clock().isoformat()
    if self.was_forgotten():
        return
    try:
        keep(self.runtime.memory.for_tenant(note.tenant), note, key=self.request.id or "", taken=taken)
    except StoreUnavailable as error:
        # Notes have no spool: the queue keeps the message until Postgres is available again.
        self.runtime.flusher.pause(REST_SECONDS)
        raise Reject(str(error), requeue=True) from error
    except SlowwaveError as error:
        self.store_dead_letter(note.model_dump(mode="json"), str(error))


@slowwave_task(CONSOLIDATE_SCOPE, queue=CONSOLIDATE_QUEUE)
def consolidate_scope(self: SlowwaveTask, asked: ConsolidateScope) -> str:
    """Run a cycle over a scope's working memory, or a pass over its memories. If a cap ended it, request the rest."""
    runtime = self.runtime
    tenant = asked.tenant or runtime.settings.tenant
    kind, name = scope_of(asked.agent, asked.scope)
    if asked.ticket is not None:
        begin_pass(runtime.redis, tenant, kind, name, asked.mode, asked.ticket)
    with runtime.engine.connect() as connection:
        scope_id = find_scope(connection, tenant, kind, name)
    if scope_id is None:
        log.info("consolidate %s %s:%s: nothing was ever written there", asked.mode, kind, name)
        return "unknown"
    more, state, summary = _run(runtime, scope_id, asked, by=self.request.hostname)
    if more:
        ask_for_pass(runtime.redis, tenant, kind, name, asked.mode)
    log.info("consolidate %s %s:%s: %s", asked.mode, kind, name, summary)
    return state


def _run(runtime: Runtime, scope_id: int, asked: ConsolidateScope, *, by: str | None) -> tuple[bool, str, str]:
    settings = runtime.settings.memory.consolidation
    if asked.mode == "working":
        cycle = consolidate_working(runtime.engine, scope_id, settings=settings, clock=runtime.clock, by=by)
        return cycle.more, cycle.state, cycle.summary
    use = ModelUse.of(runtime.model, runtime.settings.memory.llm)
    order = Order(scope_id, asked.mode, by, model=use)
    done = consolidate_whole(runtime.engine, order, settings=settings, clock=runtime.clock)
    return done.more, done.state, done.summary


@slowwave_task("slowwave.consolidate_working", every=lambda settings: settings.memory.consolidation.interval_seconds)
def consolidate_working_memories(self: SlowwaveTask) -> None:
    """Request a cycle for each scope with due notes, then a light pass for each scope with new memories.

    The scope that has waited longest comes first.
    """
    runtime = self.runtime
    settings = runtime.settings.memory.consolidation
    room = runtime.room_in(CONSOLIDATE_QUEUE)
    if not settings.enabled or room <= 0:
        return
    now = runtime.clock()
    with runtime.engine.connect() as connection:
        noted = due_scopes(connection, min_importance=settings.min_importance, limit=room, now=now)
        new = unchecked_scopes(connection, settings, limit=room - len(noted), now=now)
    sent = sum(ask_for_pass(runtime.redis, scope.tenant, scope.kind, scope.name) for scope in noted)
    sent += sum(ask_for_pass(runtime.redis, scope.tenant, scope.kind, scope.name, "light") for scope in new)
    if noted or new:
        log.info(
            "consolidate: %d scopes have notes that are due, %d have new memories; %d passes are asked for now",
            len(noted),
            len(new),
            sent,
        )
