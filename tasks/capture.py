"""Queue `capture`: the hooks, for callers that have the broker and no database.

Must not know: how events are stored.
"""

from typing import Any

from celery import shared_task

from slowwave.errors import SlowwaveError
from slowwave.messages import PROMPT_ARRIVED, RECORD_TURN, PromptArrived, RecordTurn
from slowwave.waited import record_turn as record
from slowwave_server.tasks.base import SlowwaveTask


@shared_task(name=RECORD_TURN, base=SlowwaveTask, bind=True)
def record_turn(self: SlowwaveTask, *args: Any, **kwargs: Any) -> None:
    """Record a turn. Without a key the message's own id is the key, so that a redelivery adds nothing."""
    # Dated before it asks: what a forget did not stop here, its fence stops (I10).
    taken = self.runtime.clock().isoformat()
    if self.was_forgotten():
        return
    turn = self.parse(RecordTurn, args, kwargs)
    if turn is None:
        return
    try:
        record(self.runtime.memory.for_tenant(turn.tenant), turn, key=self.request.id or "", taken=taken)
    except SlowwaveError as error:
        self.bury(turn.model_dump(mode="json"), str(error))


@shared_task(name=PROMPT_ARRIVED, base=SlowwaveTask, bind=True)
def prompt_arrived(self: SlowwaveTask, *args: Any, **kwargs: Any) -> None:
    """A prompt arrived for one session of an agent: its other dirty sessions come first now."""
    prompt = self.parse(PromptArrived, args, kwargs)
    if prompt is not None:
        self.runtime.memory.for_tenant(prompt.tenant).prompt_arrived(prompt.agent, prompt.session)
