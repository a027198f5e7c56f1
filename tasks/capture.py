"""Queue `capture`: the hooks, for callers that have the broker and no database.

Must not know: how events are stored.
"""

from typing import Any

from celery import shared_task

from slowwave.errors import SlowwaveError
from slowwave.messages import PROMPT_ARRIVED, RECORD_TURN, PromptArrived, RecordTurn
from tasks.base import SlowwaveTask


@shared_task(name=RECORD_TURN, base=SlowwaveTask, bind=True)
def record_turn(self: SlowwaveTask, *args: Any, **kwargs: Any) -> None:
    """Record a turn. Without a key the message's own id is the key, so that a redelivery adds nothing."""
    turn = self.parse(RecordTurn, args, kwargs)
    if turn is None:
        return
    memory = self.runtime.memory.for_tenant(turn.tenant)
    try:
        memory.turn_completed(
            turn.agent,
            turn.session,
            turn.messages,
            room_id=turn.room_id,
            thread_id=turn.thread_id,
            scope=turn.scope,
            key=turn.key or self.request.id,
        )
    except SlowwaveError as error:
        self.bury(turn.model_dump(mode="json"), str(error))


@shared_task(name=PROMPT_ARRIVED, base=SlowwaveTask, bind=True)
def prompt_arrived(self: SlowwaveTask, *args: Any, **kwargs: Any) -> None:
    """A prompt arrived for one session of an agent: its other dirty sessions come first now."""
    prompt = self.parse(PromptArrived, args, kwargs)
    if prompt is not None:
        self.runtime.memory.for_tenant(prompt.tenant).prompt_arrived(prompt.agent, prompt.session)
