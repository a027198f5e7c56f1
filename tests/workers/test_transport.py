"""The guard of the Redis transport, on a real server: what Celery does to a channel whose connection is gone."""

import json
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from kombu import Connection
from redis.exceptions import RedisError

from slowwave.messages import FLUSH_SESSION
from slowwave.settings import Settings
from slowwave_server.workers.admission import admit
from slowwave_server.workers.app import make_app
from slowwave_server.workers.transport import Transport
from tests.support.forging import forged
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.servers, pytest.mark.workers]


@pytest.fixture
def guarded(own_valkey: OwnValkey) -> Iterator[Connection]:
    """The connection that a worker consumes on."""
    app = make_app(Settings(broker_url=own_valkey.url))
    with app.connection_for_read() as connection:
        assert isinstance(connection.transport, Transport)
        yield connection


@pytest.fixture
def stock(own_valkey: OwnValkey) -> Iterator[Any]:
    """The same without the guard."""
    connection: Any = Connection(own_valkey.url)
    yield connection
    connection._default_channel = None
    connection.release()


def channel_that_holds_a_message(connection: Connection) -> tuple[Any, str]:
    """A channel, and the tag of a message that it has taken and not acknowledged."""
    channel: Any = connection.default_channel
    message, _ = admit(forged(FLUSH_SESSION, queue="flush"), "flush")
    with connection.SimpleQueue("flush", channel=channel), channel.conn_or_acquire() as client:
        client.lpush("flush", json.dumps(message))
    return channel, channel.basic_get("flush").delivery_tag


def let_go_of_its_transport(connection: Any) -> None:
    """What kombu does when a lost connection has cut a channel's close short: the channel looks open, and is lost."""
    connection._do_close_transport()


def test_closing_a_lost_channel_is_no_error(guarded: Connection) -> None:
    channel, _ = channel_that_holds_a_message(guarded)
    let_go_of_its_transport(guarded)
    channel.close()
    assert not channel.qos._delivered, "the message comes back after the visibility timeout"


def test_acknowledging_and_rejecting_on_a_lost_channel_is_no_error(guarded: Connection) -> None:
    channel, tag = channel_that_holds_a_message(guarded)
    channel._disconnect_pools()
    let_go_of_its_transport(guarded)
    channel.basic_ack(tag)
    channel.basic_reject(tag, requeue=True)


def test_a_server_that_is_gone_when_a_channel_closes_is_no_error(guarded: Connection, own_valkey: OwnValkey) -> None:
    channel, _ = channel_that_holds_a_message(guarded)
    own_valkey.stop(signal.SIGKILL)
    try:
        channel.close()
    finally:
        own_valkey.start()


def test_an_open_channel_acknowledges_and_gives_back_as_ever(guarded: Connection, own_valkey: OwnValkey) -> None:
    own_valkey.client.flushall()
    channel, tag = channel_that_holds_a_message(guarded)
    channel.basic_reject(tag, requeue=True)
    again = channel.basic_get("flush").delivery_tag
    assert own_valkey.client.hlen("unacked") == 1
    channel.basic_ack(again)
    assert own_valkey.client.hlen("unacked") == own_valkey.client.llen("flush") == 0


def test_without_the_guard_these_end_a_worker(stock: Any) -> None:
    """Should this fail, kombu has mended it, and the guard can go."""
    channel, tag = channel_that_holds_a_message(stock)
    channel._disconnect_pools()
    let_go_of_its_transport(stock)
    with pytest.raises(AttributeError):
        channel.basic_ack(tag)
    with pytest.raises((AttributeError, RedisError)):
        channel.close()
