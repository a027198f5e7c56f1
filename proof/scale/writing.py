"""Writing operations: hooks, sweeps, flushes."""

from typing import Any

from proof.scale.measuring import Operation
from proof.scale.place import Place
from proof.scale.world import LARGEST, TEAM, TENANT
from slowwave.identity import SessionRef
from slowwave_server.services.flush.sweep import sweep

TURN = (
    {"role": "user", "content": "I adopted a dog from the shelter on Saturday, and we named him Biscuit."},
    {"role": "assistant", "content": "Congratulations! How old is Biscuit, and is he used to children already?"},
)
BOOSTED = 5
FEW = 20
_ALL_DUE = (
    "UPDATE slowwave.sessions SET flush_due_at = now() - interval '1 minute', invalidated_at = last_seq"
    " WHERE dirty_since IS NOT NULL AND flush_due_at > now()"
)
# Within the time that a session may wait by the settings: a sweep takes a later time for the fault of a clock.
_NONE_DUE = (
    "UPDATE slowwave.sessions SET flush_due_at = now() + interval '10 minutes'"
    " WHERE dirty_since IS NOT NULL AND flush_due_at < now() + interval '5 minutes'"
)
_FEW_DUE = (
    "UPDATE slowwave.sessions SET flush_due_at = now() - interval '1 minute', invalidated_at = last_seq"
    " WHERE id = ANY (ARRAY(SELECT id FROM (SELECT DISTINCT ON (agent_id) agent_id, id FROM slowwave.sessions"
    " WHERE dirty_since IS NOT NULL ORDER BY agent_id, id) AS s ORDER BY id LIMIT %s))"
)


def capture_known(place: Place, number: int, _: Any) -> None:
    """Capture a turn in an existing conversation."""
    ref = place.own[number % len(place.own)]
    place.memory.turn_completed(ref.agent, ref.session, TURN)


def capture_new(place: Place, number: int, _: Any) -> None:
    """Capture the first turn of a conversation."""
    ref = place.own[number % len(place.own)]
    place.memory.turn_completed(ref.agent, f"new-{place.now().timestamp()}", TURN)


def make_all_due(place: Place, number: int) -> None:
    """Make all dirty conversations due, a hundredth of all; those that a round flushed become due again."""
    place.run(_ALL_DUE)
    if number == 0:
        place.run("VACUUM slowwave.sessions")


def make_few_due(place: Place, number: int) -> None:
    """Make twenty dirty conversations due, each of another agent."""
    place.run(_NONE_DUE)
    if number == 0:
        place.run("VACUUM slowwave.sessions")
    place.run(_FEW_DUE, FEW)


def run_sweep(place: Place, _number: int, _: Any) -> None:
    """Run one cycle of the sweep, including its offers. It takes as many sessions of the smaller backlog as of the
    larger one.
    """
    rules = place.settings.memory.auto_flush
    capped = rules.batch.model_copy(update={"max_sessions_per_cycle": FEW})
    report = sweep(place.engine, place.queue, rules.model_copy(update={"batch": capped}), place.now())
    if report.taken != FEW:
        raise RuntimeError(f"the sweep took {report.taken}")


def empty_broker(place: Place, _number: int) -> None:
    """Empty the broker, as if a worker had taken the offers."""
    place.redis.flushdb()


def make_dirty(place: Place, number: int) -> SessionRef:
    """Make a conversation of the team with six new turns, and offer it."""
    ref = SessionRef(TENANT, place.team_member(number).agent, f"flush-{place.now().timestamp()}")
    for turn in range(6):
        said = {"role": "user", "content": f"Number {number}-{turn}: Priya moved to Bergen and bought a red kayak."}
        place.memory.turn_completed(ref.agent, ref.session, (said, TURN[1]), scope=f"team:{TEAM}")
    place.memory.store.offers.settle(5)
    place.redis.flushdb()
    place.queue.offer(ref, "normal")
    return ref


def flush(place: Place, _number: int, ref: SessionRef) -> None:
    """Claim, read the window, extract by rules, commit, release."""
    if place.flusher.flush(ref).outcome not in ("stored", "no_reply"):
        raise RuntimeError("the window was not flushed")


def make_boostable(place: Place, _number: int) -> None:
    """Give the largest agent dirty conversations that are not invalidated yet."""
    for name in range(BOOSTED):
        place.memory.turn_completed(LARGEST, f"other-{name}", TURN)


def boost(place: Place, _number: int, _: Any) -> None:
    """Boost: a prompt arrives for the largest agent."""
    if not place.memory.prompt_arrived(LARGEST, "here"):
        raise RuntimeError("there was nothing to boost")


OPERATIONS = (
    Operation("capture, a turn of a known session", capture_known),
    Operation("capture, the first turn of a session", capture_new),
    Operation("boost on a prompt, largest agent", boost, make_boostable),
    Operation("sweep of twenty, 1 % of sessions due", run_sweep, make_all_due, empty_broker, rounds=20),
    Operation("sweep of twenty, no others due", run_sweep, make_few_due, empty_broker),
    Operation("flush of 12 events: claim, begin, extract, commit", flush, make_dirty),
)
