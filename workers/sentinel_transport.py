"""The guarded Redis transport behind sentinels: each connection goes to whoever is the master when it is made.

Must not know: tasks, settings.
"""

from kombu.transport import redis

from workers.transport import Channel, Transport


class SentinelChannel(Channel, redis.SentinelChannel):
    """A channel with the guards of `workers.transport`."""


class SentinelTransport(Transport):
    """The transport for `sentinel://` URLs; its option `master_name` says whom to ask for."""

    Channel = SentinelChannel
    default_port = redis.SentinelTransport.default_port
