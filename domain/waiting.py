"""Explain in words why a session waits: one main reason, further notes, and the fix.

The rules have the order in which they would stop a flush: running work comes before queued work, and queued work before
a timer. So there is always exactly one reason.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from slowwave.coordination.outcomes import Sighting
from slowwave.settings import AutoFlush
from slowwave_server.domain.spoken_time import duration_words, format_time, pluralize
from slowwave_server.domain.waiting_facts import Facts, Reason, Waiting

SILENT_SWEEPS = 3
"""After this many sweep intervals without a sweep, the sweep counts as silent."""

_TRIGGERS = {
    "turns": "it has more turns than the threshold",
    "idle": "the agent went idle",
    "compaction": "its conversation was compacted",
    "reset": "its conversation was reset",
    "prompt": "a prompt arrived in another session of this agent",
    "operator": "a person requested it",
    "request": "another service requested it",
    "failure": "its last flush failed",
    "stale": "nobody has seen it for so long",
    "ttl": "nobody has seen it for memory.sessions.session_ttl_minutes, and it counts as over",
    "capacity": "its agent has more open conversations than memory.sessions.max_active_sessions",
}


def waiting_for(facts: Facts, rules: AutoFlush) -> Waiting:
    """Find the reason why this session waits. The function never fails, whatever the facts are."""
    first = _first(facts, rules)
    return Waiting(first.reason, first.sentence, first.until, tuple(_also(facts, rules, first.reason)), first.cure)


def _first(facts: Facts, rules: AutoFlush) -> Waiting:
    return _beyond_queue(facts, rules) or _in_queue(facts, rules) or _unqueued(facts, rules)


def _beyond_queue(facts: Facts, rules: AutoFlush) -> Waiting | None:
    """Return reasons that take precedence over the queue."""
    if not facts.dirty:
        return _named(facts) if facts.source_runs else _clean(facts)
    if facts.deleted_at is not None:
        at = format_time(facts.deleted_at, facts.now)
        return Waiting(Reason.FORGOTTEN, f"Nothing: its agent was forgotten at {at}, and none of its data is kept.")
    if facts.sighting is not None and facts.sighting.state == "running":
        return _running(facts.sighting)
    if facts.not_before is not None and facts.not_before > facts.now:
        return _backing_off(facts, facts.not_before, rules)
    return None


def _in_queue(facts: Facts, rules: AutoFlush) -> Waiting | None:
    if facts.sighting is None:
        return Waiting(
            Reason.NO_BROKER,
            "The broker can't be reached, so no worker can be woken.",
            cure="start the broker; the next sweep then offers this session again",
        )
    if facts.sighting.state == "parked":
        return _parked(facts, facts.sighting, rules)
    return _pending(facts, facts.sighting) if facts.sighting.state == "pending" else None


def _clean(facts: Facts) -> Waiting:
    if facts.last_seq == 0:
        return Waiting(Reason.CLEAN, "Nothing: it has no events yet.")
    last = "" if facts.flushed_at is None else f", the last at {format_time(facts.flushed_at, facts.now)}"
    return Waiting(Reason.CLEAN, f"Nothing: all its events are processed ({facts.last_seq:,}){last}.")


def _named(facts: Facts) -> Waiting:
    """Handle a session whose conversation another program keeps and which has unread events."""
    due = facts.source_due_at
    when = "at the next look" if due is None or due <= facts.now else _from(due, facts.now)
    error = "" if facts.source_error is None else f" The last check failed: {facts.source_error}"
    return Waiting(
        Reason.SOURCE,
        f"It waits for {pluralize(facts.source_runs, 'run')} that a hook named: a worker reads them from the store of"
        f" memory.source {when}.{error}",
        due,
        cure="start a worker on the queue 'capture'; `slowwave doctor` says if the store can't be read",
    )


def _running(sighting: Sighting) -> Waiting:
    lease = duration_words(sighting.expires_in or 0)
    return Waiting(
        Reason.RUNNING,
        f"A worker is flushing it now; its lease runs for another {lease} and is renewed while the worker lives.",
    )


def _backing_off(facts: Facts, until: datetime, rules: AutoFlush) -> Waiting:
    error = facts.last_error or "it left no message"
    if facts.attempts:
        tried = f"attempt {facts.attempts} of {rules.extractor.max_retries + 1}"
    else:
        # The environment failed, not the window: such waits use no attempt.
        tried = f"{pluralize(facts.failures, 'failure')} in a row; it is retried until it succeeds"
    ends = facts.closes_at if facts.closes_at is not None and facts.now < facts.closes_at < until else None
    sooner = "" if ends is None else f" It counts as over {_from(ends, facts.now)} and is then tried at once."
    return Waiting(
        Reason.BACKING_OFF,
        f"It backs off {_until(until, facts.now)} after an error ({tried}): {error}{sooner}",
        ends or until,
        cure="fix the cause of the error; `slowwave session flush` then retries at once",
    )


def _parked(facts: Facts, sighting: Sighting, rules: AutoFlush) -> Waiting:
    running = f"{pluralize(sighting.agent_running, 'session')} running"
    if sighting.agent_queued:
        running += f", {sighting.agent_queued} queued"
    if sighting.agent_running + sighting.agent_queued < rules.per_agent_concurrency:
        return Waiting(
            Reason.PARKED,
            f"It is parked although its agent has room ({running}): the worker that should have offered it "
            f"is gone. The next sweep that finds it due offers it{_due(facts)}.",
            facts.flush_due_at,
        )
    ahead = f", {pluralize(sighting.ahead, 'session')} before it" if sighting.ahead else ""
    limit = rules.per_agent_concurrency
    return Waiting(
        Reason.PARKED,
        f"It is parked behind its agent's limit: {running}, of at most {limit}{ahead}. "
        f"It starts when one of them ends (waiting for {duration_words(sighting.parked_for or 0)}, "
        f"{sighting.priority} priority).",
    )


def _pending(facts: Facts, sighting: Sighting) -> Waiting:
    queue = "flush.high" if sighting.priority == "high" else "flush"
    depth = dict(facts.depths).get(queue)
    if facts.listening is not None and queue not in facts.listening:
        return Waiting(
            Reason.NO_WORKER,
            f"It is queued at {sighting.priority} priority, and no worker listens to {queue!r}.",
            cure=f"start one: `slowwave worker --queues {queue}`, or `slowwave up`",
        )
    # A message that a worker already holds is no longer in the list.
    among = f" among {pluralize(depth, 'message')}" if depth else ""
    return Waiting(
        Reason.QUEUED,
        f"It is queued at {sighting.priority} priority in {queue!r}{among}; the first free worker takes it.",
    )


def _unqueued(facts: Facts, rules: AutoFlush) -> Waiting:
    due = facts.flush_due_at
    if not rules.enabled:
        return Waiting(
            Reason.SWITCHED_OFF,
            "Automatic flushing is switched off (memory.auto_flush.enabled is false).",
            cure="`slowwave session flush` asks for this session by hand",
        )
    if due is None:
        return Waiting(
            Reason.STRANDED,
            "It has new events and no time at which it is due, so no sweep will find it.",
            cure="`slowwave session flush` asks for it; then report this: no rule leads to this state",
        )
    timer = min(_timers(facts, rules))
    if facts.invalidated_at is None and not facts.attempts and timer > facts.now:
        # The due time may be outdated: the sweep moves it while the conversation continues, capture does not.
        return _timer(facts, timer, rules)
    if due <= facts.now:
        return _due_now(facts, due, rules)
    if facts.invalidated_at is not None or facts.attempts or timer <= facts.now:
        gone = "a worker began it and is gone" if facts.attempts else "its message is lost or waits in a long queue"
        return Waiting(
            Reason.LOOK_AGAIN, f"It was offered, and {gone}. The sweep offers it again {_from(due, facts.now)}.", due
        )
    return _timer(facts, due, rules)


def _due_now(facts: Facts, due: datetime, rules: AutoFlush) -> Waiting:
    interval = duration_words(rules.flush_interval_seconds)
    overdue = duration_words((facts.now - due).total_seconds())
    queued = dict(facts.depths).get("flush", 0)
    if facts.swept_ago is not None and facts.swept_ago <= SILENT_SWEEPS * rules.flush_interval_seconds:
        if queued >= rules.max_queued:
            full = f"the queue 'flush' is full ({queued:,} messages), and sweeps offer it when there is room"
            return Waiting(Reason.DUE, f"It has been due for {overdue}; {full}.", due)
        return Waiting(Reason.DUE, f"It has been due for {overdue}; sweeps come every {interval} and offer it.", due)
    last = "there is no trace of any" if facts.swept_ago is None else f"the last was {_ago(facts.swept_ago)}"
    return Waiting(
        Reason.NO_SWEEP,
        f"It has been due for {overdue}, and no sweep offers it: {last}, though one should come every {interval}.",
        due,
        cure="start a worker with beat: `slowwave worker --beat`, or `slowwave up`",
    )


def _timers(facts: Facts, rules: AutoFlush) -> tuple[datetime, datetime, datetime]:
    """Check the three timers: the session was quiet long enough, its oldest event is too old, or it is over."""
    quiet_at = facts.last_seen_at + timedelta(seconds=rules.idle_seconds)
    aged_at = (facts.dirty_since or facts.last_seen_at) + timedelta(seconds=rules.max_dirty_age_seconds)
    return quiet_at, aged_at, facts.closes_at or max(quiet_at, aged_at)


def _timer(facts: Facts, due: datetime, rules: AutoFlush) -> Waiting:
    quiet_at, aged_at, closes_at = _timers(facts, rules)
    if closes_at < min(quiet_at, aged_at):
        due = closes_at
        ttl = duration_words((closes_at - facts.last_seen_at).total_seconds())
        why = f"nobody has then seen it for {ttl} (memory.sessions.session_ttl_minutes), and it counts as over"
    elif aged_at < quiet_at:
        why = f"its oldest new event is then {duration_words(rules.max_dirty_age_seconds)} old"
    else:
        why = f"it has then been quiet for {duration_words(rules.idle_seconds)}"
    return Waiting(Reason.TIMER, f"It waits {_until(due, facts.now)}: {why}.", due)


def _also(facts: Facts, rules: AutoFlush, reason: Reason) -> Iterator[str]:
    if facts.dirty and facts.source_runs:
        yield f"{pluralize(facts.source_runs, 'more run')} of it, named by a hook, must be read yet (memory.source)."
    if facts.dirty and reason is not Reason.FORGOTTEN:
        yield from _backlog(facts, rules, reason)
    if facts.sighting is not None and facts.sighting.rerun is not None:
        yield "More events arrived while it runs: it is offered again when this flush ends."
    if facts.dirty and facts.window_limit is not None:
        yield (
            f"A window of it keeps failing: it shrinks, now to at most {pluralize(facts.window_limit, 'event')}, "
            "until the guilty one is alone and set aside."
        )
    if facts.last_error and facts.dirty and reason is not Reason.BACKING_OFF:
        yield f"Its last error: {facts.last_error}"
    if facts.dirty and reason is not Reason.NO_WORKER and facts.listening is not None:
        missing = sorted({"flush.high", "flush"} - facts.listening)
        if len(missing) == 2:  # noqa: PLR2004 (both queues that carry flushes)
            yield "No worker listens to the flush queues: nothing will be flushed until one does."
    if facts.quarantined:
        yield f"{pluralize(facts.quarantined, 'event')} of it set aside: see `slowwave queue list`."


def _backlog(facts: Facts, rules: AutoFlush, reason: Reason) -> Iterator[str]:
    events = pluralize(facts.last_seq - facts.processed_until, "new event")
    since = facts.dirty_since
    age = "" if since is None else f", the oldest for {duration_words((facts.now - since).total_seconds())}"
    first, last = facts.processed_until + 1, facts.last_seq
    yield f"{events} (seq {first if first == last else f'{first} to {last}'}){age}."
    if facts.invalidated_by is not None and facts.invalidated_at is not None:
        yield f"Asked for because {_TRIGGERS.get(facts.invalidated_by, facts.invalidated_by)}."
    elif reason is Reason.TIMER:
        turns = facts.last_turn - facts.processed_turn
        yield (
            f"Sooner if it passes {pluralize(rules.turn_threshold, 'turn')} ({turns} so far), "
            "or if a prompt arrives in another session of this agent."
        )


def _until(moment: datetime, now: datetime) -> str:
    return f"until {format_time(moment, now)} (in {duration_words((moment - now).total_seconds())})"


def _from(moment: datetime, now: datetime) -> str:
    return f"at {format_time(moment, now)} (in {duration_words((moment - now).total_seconds())})"


def _due(facts: Facts) -> str:
    if facts.flush_due_at is None or facts.flush_due_at <= facts.now:
        return ""
    return f" {_from(facts.flush_due_at, facts.now)}"


def _ago(seconds: float) -> str:
    return f"{duration_words(seconds)} ago"
