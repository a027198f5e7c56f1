"""Queue `capture`: the hooks, for callers with a broker and without a database."""

from typing import Any

from slowwave.coordination.keys import CAPTURE_QUEUE
from slowwave.errors import SlowwaveError
from slowwave.messages import PROMPT_ARRIVED, RECORD_TURN, PromptArrived, RecordTurn
from slowwave_server.services.queued_calls import record_turn as record
from slowwave_server.tasks.base import SlowwaveTask, slowwave_task

REFUSED_MESSAGE = "slowwave.refused_message"
"""The task that a worker runs in place of a task that `capture` does not accept; no client sends it."""


@slowwave_task(RECORD_TURN, queue=CAPTURE_QUEUE)
def record_turn(self: SlowwaveTask, turn: RecordTurn) -> None:
    """Record a turn. Without a key the message's own id is the key, so that a redelivery adds nothing."""
    # The time of receipt is taken before the check: the forget's fence stops any message that the check misses (I10).
    taken = self.runtime.clock().isoformat()
    if self.was_forgotten():
        return
    try:
        record(self.runtime.memory.for_tenant(turn.tenant), turn, key=self.request.id or "", taken=taken)
    except SlowwaveError as error:
        self.store_dead_letter(turn.model_dump(mode="json"), str(error))


@slowwave_task(PROMPT_ARRIVED, queue=CAPTURE_QUEUE)
def prompt_arrived(self: SlowwaveTask, prompt: PromptArrived) -> None:
    """Make the other dirty sessions of an agent urgent, because a prompt arrived for one session."""
    self.runtime.memory.for_tenant(prompt.tenant).prompt_arrived(prompt.agent, prompt.session)


@slowwave_task(REFUSED_MESSAGE)
def refused_message(self: SlowwaveTask, task: str, args: list[Any], kwargs: dict[str, Any]) -> None:
    """Store a message as a dead letter if `capture` does not accept its task. A task of another queue gets a name that
    is never sent again.
    """
    known = task in self.app.tasks
    error = f"the queue capture does not accept the task {task!r}" if known else f"this version has no task {task!r}"
    self.store_dead_letter(
        kwargs | ({"args": args} if args else {}), error, task=f"{task} on capture" if known else task
    )
