"""`slowwave console`, `admin users`, `agent` and `session`, as a person and as a script use them."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from sqlalchemy import Engine

from slowwave import Memory
from slowwave.errors import InvalidSettings
from slowwave.settings import Settings
from slowwave_server.services.access.console_users import Passwords, check_password
from slowwave_server.workers.listening_sockets import Serving, address_of, is_loopback, listen_on
from tests.console.conftest import PASSWORD
from tests.support.shelling import Shell

pytestmark = pytest.mark.servers


@pytest.fixture
def shell(database_url: str, valkey_url: str, tmp_path: Path) -> Shell:
    return Shell(database_url, valkey_url, tmp_path)


def test_people_come_and_go(shell: Shell, engine: Engine) -> None:
    assert "Nobody may use the console yet" in shell("admin", "users", "list").stdout
    added = shell("--tenant", "acme", "admin", "users", "add", "maya", "--role", "curator", stdin=f"{PASSWORD}\n" * 2)
    assert added.exit_code == 0
    assert "maya may log in as curator and sees tenant acme." in added.stdout
    assert PASSWORD not in added.output
    options = ("--role", "operator", "--sees-all", "--password-stdin")
    assert shell.json("admin", "users", "add", "jonas", *options, stdin=f"{PASSWORD}\n")["tenants"] == ["*"]
    known = shell.json("admin", "users", "list")
    assert [(user["name"], user["role"], user["tenants"]) for user in known] == [
        ("jonas", "operator", ["*"]),
        ("maya", "curator", ["acme"]),
    ]
    assert "hash" not in json.dumps(known)
    other = PASSWORD + ", and more"
    assert shell("admin", "users", "password", "maya", "--password-stdin", stdin=f"{other}\n").exit_code == 0
    assert check_password(engine, "maya", PASSWORD, passwords=Passwords()) is None
    assert check_password(engine, "maya", other, passwords=Passwords()) is not None
    assert shell("admin", "users", "remove", "maya").exit_code == 0
    assert shell("admin", "users", "remove", "maya").exit_code == 1
    assert shell("admin", "users", "password", "maya", "--password-stdin", stdin=f"{other}\n").exit_code == 1


@pytest.mark.parametrize(
    ("call", "stdin", "code", "told"),
    [
        (("maya", "--role", "viewer", "--password-stdin"), "short\n", 1, "12 to 1000 characters"),
        (("maya", "--role", "king", "--password-stdin"), PASSWORD, 2, "king"),
        (("maya", "--role", "viewer", "--sees", "a", "--sees-all", "--password-stdin"), PASSWORD, 2, "one of the two"),
        (("", "--role", "viewer", "--password-stdin"), PASSWORD, 2, "can't be empty"),
    ],
)
def test_people_who_can_not_be_are_refused_with_a_sentence(
    shell: Shell, call: tuple[str, ...], stdin: str, code: int, told: str
) -> None:
    answer = shell("admin", "users", "add", *call, stdin=stdin)
    assert (answer.exit_code, told in answer.output) == (code, True), answer.output
    assert "Nobody" in shell("admin", "users", "list").stdout


def test_agents_and_their_sessions_are_listed(shell: Shell, database_url: str, valkey_url: str) -> None:
    settings = Settings(database_url=database_url, broker_url=valkey_url)
    assert shell("agent", "list").stdout == "There are no agents.\n"
    with Memory(settings) as memory:
        for agent, session in (("maya", "s1"), ("maya", "s2"), ("jonas", "s1")):
            memory.turn_completed(agent, session, [{"role": "user", "content": "hello"}])
        memory.for_tenant("globex").turn_completed("priya", "s1", [{"role": "user", "content": "hello"}])
    assert [(a["name"], a["sessions"], a["dirty"]) for a in shell.json("agent", "list")] == [
        ("jonas", 1, 1),
        ("maya", 2, 2),
    ]
    assert [a["name"] for a in shell.json("agent", "list", "--after", "jonas")] == ["maya"]
    found = shell.json("session", "list", "maya", "--dirty")
    assert [(s["name"], s["events"], s["processed"]) for s in found] == [("s2", 1, 0), ("s1", 1, 0)]
    assert [s["name"] for s in shell.json("session", "list", "maya", "--before", str(found[0]["number"]))] == ["s1"]
    assert "0 of 1" in shell("session", "list", "maya").stdout
    assert shell("session", "list", "priya").exit_code == 1, "an agent of another tenant"


def test_passwords_go_over_no_network_as_they_are_typed(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "192.0.2.7", "console.example", "::"):  # noqa: S104 (refused)
        with pytest.raises(InvalidSettings, match="--behind-proxy"):
            Serving(host, 8321).checked()
        assert Serving(host, 8321, behind_proxy="192.0.2.1, 2001:db8::/32").checked().secure
        for anybody in ("*", "0.0.0.0/0", "::/0", "proxy.example", "192.0.2.1,*", ""):
            with pytest.raises(InvalidSettings, match="must name the proxy by its address or network"):
                Serving(host, 8321, behind_proxy=anybody).checked()
        assert Serving(host, 8321, tmp_path / "cert", tmp_path / "key").checked().secure
    with pytest.raises(InvalidSettings, match="--tls-key"):
        Serving("127.0.0.1", 8321, tmp_path / "cert").checked()
    assert not Serving("127.0.0.1", 8321).checked().secure
    assert [is_loopback(host) for host in ("localhost", "::1", "127.1.2.3", "127.example")] == [True, True, True, False]


@pytest.mark.parametrize("listen", ["", "8321", ":8321", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "a:b", "a:-1"])
def test_an_address_that_is_none_is_refused_with_one_that_is(listen: str) -> None:
    with pytest.raises(InvalidSettings, match=r"such as 127\.0\.0\.1:8321"):
        address_of(listen)


def test_no_page_waits_for_an_acknowledgement() -> None:
    with listen_on("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.long
def test_the_command_serves_until_it_is_told_to_end(shell: Shell) -> None:
    command = [
        sys.executable,
        "-c",
        "from slowwave_server.workers.cli import main; main()",
        "console",
        "--listen",
        "127.0.0.1:0",
    ]
    with subprocess.Popen(command, env=os.environ | shell.variables, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "admin users add" in process.stderr.readline(), "nobody may log in yet"
        found = re.search(r"http://127\.0\.0\.1:\d+/", process.stderr.readline())
        assert found is not None
        with urllib.request.urlopen(f"{found[0]}login", timeout=20) as answer:  # noqa: S310 (our own)
            assert "slowwave admin users add" in answer.read().decode()
            assert "uvicorn" not in str(answer.headers)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
