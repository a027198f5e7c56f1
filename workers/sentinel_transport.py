"""The guarded Redis transport behind sentinels: each connection goes to the present master."""

from kombu.transport import TRANSPORT_ALIASES, redis

from slowwave_server.workers.transport import Channel, Transport


class SentinelChannel(Channel, redis.SentinelChannel):
    """A channel with the guards of `workers.transport` and the option for the master's name."""

    from_transport_options = (*redis.SentinelChannel.from_transport_options, "restores")


class SentinelTransport(Transport):
    """The transport for `sentinel://` URLs. Its option `master_name` is the name of the master."""

    Channel = SentinelChannel
    default_port = redis.SentinelTransport.default_port


# If a sentinel is unavailable, kombu takes the next URL and selects the transport by its scheme, not by the settings;
# without this, a worker would lose the guards after a fail-over.
TRANSPORT_ALIASES["sentinel"] = f"{__name__}:{SentinelTransport.__name__}"
