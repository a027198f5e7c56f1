"""Record calls from a queue, each with its enqueue time; a target that was forgotten later discards it."""

from slowwave.capture import Entry, about_of
from slowwave.errors import ScopeConflict, WasForgotten
from slowwave.memory import Memory
from slowwave.messages import RecordTurn, check_key, turn_events
from slowwave.working import Remember, note


def record_turn(memory: Memory, turn: RecordTurn, *, key: str, taken: str) -> None:
    """Record a turn as `Memory.turn_completed` does. taken: the enqueue time, ISO 8601.

    key: the idempotency key for a turn without its own. Raises as `turn_completed`.
    """
    events, _ = turn_events(turn.messages, check_key(turn.key or key), memory.store.settings.memory.tools)
    if not events:
        return
    about = about_of(turn.scope, turn.room_id, turn.thread_id)
    entry = Entry(memory.tenant, turn.agent, turn.session, events, about)
    entry.stamp(taken)
    captured, _ = memory.store.record(entry)
    if captured is not None and captured.problem:
        raise ScopeConflict(f"{turn.agent}/{turn.session}: {captured.problem}")


def remember(memory: Memory, asked: Remember, *, key: str, taken: str) -> bool:
    """Store a note as `Memory.remember` does. False: it was forgotten meanwhile. Raises as `remember`."""
    try:
        store = memory.store
        note(store.postgres, store.settings.memory, memory.tenant, asked, key=asked.key or key, taken=taken)
    except WasForgotten:
        return False
    return True
