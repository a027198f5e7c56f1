"""The Redis transport with one guard: acknowledging on a connection that is gone is no error.

Celery 5.7.0 restores, acknowledges or rejects messages on a channel whose connection has just been lost, and the error
of that ends the worker (pull request 10242 of celery/celery). There is nothing to acknowledge on a dead connection: the
message comes back after the visibility timeout, finds its ticket spent, and stops.

Must not know: tasks, settings.
"""

from typing import Any

from kombu.transport import redis, virtual


class QoS(redis.QoS):  # type: ignore[misc]
    """Redis acknowledgement that forgets messages of a dead connection instead of raising."""

    def _gone(self) -> bool:
        channel = self.channel
        return bool(channel.closed or getattr(channel, "connection", None) is None)

    def restore_unacked(self, client: Any = None) -> None:
        if self._gone():
            self._delivered.clear()
            return
        try:
            super().restore_unacked(client)
        except self.channel.connection_errors:
            self._delivered.clear()

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


class Channel(redis.Channel):  # type: ignore[misc]
    """A Redis channel with the guarded QoS."""

    QoS = QoS


class Transport(redis.Transport):  # type: ignore[misc]
    """The transport that `broker_transport` names."""

    Channel = Channel
