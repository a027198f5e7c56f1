"""The guarded Redis transport behind sentinels: each connection goes to the master at that time."""

from kombu.transport import TRANSPORT_ALIASES, redis

from slowwave_server.workers.transport import Channel, Transport


class SentinelChannel(Channel, redis.SentinelChannel):
    """A channel with the guards of `workers.transport`, and with its option."""

    from_transport_options = (*redis.SentinelChannel.from_transport_options, "restores")


class SentinelTransport(Transport):
    """The transport for `sentinel://` URLs; its option `master_name` says whom to ask for."""

    Channel = SentinelChannel
    default_port = redis.SentinelTransport.default_port


# When a sentinel is away, kombu goes on to the next URL and takes the transport from its scheme, not from the settings:
# without this a worker would come back from a fail-over without the guards.
TRANSPORT_ALIASES["sentinel"] = f"{__name__}:{SentinelTransport.__name__}"
