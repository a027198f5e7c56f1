"""API keys in the console and the shell: made and shown once, listed without the secret, revoked; each leaves a row."""

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Engine

from slowwave_server.services.access.api_keys import (
    MOST_PATTERNS,
    InvalidKey,
    NewKey,
    digest_of,
    find_key,
    list_keys,
    make_key,
)
from slowwave_server.services.access.audit_log import list_acts
from slowwave_server.workers.cli.main import app
from tests.console.conftest import TENANT, Console
from tests.support.shelling import CliRunner

pytestmark = pytest.mark.servers

FORM = re.compile(r"sw_[a-z2-7]{8}_[A-Za-z0-9_-]{43}")


def notes(engine: Engine, tenant: str = TENANT) -> list[tuple[str | None, str, str]]:
    """(actor, via, what) of acts with keys, the oldest first."""
    with engine.connect() as connection:
        found = list_acts(connection, tenant, nobodys=False, action="key", limit=100)
    return [(act.actor, act.via, act.what) for act in reversed(found)]


def test_key_is_made_shown_once_and_revoked(console: Console, engine: Engine) -> None:
    for who in ("viewer", "curator"):
        assert console.get("/keys", who=who).status_code == 403
        assert console.post("/keys/make", who=who, name="app", **{"right-read": "yes"}).status_code == 403
    made = console.post(
        "/keys/make", name="app", agents="atlas\r\napp-*\r\n", scopes="room:kitchen", days="30",
        **{"right-read": "yes", "right-record": "yes"},
    )  # fmt: skip
    (secret,) = FORM.findall(made.text)
    shown = console.get("/keys", who="operator").text
    assert (secret in shown, secret[:11] in shown, "app-*, room:kitchen" in shown) == (False, True, True)
    with engine.connect() as connection:
        (key,) = list_keys(connection, TENANT)
        assert find_key(connection, digest_of(secret)) == key
    assert (key.agents, key.scopes, key.rights) == (("atlas", "app-*"), ("room:kitchen",), ("record", "read"))
    assert key.expires_at is not None
    assert (key.created_by, (key.expires_at - key.created_at).days) == ("operator", 30)
    assert console.post(f"/keys/{key.id}/revoke", who="stranger").status_code == 404
    gone = console.post(f"/keys/{key.id}/revoke")
    assert (gone.status_code, gone.headers["location"]) == (303, "/keys")
    assert "is revoked" in console.get("/keys", who="operator").text
    with engine.connect() as connection:
        assert find_key(connection, digest_of(secret)) is None
    assert notes(engine) == [
        ("operator", "console", f"key app ({key.prefix}) was made with the rights record, read"),
        ("operator", "console", f"key app ({key.prefix}) was revoked"),
    ]


def test_form_without_a_right_makes_no_key(console: Console, engine: Engine) -> None:
    refused = console.post("/keys/make", name="app", agents="atlas")
    assert (refused.status_code, "needs one right or more" in refused.text) == (409, True)
    assert ">atlas<" in refused.text
    odd = console.post("/keys/make", name="app", days="31", **{"right-read": "yes"})
    assert (odd.status_code, "load the page again" in odd.text) == (409, True)
    with engine.connect() as connection:
        assert list_keys(connection, TENANT) == []
    assert notes(engine) == []


def test_shell_makes_lists_and_revokes_keys(database_url: str, engine: Engine) -> None:
    def shell(*arguments: str, code: int = 0, tenant: str = TENANT) -> Any:
        result = CliRunner().invoke(
            app, ["--tenant", tenant, "admin", "keys", *arguments], env={"SLOWWAVE_DATABASE_URL": database_url}
        )
        assert result.exit_code == code, result.output
        return result

    made = shell("add", "my app", "--right", "forget", "--right", "read", "--agent", "app-*", "--scope", "room:kitchen")
    assert FORM.fullmatch(made.stdout.strip())
    assert "my app is a key of tenant acme: read, forget, for app-*, room:kitchen, until it is revoked." in made.stderr
    assert made.stdout.strip() not in made.stderr
    second = json.loads(shell("add", "short", "--expires", "1d", "--json").stdout)
    assert (second["rights"], second["key"].startswith(second["prefix"])) == (["record", "read"], True)
    listed = shell("list").stdout
    assert ("my app" in listed, made.stdout.strip()[:11] in listed) == (True, True)
    assert made.stdout.strip()[12:] not in listed + shell("list", "--json").stdout
    assert "has no key" in shell("list", tenant="globex").stdout
    shell("revoke", second["prefix"], code=1, tenant="globex")
    assert "is revoked" in shell("revoke", second["id"]).stdout
    assert json.loads(shell("revoke", made.stdout.strip(), "--json").stdout)["revoked"]
    assert {key["state"] for key in json.loads(shell("list", "--json").stdout)} == {"revoked"}
    shell("revoke", "sw_aaaaaaaa", code=1)
    assert [what for *_, what in notes(engine)] == [
        f"key my app ({made.stdout[:11]}) was made with the rights read, forget",
        f"key short ({second['prefix']}) was made with the rights record, read",
        f"key short ({second['prefix']}) was revoked",
        f"key my app ({made.stdout[:11]}) was revoked",
    ]


@pytest.mark.parametrize(
    "options",
    [
        ("--right", "rule"),
        ("--expires", "tomorrow"),
        ("--expires", "2020-01-01"),
        ("--expires", "0d"),
        ("--expires", "99999d"),
        ("--scope", "kitchen"),
        ("--scope", "agent:atlas"),
        ("--agent", ""),
    ],
)
def test_shell_refuses_a_key_that_cannot_be(database_url: str, options: tuple[str, str]) -> None:
    result = CliRunner().invoke(
        app, ["admin", "keys", "add", "x", *options], env={"SLOWWAVE_DATABASE_URL": database_url}
    )
    assert result.exit_code in {1, 2}
    assert result.stdout == ""
    assert result.stderr
    assert "Traceback" not in result.stderr


def test_key_with_too_many_patterns_is_refused(engine: Engine) -> None:
    now = datetime.now(UTC)
    for wanted in (
        NewKey("app", ["read"], agents=[f"a{number}" for number in range(MOST_PATTERNS + 1)]),
        NewKey("app", ["read"], expires_at=now.replace(tzinfo=None)),
    ):
        with engine.connect() as connection, pytest.raises(InvalidKey):
            make_key(connection, TENANT, wanted, by="maya", now=now)
