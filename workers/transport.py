"""The Redis transport with one guard: acknowledging on a connection that is gone is no error.

Celery 5.7.0 restores, acknowledges or rejects messages on a channel whose connection has just been lost, and the error
of that ends the worker (pull request 10242 of celery/celery). There is nothing to acknowledge on a dead connection: the
message comes back after the visibility timeout, finds its ticket spent, and stops.

Must not know: tasks, settings.
"""

from typing import Any

from kombu.transport import redis, virtual
from redis.exceptions import RedisError


class QoS(redis.QoS):
    """Redis acknowledgement that forgets the messages of a dead connection instead of raising."""

    def _gone(self) -> bool:
        # A channel whose close was cut short by the lost connection looks open, but its transport is already detached:
        # it has no client any more, and closing it again would fail on that.
        transport = self.channel.connection
        return bool(self.channel.closed or transport is None or transport.client is None)

    def restore_unacked(self, client: Any = None) -> None:
        if self._gone():
            self._forget()
            return
        try:
            super().restore_unacked(client)
        except RedisError:
            self._forget()

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
    """A Redis channel with the guarded QoS."""

    QoS = QoS


class Transport(redis.Transport):
    """The transport that `broker_transport` names."""

    Channel = Channel
