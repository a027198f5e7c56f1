"""The part of `Memory` that records turns and milestones, and requests flushes."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from slowwave.capture import Trigger, about_of
from slowwave.errors import InvalidMessage, shown
from slowwave.identity import check_name
from slowwave.memory_bound import BoundMemory
from slowwave.memory_requests import MilestoneRequest, TurnRequest
from slowwave.messages import TASK_EVENTS, Message, TaskEvent, check_key, check_run, message_events, turn_events
from slowwave.receipts import Receipt


class RecordingMemory(BoundMemory):
    """Records the messages that an agent's host passes."""

    def turn_completed(
        self,
        agent: str,
        session: str,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        room_id: str | None = None,
        thread_id: str | None = None,
        scope: str | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Record the messages of one turn, usually a user's message and the reply.

        Args:
            agent: the name of the agent.
            session: the name of the conversation.
            messages: {"role", "content"} and optionally name, at (aware), metadata and key; at most 100.
            room_id: the room that the conversation belongs to; stored with the session.
            thread_id: the thread that the conversation belongs to; stored with the session.
            scope: "room:NAME" or "team:NAME" to write to that scope instead of the agent's own. A session keeps the
                scope of its first turn.
            key: an idempotency key: a repeated call with the same key adds nothing.

        Returns:
            The number of new events, and where they are stored.

        Raises:
            InvalidMessage: a message is invalid.
            TooLarge: there are more than 100 messages, or one exceeds 100,000 characters.
            InvalidName: a name or the scope is invalid.
            ScopeConflict: the session has another scope.
            SpoolFull: Postgres can't be reached and the spool has no room; nothing was recorded.
            StoreUnavailable: with `raise_errors`, Postgres can't be reached; the events are in the spool.

        Example:
            >>> receipt = memory.turn_completed("support-bot", "call-7", [{"role": "user", "content": "Hello"}])
            >>> receipt.stored
            'postgres'
        """
        key = self._key(key)
        events, ignored = turn_events(messages, key, self.backend.settings.memory.tools)
        about = about_of(scope, room_id, thread_id)
        _check_names(agent, session)
        return self.backend.record_turn(
            TurnRequest(agent, session, messages, events, key, about, scope, room_id, thread_id, ignored)
        )

    def task_event(
        self,
        agent: str,
        session: str,
        event: TaskEvent,
        text: str,
        *,
        at: datetime | str | None = None,
        key: str | None = None,
        run: str | None = None,
    ) -> Receipt:
        """Record a milestone of a task.

        Args:
            agent: the name of the agent.
            session: the name of the conversation.
            event: "run_queued", "run_finished", "run_failed" or "run_blocked".
            text: a sentence about the event.
            at: the time (aware) of the event; by default now.
            key: an idempotency key.
            run: the id of the run. In a day's summary, a later milestone replaces an earlier one of the same run.
                Without an id, the text identifies the run.

        Returns:
            As `turn_completed`.

        Raises:
            InvalidMessage: an argument is invalid.
            TooLarge: the text exceeds 100,000 characters.
            InvalidName: a name is invalid.
            SpoolFull: as in `turn_completed`.
            StoreUnavailable: as in `turn_completed`.

        Example:
            >>> memory.task_event("builder", "nightly", "run_failed", "Tests failed: 3 errors.", run="412").added
            1
        """
        if event not in TASK_EVENTS:
            raise InvalidMessage(f"event must be one of {', '.join(TASK_EVENTS)}, got {shown(event)}")
        metadata: dict[str, str] = {"event": event} if run is None else {"event": event, "run": check_run(run)}
        key = self._key(key)
        message = {"role": "task", "content": text, "at": at, "metadata": metadata}
        events = message_events(message, f"{key}:0")
        _check_names(agent, session)
        return self.backend.record_milestone(
            MilestoneRequest(
                agent=agent, session=session, event=event, text=text, at=at, run=run, events=events, key=key
            )
        )

    def session_idle(self, agent: str, session: str) -> Receipt:
        """Request a flush because the conversation paused.

        Args:
            agent: the name of the agent.
            session: the name of the conversation.

        Returns:
            A receipt; its `due` tells whether a flush is due now.

        Raises:
            InvalidName: a name is invalid.
            SpoolFull: as in `turn_completed`.
            StoreUnavailable: as in `turn_completed`.

        Example:
            >>> memory.session_idle("support-bot", "call-7").reason
            'idle'
        """
        return self._request_flush(agent, session, "idle")

    def session_compacted(self, agent: str, session: str) -> Receipt:
        """Request a flush because the host shortened the conversation's history.

        Args:
            agent: the name of the agent.
            session: the name of the conversation.

        Returns:
            The receipt and the errors are those of `session_idle`.

        Example:
            >>> memory.session_compacted("support-bot", "call-7").reason
            'compaction'
        """
        return self._request_flush(agent, session, "compaction")

    def session_reset(self, agent: str, session: str) -> Receipt:
        """Request a flush because this conversation ended and another one begins.

        Args:
            agent: the name of the agent.
            session: the name of the conversation that ended.

        Returns:
            The receipt and the errors are those of `session_idle`.

        Example:
            >>> memory.session_reset("support-bot", "call-7").reason
            'reset'
        """
        return self._request_flush(agent, session, "reset")

    def prompt_arrived(self, agent: str, session: str) -> tuple[str, ...]:
        """Flush the agent's other sessions first, because a prompt arrived in `session`. The call is fast enough for
        the path of a reply.

        Args:
            agent: the name of the agent.
            session: the conversation of the prompt.

        Returns:
            The names of the sessions that were boosted; none if the server can't be reached.

        Raises:
            InvalidName: a name is invalid.
            StoreUnavailable: with `raise_errors`, the server can't be reached. Nothing is lost.

        Example:
            >>> memory.prompt_arrived("support-bot", "call-8")
            ('call-7',)
        """
        _check_names(agent, session)
        return self.backend.boost(agent, session)

    def _key(self, key: str | None) -> str:
        return self.backend.new_key() if key is None else check_key(key)

    def _request_flush(self, agent: str, session: str, trigger: Trigger) -> Receipt:
        _check_names(agent, session)
        return self.backend.request_flush(agent, session, trigger)


def _check_names(agent: str, session: str) -> None:
    check_name("agent", agent)
    check_name("session", session)
