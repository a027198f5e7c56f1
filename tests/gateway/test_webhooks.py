"""Webhooks: made over HTTP, delivered by a worker, signed by the convention, tried again, and given up."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from standardwebhooks import Webhook, WebhookVerificationError

from slowwave.changes import position
from slowwave_server.models.engine import make_engine
from slowwave_server.services.webhooks.delivery import BACKOFF_SECONDS, MOST_CHANGES, Deliverer
from slowwave_server.services.webhooks.outbox import KEPT_DAYS, remove_old_deliveries
from slowwave_server.services.webhooks.sending import Line, Sender
from tests.gateway.conftest import Doors, open_doors
from tests.support.installation import Installation
from tests.support.receiving import Receiver, receiving

pytestmark = pytest.mark.servers

LOOPBACK = "127.0.0.0/8"


@pytest.fixture(scope="module")
def doors(module_database: str, module_broker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """A gateway that may send to this machine."""
    folder: Path = tmp_path_factory.mktemp("gateway")
    yield from open_doors(
        module_database, module_broker, folder, requests_per_second=0, webhooks={"allow_private": LOOPBACK}
    )


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


class Post:
    """What a worker does, at a time of the test's choice."""

    def __init__(self, doors: Doors) -> None:
        self.doors = doors
        self.now = datetime.now(UTC)
        self.there = Installation(doors.owner)
        engine = make_engine(doors.owner.url.render_as_string(hide_password=False), pool_size=20)
        self.engine = engine
        sender = Sender(5, (ip_network(LOOPBACK),))
        self.deliverer = Deliverer(engine, sender, 5, lambda: self.now)

    def make(self, receiver: Receiver, **more: Any) -> dict[str, Any]:
        answer = self.doors.post("/v1/webhooks", {"url": receiver.url, **more})
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def say(self, content: str, *, agent: str = "atlas", tenant: str = "acme") -> str:
        with self.doors.owner.begin() as connection:
            scope = connection.execute(
                text(
                    "INSERT INTO slowwave.scopes (tenant, kind, name) VALUES (:tenant, 'agent', :name)"
                    " ON CONFLICT (tenant, kind, name) DO UPDATE SET name = excluded.name RETURNING id"
                ),
                {"tenant": tenant, "name": agent},
            ).scalar_one()
        memory = self.there.memory(scope, content, [], content_hash=uuid4().bytes)
        self.there.change(memory, "created", "said")
        return str(memory)

    def pump(self, later: float = 0) -> int:
        self.now += timedelta(seconds=later)
        return self.deliverer.pump(20)

    def log(self, webhook: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
        answer = self.doors.get(f"/v1/webhooks/{webhook['id']}/deliveries", params=query)
        items: list[dict[str, Any]] = answer.json()["items"]
        return items

    def state(self, webhook: dict[str, Any]) -> dict[str, Any]:
        told: dict[str, Any] = self.doors.get(f"/v1/webhooks/{webhook['id']}").json()
        return told


@pytest.fixture
def post(doors: Doors) -> Iterator[Post]:
    made = Post(doors)
    yield made
    for webhook in doors.get("/v1/webhooks").json()["items"]:
        assert doors.ask("DELETE", f"/v1/webhooks/{webhook['id']}").status_code == 204
    made.engine.dispose()


def told_of(receiver: Receiver) -> list[tuple[str | None, str]]:
    """The content and type of each change, in the order of arrival."""
    changes = [change for got in receiver.received for change in got.told["data"]["changes"]]
    return [(change["memory"]["content"], change["type"]) for change in changes]


def test_a_change_is_delivered_signed_by_the_convention(post: Post, receiver: Receiver) -> None:
    webhook = post.make(receiver, agents=["atlas"], types=["created"])
    memory = post.say("Maya has a cat.")
    post.say("Of another agent.", agent="bolt")
    post.say("Of another tenant.", tenant="globex")
    post.there.change(UUID(memory), "repeated", "said again")
    post.pump()
    (got,) = receiver.received
    told = Webhook(webhook["secret"]).verify(got.body, got.headers)
    assert told["type"] == "memory.changes"
    (change,) = told["data"]["changes"]
    assert change["type"] == "created"
    assert (change["memory"]["id"], change["memory"]["content"]) == (memory, "Maya has a cat.")
    (row,) = post.log(webhook)
    assert (row["id"], row["state"], row["attempts"]) == (got.headers["webhook-id"], "delivered", 1)
    assert row["response_status"] == 204
    assert post.pump() == 0, "once is enough"


def test_a_rotated_secret_signs_beside_the_old_one_for_a_day(post: Post, receiver: Receiver) -> None:
    webhook = post.make(receiver)
    new = post.doors.post(f"/v1/webhooks/{webhook['id']}/rotate").json()["secret"]
    assert new != webhook["secret"]
    post.say("Both sign this.")
    post.pump()
    for secret in (webhook["secret"], new):
        Webhook(secret).verify(receiver.received[-1].body, receiver.received[-1].headers)
    post.say("The new one alone signs this.")
    # The convention's verifier refuses a message of tomorrow, so the change of secrets lies in the past instead.
    post.doors.rows("UPDATE slowwave.webhook_secrets SET made_at = made_at - interval '25 hours'")
    post.pump()
    Webhook(new).verify(receiver.received[-1].body, receiver.received[-1].headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(webhook["secret"]).verify(receiver.received[-1].body, receiver.received[-1].headers)


def test_a_failed_delivery_is_tried_later_with_the_same_id(post: Post, receiver: Receiver) -> None:
    answers = iter([500, 302, 200])
    receiver.answer = lambda _: (next(answers), {"Location": receiver.url + "/elsewhere"})
    webhook = post.make(receiver)
    post.say("Maya has a cat.")
    for later in (0, 6, 34):  # 5 s and 30 s, and a tenth more or less
        post.pump(later)
    assert [got.path for got in receiver.received] == ["/hooks"] * 3, "no redirect is followed"
    assert len({got.headers["webhook-id"] for got in receiver.received}) == 1
    (row,) = post.log(webhook)
    assert (row["state"], row["attempts"]) == ("delivered", 3)
    assert post.state(webhook)["failing_since"] is None


def test_changes_of_a_memory_wait_for_the_one_before(post: Post, receiver: Receiver) -> None:
    refused: list[set[str]] = []

    def answer(got: Any) -> tuple[int, dict[str, str]]:
        contents = {change["memory"]["content"] for change in got.told["data"]["changes"]}
        if "Stubborn." in contents and len(refused) < 2:
            refused.append(contents)
            return 503, {}
        return 200, {}

    receiver.answer = answer
    post.make(receiver)
    stubborn = post.say("Stubborn.")
    post.there.change(UUID(stubborn), "repeated", "again")
    post.say("Easy.")
    post.pump()
    post.pump(6)  # every change alone, the stubborn one first
    post.pump(6)
    assert refused == [{"Stubborn.", "Easy."}, {"Stubborn."}]
    assert told_of(receiver)[4:] == [("Easy.", "created")], "it is not held up"
    post.pump(30)
    assert told_of(receiver)[5:] == [("Stubborn.", "created"), ("Stubborn.", "reaffirmed")]


def test_a_message_has_a_page_of_changes_in_order(post: Post, receiver: Receiver) -> None:
    webhook = post.make(receiver)
    memory = UUID(post.say("Maya has a cat."))
    for _ in range(MOST_CHANGES + 20):
        post.there.change(memory, "repeated", "said again")
    assert post.pump() == MOST_CHANGES + 21
    assert [len(got.told["data"]["changes"]) for got in receiver.received] == [MOST_CHANGES, 21]
    places = [position(change["id"]) for got in receiver.received for change in got.told["data"]["changes"]]
    assert places == sorted(set(places))
    assert {row["state"] for row in post.log(webhook)} == {"delivered"}


def test_an_endpoint_that_fails_for_days_is_disabled(post: Post, receiver: Receiver) -> None:
    receiver.answer = lambda _: (500, {})
    webhook = post.make(receiver)
    post.say("Maya has a cat.")
    post.pump()
    assert post.state(webhook)["failing_since"]
    post.pump(5 * 86_400 + 60)
    state = post.state(webhook)
    assert state["disabled_why"] == "every attempt of 5 days failed"
    tried = len(receiver.received)
    post.pump(86_400)
    assert len(receiver.received) == tried
    receiver.answer = lambda _: (200, {})
    assert post.doors.post(f"/v1/webhooks/{webhook['id']}/enable").json()["disabled_at"] is None
    post.pump(86_400)
    assert post.log(webhook)[0]["state"] == "delivered"


def test_what_is_given_up_is_kept_and_sent_again_by_hand(post: Post, receiver: Receiver) -> None:
    receiver.answer = lambda _: (500, {})
    webhook = post.make(receiver)
    post.say("Maya has a cat.")
    post.pump()
    post.doors.rows("UPDATE slowwave.webhook_deliveries SET attempts = %s", len(BACKOFF_SECONDS))
    post.pump(10)
    (row,) = post.log(webhook, state="dead")
    assert row["error"] == "the receiver answered 500"
    receiver.answer = lambda _: (200, {})
    again = post.doors.post(f"/v1/webhooks/{webhook['id']}/deliveries/{row['id']}/replay")
    assert again.json()["state"] == "pending"
    post.pump(30)
    assert [one["state"] for one in post.log(webhook)] == ["delivered"]
    assert receiver.received[-1].headers["webhook-id"] == row["id"]


def test_a_receiver_that_is_gone_gets_nothing_more(post: Post, receiver: Receiver) -> None:
    receiver.answer = lambda _: (410, {})
    webhook = post.make(receiver)
    post.say("Maya has a cat.")
    post.pump()
    assert post.state(webhook)["disabled_why"] == "the receiver answered 410"


def test_a_worker_that_dies_leaves_its_endpoint_to_the_next(post: Post, receiver: Receiver) -> None:
    post.make(receiver)
    post.say("Maya has a cat.")
    other = ExitStack()
    assert len(other.enter_context(post.deliverer._served())) == 1
    assert post.pump() == 0, "the other worker serves it"
    post.doors.rows(
        "SELECT pg_terminate_backend(l.pid, 10000) FROM pg_locks l WHERE l.locktype = 'advisory'"
        " AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())"
    )
    assert post.pump() == 1
    assert len(receiver.received) == 1
    with pytest.raises(OperationalError):
        other.close()


def test_a_connection_is_kept_and_opened_again_when_it_breaks() -> None:
    with receiving(keeps=True) as receiver, closing(Line(Sender(5, (ip_network(LOOPBACK),)), receiver.url)) as line:
        assert [line.send({}, b"{}").status for _ in range(3)] == [204] * 3
        assert len(receiver.peers) == 1
        receiver.drop()
        assert line.send({}, b"{}").status == 204
        assert len(receiver.peers) == 2


def test_forgotten_words_are_not_sent(post: Post, receiver: Receiver) -> None:
    receiver.answer = lambda _: (500, {})
    webhook = post.make(receiver)
    memory = post.say("The vault's number is 4711.")
    post.pump()
    post.doors.rows("DELETE FROM slowwave.memory_changes WHERE memory_id = %s", memory)
    post.doors.rows("DELETE FROM slowwave.memories WHERE id = %s", memory)
    receiver.answer = lambda _: (200, {})
    receiver.received.clear()
    post.pump(60)
    post.pump(60)
    assert told_of(receiver) == [(None, "forgotten")]
    assert b"4711" not in receiver.received[0].body
    assert [row["state"] for row in post.log(webhook)] == ["delivered", "skipped"]


def test_a_key_manages_only_webhooks_within_its_reach(post: Post, receiver: Receiver) -> None:
    wide = post.make(receiver)
    narrow = post.doors.key(agents=["at*"], rights=["administer"])
    other = post.doors.key("globex", scopes=["room:*", "team:*"], rights=["administer"])
    for key in (narrow, other):
        assert post.doors.get("/v1/webhooks", key=key).json()["items"] == []
        for method, path in (
            ("GET", ""),
            ("DELETE", ""),
            ("POST", "/rotate"),
            ("POST", "/enable"),
            ("GET", "/deliveries"),
        ):
            answer = post.doors.ask(method, f"/v1/webhooks/{wide['id']}{path}", key=key)
            assert (answer.status_code, answer.json()["type"]) == (404, "/problems/not-found")
    excess = post.doors.post("/v1/webhooks", {"url": receiver.url, "agents": ["*"]}, key=narrow)
    assert (excess.status_code, excess.json()["type"]) == (403, "/problems/exceeds-key")
    reader = post.doors.key(rights=["read"])
    assert post.doors.get("/v1/webhooks", key=reader).status_code == 403
    mine = post.doors.post("/v1/webhooks", {"url": receiver.url}, key=narrow)
    assert (mine.status_code, mine.json()["agents"]) == (201, ["at*"])


def test_a_gateway_reads_no_secret(post: Post, receiver: Receiver) -> None:
    webhook = post.make(receiver)
    assert "secret" not in post.state(webhook)
    with (
        post.doors.memory.store.postgres._link() as link,
        pytest.raises(Exception, match="permission denied for table webhook_secrets"),
    ):
        link.connection.execute("SELECT secret FROM slowwave.webhook_secrets")


def test_old_rows_of_the_log_are_removed(post: Post, receiver: Receiver) -> None:
    webhook = post.make(receiver)
    post.say("Maya has a cat.")
    post.pump()
    assert remove_old_deliveries(post.engine, now=post.now + timedelta(days=KEPT_DAYS - 1)) == 0
    assert remove_old_deliveries(post.engine, now=post.now + timedelta(days=KEPT_DAYS + 1)) == 1
    assert post.log(webhook) == []
