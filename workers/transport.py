"""The Redis transport with guards, each against a cause that would end a worker.

A lost connection: Celery 5.7.0 restores, acknowledges or rejects messages on a channel whose connection has just been
lost, and does not catch the error (pull request 10242 of celery/celery). On a dead connection nothing can be
acknowledged: the message is delivered again after the visibility timeout, but its ticket is used up, so its task stops.

A foreign entry in a queue: an entry that is not a message (invalid JSON, or no envelope) is taken from the list and
would then raise an uncaught error. It is dropped and logged without its text, like messages that `workers.admission`
rejects and messages of unknown queues; removed parts are logged. A message with wrong *contents* passes: its task
stores a dead letter. Messages of remote control pass `workers.control`.

A key of a wrong type: all commands on a queue or on the transport's own keys fail. `MendingRedis` renames such a key,
and repeats the failed command.

A full broker (`maxmemory` with `noeviction`) refuses to store which messages a worker holds. The worker processes them
nevertheless, because this empties the broker; if it dies in the meantime, the sweep enqueues their sessions again.

A forged entry among the messages that workers hold could be restored into any list, so it is dropped.
"""

import json
import logging
import time
from collections.abc import Callable, Sequence
from queue import Empty
from typing import Any

from kombu.transport import redis, virtual
from redis.exceptions import NoPermissionError, OutOfMemoryError, RedisError, ResponseError

from slowwave.coordination.key_kinds import kind_of
from slowwave.coordination.keys import QUEUES
from slowwave.coordination.wrong_types import MendingRedis, is_wrong_type, set_aside_wrong
from slowwave_server.workers.admission import Inadmissible, admit
from slowwave_server.workers.control import ANSWER_QUEUE, admit_question, answer_queue

log = logging.getLogger(__name__)

_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
_READABLE = (b"none", b"list")
_QUESTIONS = ".celery.pidbox"
_EVENTS = "celeryev."


def _twice(do: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Run a command, and once more if a key of a wrong type was renamed in between."""
    try:
        return do(*args, **options)
    except ResponseError as error:
        if not is_wrong_type(error):
            raise
    return do(*args, **options)


class QoS(redis.QoS):
    """Redis acknowledgement that drops the messages of a dead connection instead of raising."""

    def _lost(self) -> bool:
        # A channel whose close was interrupted by the lost connection looks open, but its transport is already
        # detached: it has no client any more, and closing it again would fail.
        transport = self.channel.connection
        return transport is None or transport.client is None

    def _gone(self) -> bool:
        return bool(self.channel.closed or self._lost())

    def restore_unacked(self, client: Any = None) -> None:
        # A channel that is being closed already counts as closed, but now a worker returns its messages.
        if self._lost():
            self._forget()
            return
        try:
            super().restore_unacked(client)
        except RedisError:
            self._forget()

    def append(self, message: Any, delivery_tag: str) -> None:
        try:
            _twice(super().append, message, delivery_tag)
        except OutOfMemoryError:
            virtual.QoS.append(self, message, delivery_tag)

    def restore_visible(self, start: int = 0, num: int = 10, interval: int = 10) -> None:
        # A program that only asks workers for their state returns none of their messages, and may lack the right to do
        # so.
        channel: Any = self.channel
        if channel.restores:
            try:
                with channel.conn_or_acquire() as client:
                    # A lock without an owner and without an expiry would stop redelivery for ever, without an error.
                    set_aside_wrong(client, [self.unacked_mutex_key], must_expire=True)
                super().restore_visible(start, num, interval)
            except NoPermissionError:
                # An app like a worker's, but with a user without this right, such as Flower's: its request continues.
                channel.restores = False
            except OutOfMemoryError:
                log.debug("the broker is full: messages of workers that ended are looked for at the next interval")

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:
        channel: Any = self.channel
        with channel.conn_or_acquire(client) as connected:
            held = connected.hget(self.unacked_key, tag)
            if held is None or _is_held_message(held):
                _twice(super().restore_by_tag, tag, connected, leftmost)
            else:
                this: Any = self  # the message does not say to whom its content belongs
                _twice(lambda: this._remove_from_indices(tag).execute())  # noqa: SLF001
                log.error("dropped an entry of %s that is no message of a queue", self.unacked_key)

    def ack(self, delivery_tag: str) -> None:
        if self._gone():
            virtual.QoS.ack(self, delivery_tag)
        else:
            _twice(super().ack, delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        if self._gone():
            virtual.QoS.ack(self, delivery_tag)
        else:
            _twice(super().reject, delivery_tag, requeue)

    def _forget(self) -> None:
        if self._delivered is not None:
            self._delivered.clear()


def _is_held_message(held: Any) -> bool:
    """Return True if an entry of `unacked` has a worker's form: an admitted message, and its own queue."""
    try:
        message, exchange, queue = json.loads(held)
        if exchange or queue not in QUEUES or type(message["properties"]["priority"]) is not int:
            return False
        admit(message, queue)
    except _UNREADABLE:
        return False
    return True


class Channel(redis.Channel):
    """A Redis channel with the guarded QoS, which continues after an entry of invalid JSON and after a key of a wrong
    type.

    restores: a transport option; False for programs other than workers.
    """

    QoS = QoS
    restores = True
    from_transport_options = (*redis.Channel.from_transport_options, "restores")

    def get_table(self, exchange: str) -> Any:
        """Return the bindings of an exchange, without foreign entries; an exchange of answers has one binding."""
        rows = [row for row in super().get_table(exchange) if len(row) == 3]  # noqa: PLR2004 - key, pattern, queue
        if exchange in QUEUES:
            return [row for row in rows if row[2] == exchange]
        if exchange == ANSWER_QUEUE:
            return [row for row in rows if row[2] == answer_queue(row[0])]
        return rows

    def _get_client(self) -> Any:
        parent: Any = super()
        parent._get_client()  # noqa: SLF001 - of the parent, whose type does not tell of it. It refuses an old redis-py
        return MendingRedis

    def _queue_bind(self, *args: Any) -> None:
        parent: Any = super()
        _twice(parent._queue_bind, *args)  # noqa: SLF001 - as above

    def _refresh_binding(self, *, keys: Sequence[str], args: Sequence[Any], client: Any) -> None:
        """Refresh a binding by commands, not kombu's script: users that may load no script, such as Flower, listen."""
        (table, deadlines), (member, exchange, milliseconds) = keys, args
        client.sadd(table, member)
        client.zadd(deadlines, {exchange: round(time.time() * 1000) + milliseconds}, gt=True)

    def sweep_bindings(self, limit: int = 100) -> int:
        """Delete the bindings of listeners that have ended: a worker does this for all, by a script."""
        parent: Any = super()
        return int(parent.sweep_bindings(limit)) if self.restores else 0

    def _size(self, queue: str) -> int:
        return int(_twice(super()._size, queue))

    def _brpop_read(self, **options: Any) -> Any:
        this: Any = self
        parent: Any = super()
        try:
            return self._read(parent._brpop_read, **options)  # noqa: SLF001 - as above
        except ResponseError as error:
            if not is_wrong_type(error):
                raise
            with self.conn_or_acquire() as client:
                named = this._q_for_pri  # noqa: SLF001 - as above
                lists = [named(queue, step) for queue in this.active_queues for step in this.priority_steps]
                # Another key may get a wrong type in the meantime: the next read finds it. A key of no known kind is
                # not renamed.
                unknown = [name for name in lists if kind_of(name) is None]
                if not set_aside_wrong(client, lists) and any(client.type(name) not in _READABLE for name in unknown):
                    raise
        raise Empty

    def _receive_one(self, client: Any) -> Any:
        parent: Any = super()
        return self._read(parent._receive_one, client)  # noqa: SLF001 - as above

    def _read(self, read: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Read an entry of a queue or a channel; an unreadable one is dropped."""
        transport: Any = self.connection
        delivered = transport.delivered
        try:
            return read(*args, **options)
        except _UNREADABLE:
            if transport.delivered != delivered:
                raise  # it was a valid message, so the error is not the sender's
            log.error("dropped an entry of a queue that is no JSON")  # noqa: TRY400 - the trace would show its text
        raise Empty


class Transport(redis.Transport):
    """The transport that `broker_transport` names. delivered: the number of entries that could be parsed as JSON."""

    Channel = Channel

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.delivered = 0

    def _deliver(self, message: Any, queue: Any) -> None:
        self.delivered += 1
        try:
            message, removed = self._let_in(message, str(queue))
        except Inadmissible as why:
            log.error("dropped an entry of %s: %s", queue, why)  # noqa: TRY400 - a sentence for its sender
            return
        if removed:
            log.warning("a message in %s runs without its %s", queue, ", ".join(removed))
        super()._deliver(message, queue)

    def _let_in(self, message: Any, queue: str) -> tuple[Any, list[str]]:
        """Return the admitted message, and the removed parts. Raises Inadmissible."""
        if queue in QUEUES:
            return admit(message, queue)
        if queue.endswith(_QUESTIONS) and not queue.endswith(ANSWER_QUEUE):
            return admit_question(message), []
        # Programs that ask workers and listen to events, such as Flower, get the messages unchanged.
        if not (queue.startswith(_EVENTS) or queue.endswith(ANSWER_QUEUE)):
            raise Inadmissible("no worker takes from this queue")
        if not self._is_envelope(message):
            raise Inadmissible(f"it is not a message ({len(repr(message))} characters)")
        return message, []

    def _is_envelope(self, message: Any) -> bool:
        channels: Any = self.channels
        try:
            opened = virtual.Message(message, channel=channels[0])
            return {"exchange", "routing_key"} <= opened.delivery_info.keys() and isinstance(opened.delivery_tag, str)
        except _UNREADABLE:
            return False
