"""Where the broker is: URLs of one server and of sentinels, for our clients and for Celery alike."""

import pytest
from celery import Celery
from hypothesis import given
from hypothesis import strategies as st

from slowwave.coordination.broker import Sentinels, connect_broker, sentinels_of, shown
from slowwave.settings import Settings
from slowwave_server.workers.celery_settings import broker_settings, celery_settings
from slowwave_server.workers.sentinel_transport import SentinelTransport
from slowwave_server.workers.transport import QoS

TWO = "sentinel://:s%3Aecret@one:26380;sentinel://two/3"


def test_the_parts_of_a_url_of_sentinels() -> None:
    assert sentinels_of(TWO) == Sentinels((("one", 26380), ("two", 26379)), 3, None, "s:ecret")
    assert sentinels_of("redis://localhost:6379/0") is None
    assert sentinels_of("rediss://localhost:6379/0") is None


@given(
    hosts=st.lists(st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True), min_size=1, max_size=4),
    port=st.integers(1, 65535),
    database=st.integers(0, 15),
    user=st.one_of(st.none(), st.text(min_size=1, max_size=5)),
    password=st.text(min_size=1, max_size=8),
)
def test_a_url_says_again_what_was_read_from_it(
    hosts: list[str], port: int, database: int, user: str | None, password: str
) -> None:
    given_parts = Sentinels(tuple((host, port) for host in hosts), database, user, password)
    assert sentinels_of(given_parts.url()) == given_parts


@pytest.mark.parametrize(
    "url", ["sentinel://:word@", "sentinel://one;redis://two", "sentinel://one/x", "sentinel://one:port"]
)
def test_a_malformed_url_is_refused_without_its_text(url: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        sentinels_of(url)
    assert "word" not in str(raised.value)
    assert "one" not in str(raised.value)


def test_celery_and_our_own_clients_ask_the_same_sentinels_for_the_same_master() -> None:
    settings = Settings(broker_url=TWO, broker_master="memories")
    assert broker_settings(settings)["broker_transport_options"]["master_name"] == "memories"
    assert (
        celery_settings(settings)["broker_transport"] == "slowwave_server.workers.sentinel_transport:SentinelTransport"
    )
    # Celery takes database and password from whichever address it comes to: each has them.
    first, second = broker_settings(settings)["broker_url"].split(";")
    assert first == "sentinel://:s%3Aecret@one:26380/3"
    assert second == "sentinel://:s%3Aecret@two:26379/3"
    pool = connect_broker(settings).connection_pool
    assert (pool.service_name, pool.connection_kwargs["db"]) == ("memories", 3)


def test_a_worker_that_goes_on_to_the_next_sentinel_keeps_its_guards() -> None:
    app = Celery(set_as_current=False)
    app.conf.update(broker_settings(Settings(broker_url=TWO)))
    with app.connection_for_read() as connection:
        assert connection.get_transport_cls() is SentinelTransport
        connection.maybe_switch_next()
        assert connection.hostname == "two"
        assert connection.get_transport_cls() is SentinelTransport
        assert connection.get_transport_cls().Channel.QoS is QoS


def test_messages_hold_no_password() -> None:
    assert shown(TWO) == "sentinel://:***@one:26380;sentinel://two/3"
    assert shown("redis://maya:secret@host:1/0") == "redis://maya:***@host:1/0"
