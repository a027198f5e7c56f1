"""The Redis transport with three guards, each against something that ends a worker.

A lost connection: Celery 5.7.0 restores, acknowledges or rejects messages on a channel whose connection has just been
lost, and the error of that is not caught (pull request 10242 of celery/celery). There is nothing to acknowledge on a
dead connection: the message comes back after the visibility timeout, finds its ticket spent, and stops.

A stranger in the queue: what is no message at all (no JSON, or no envelope) is taken from the list and then raises
where nobody catches it. It is dropped, and that is said without its text. So is what `workers.admission` does not let
in; what it takes off a message is said. A message whose *contents* are wrong is not meant here: its task buries it.

A full broker (`maxmemory` with `noeviction`) refuses to note which messages a worker holds. The worker does their work
all the same, since that is what empties the broker; if it ends meanwhile, the sweep offers their sessions again.

Must not know: tasks, settings.
"""

import logging
from queue import Empty
from typing import Any

from kombu.transport import redis, virtual
from redis.exceptions import NoPermissionError, OutOfMemoryError, RedisError

from slowwave.coordination.keys import QUEUES
from slowwave_server.workers.admission import Inadmissible, admit

log = logging.getLogger(__name__)

_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)


class QoS(redis.QoS):
    """Redis acknowledgement that forgets the messages of a dead connection instead of raising."""

    def _lost(self) -> bool:
        # A channel whose close was cut short by the lost connection looks open, but its transport is already detached:
        # it has no client any more, and closing it again would fail on that.
        transport = self.channel.connection
        return transport is None or transport.client is None

    def _gone(self) -> bool:
        return bool(self.channel.closed or self._lost())

    def restore_unacked(self, client: Any = None) -> None:
        # A channel that is being closed calls itself closed already: this is when a worker gives its work back.
        if self._lost():
            self._forget()
            return
        try:
            super().restore_unacked(client)
        except RedisError:
            self._forget()

    def append(self, message: Any, delivery_tag: str) -> None:
        try:
            super().append(message, delivery_tag)
        except OutOfMemoryError:
            virtual.QoS.append(self, message, delivery_tag)

    def restore_visible(self, start: int = 0, num: int = 10, interval: int = 10) -> None:
        # Whoever only asks workers how they are gives none of their messages back, and may not be able to.
        channel: Any = self.channel
        if channel.restores:
            try:
                super().restore_visible(start, num, interval)
            except NoPermissionError:
                # An app of ours like a worker, with a user who may not, such as Flower's: its question goes on.
                channel.restores = False
            except OutOfMemoryError:
                log.debug("the broker is full: messages of workers that ended are looked for at the next interval")

    def ack(self, delivery_tag: str) -> None:
        if self._gone():
            virtual.QoS.ack(self, delivery_tag)
        else:
            super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        if self._gone():
            virtual.QoS.ack(self, delivery_tag)
        else:
            super().reject(delivery_tag, requeue)

    def _forget(self) -> None:
        if self._delivered is not None:
            self._delivered.clear()


class Channel(redis.Channel):
    """A Redis channel with the guarded QoS, which goes on after an entry that is no JSON.

    restores: a transport option; False for programs that are no workers.
    """

    QoS = QoS
    restores = True
    from_transport_options = (*redis.Channel.from_transport_options, "restores")

    def _brpop_read(self, **options: Any) -> Any:
        transport: Any = self.connection
        parent: Any = super()
        delivered = transport.delivered
        try:
            return parent._brpop_read(**options)  # noqa: SLF001 - of the parent, whose type does not tell of it
        except _UNREADABLE:
            if transport.delivered != delivered:
                raise  # it was a message, so this is somebody's error and not the sender's
            log.error("dropped an entry of a queue that is no JSON")  # noqa: TRY400 - the trace would show its text
        raise Empty


class Transport(redis.Transport):
    """The transport that `broker_transport` names. `delivered`: how many entries could be read as JSON."""

    Channel = Channel

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.delivered = 0

    def _deliver(self, message: Any, queue: Any) -> None:
        self.delivered += 1
        if queue in QUEUES:
            try:
                message, removed = admit(message, queue)
            except Inadmissible as why:
                log.error("dropped an entry of %s: %s", queue, why)  # noqa: TRY400 - a sentence for its sender
                return
            if removed:
                log.warning("a message in %s runs without its %s", queue, ", ".join(removed))
        if self._is_envelope(message):
            super()._deliver(message, queue)
        else:
            log.error("dropped an entry of %s that is no message (%d characters)", queue, len(repr(message)))

    def _is_envelope(self, message: Any) -> bool:
        channels: Any = self.channels
        try:
            opened = virtual.Message(message, channel=channels[0])
            return {"exchange", "routing_key"} <= opened.delivery_info.keys() and isinstance(opened.delivery_tag, str)
        except _UNREADABLE:
            return False
