"""`slowwave webhook`: endpoints and their delivery log, on real servers."""

from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import UUID

import pytest
from sqlalchemy import Engine, text

from slowwave_server.services.webhooks.endpoints import read_endpoint
from slowwave_server.services.webhooks.outbox import fill
from tests.support.installation import Installation
from tests.support.shelling import Shell

pytestmark = pytest.mark.servers
URL = "https://example.com/hooks/memory"
MISSING = "0199d3a2-7c1e-7000-8000-000000000000"


@pytest.fixture
def shell(database_url: str) -> Iterator[Shell]:
    return Shell(database_url)


def test_a_webhook_is_added_listed_shown_and_removed(shell: Shell) -> None:
    made = shell("webhook", "add", URL, "--agent", "app-*", "--scope", "room:kitchen", "--type", "archived")
    assert made.exit_code == 0, made.output
    assert made.stdout.startswith("whsec_")
    assert "shown only now" in made.stderr
    (listed,) = shell.json("webhook", "list")
    assert (listed["url"], listed["agents"], listed["scopes"]) == (URL, ["app-*"], ["room:kitchen"])
    assert listed["types"] == ["archived"]
    assert "secret" not in listed
    shown = shell("webhook", "show", listed["id"]).stdout
    assert "app-*" in shown
    assert "no delivery yet" in shown
    assert shell("webhook", "remove", listed["id"]).exit_code == 0
    assert shell.json("webhook", "list") == []
    acts = [act["what"] for act in shell.json("admin", "audit", "--action", "key")]
    assert [("was removed" in act, listed["id"] in act) for act in acts] == [(True, True), (False, True)]


def test_a_secret_is_replaced_by_rotate(shell: Shell) -> None:
    first = shell.json("webhook", "add", URL)
    second = shell.json("webhook", "rotate", first["id"])
    assert second["id"] == first["id"]
    assert second["secret"] != first["secret"]


def test_a_disabled_webhook_is_enabled(shell: Shell, engine: Engine) -> None:
    made = shell.json("webhook", "add", URL)["id"]
    with engine.begin() as connection:
        connection.execute(
            text("UPDATE slowwave.webhook_endpoints SET disabled_at = now(), disabled_why = 'it failed'")
        )
    assert "disabled since" in shell("webhook", "show", made).stdout
    assert shell.json("webhook", "enable", made)["disabled_at"] is None


def test_a_dead_delivery_is_listed_and_replayed(shell: Shell, engine: Engine) -> None:
    there = Installation(engine)
    made = shell.json("webhook", "add", URL)["id"]
    there.change(there.memory(there.scope("concierge"), "Maya lives in Lisbon.", []), "created", "said")
    with engine.begin() as connection:
        endpoint = read_endpoint(connection, "default", UUID(made))
        assert endpoint is not None
        fill(connection, endpoint, datetime.now(UTC), 10)
    assert [one["state"] for one in shell.json("webhook", "deliveries", made)] == ["pending"]
    with engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.webhook_deliveries SET state = 'dead', attempts = 9"))
    (dead,) = shell.json("webhook", "deliveries", made, "--state", "dead")
    again = shell.json("webhook", "replay", made, dead["id"])
    assert (again["id"], again["state"], again["attempts"]) == (dead["id"], "pending", 0)
    assert shell("webhook", "replay", made, MISSING).exit_code == 1


def test_i8_another_tenants_webhook_is_not_there(shell: Shell) -> None:
    made = shell.json("webhook", "add", URL)["id"]
    assert shell.json("--tenant", "other", "webhook", "list") == []
    for verb in ("show", "remove", "rotate", "enable", "deliveries"):
        refused = shell("--tenant", "other", "webhook", verb, made)
        assert refused.exit_code == 1
        assert "tenant 'other' has no webhook" in refused.stderr
    assert len(shell.json("webhook", "list")) == 1
