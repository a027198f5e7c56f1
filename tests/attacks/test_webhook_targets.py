"""Webhooks as a way in: to networks behind the worker, to its time and memory, and forged or replayed to receivers."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from slowwave_server.services.webhooks.sending import Sender
from slowwave_server.services.webhooks.signing import new_secret, signed
from slowwave_server.services.webhooks.targets import TargetRefused, read_target

LOOPBACK = (ip_network("127.0.0.0/8"),)
PRIVATE = [
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",  # noqa: S104 (refused)
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",  # metadata of most clouds
    "100.64.0.1",
    "100.100.100.200",  # metadata of another
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2001:0:7f00:1::80ff:fffe",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
]


def answering(*addresses: str) -> Callable[[str, int], Sequence[str]]:
    return lambda _host, _port: addresses


@pytest.mark.parametrize("address", PRIVATE)
def test_no_address_behind_the_worker_is_reached(address: str) -> None:
    """Neither as it stands in a URL nor as what a name resolves to, even beside a public one."""
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(TargetRefused, match="which is not public"):
        read_target(f"https://{host}/", ())
    for resolve in (answering(address), answering("93.184.215.14", address)):
        outcome = Sender(2, resolve=resolve).send("https://hooks.example.com/", {}, b"{}")
        assert outcome.status is None
        assert outcome.error is not None
        assert "which is not public" in outcome.error


@pytest.mark.parametrize("spelling", ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "localhost", "LOCALHOST."])
def test_other_spellings_of_this_machine_are_refused(spelling: str) -> None:
    outcome = Sender(2).send(f"https://{spelling}/", {}, b"{}")
    assert outcome.error is not None
    assert "which is not public" in outcome.error or "can't be resolved" in outcome.error


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hooks.example.com",
        "//hooks.example.com/",
        "ftp://hooks.example.com/",
        "file:///etc/passwd",
        "gopher://hooks.example.com/",
        "http://hooks.example.com/",
        "https://",
        "https:///hooks",
        "https://user:secret@hooks.example.com/",
        "https://user@hooks.example.com/",
        "https://hooks.example.com/#part",
        "https://hooks.example.com\\@127.0.0.1/",
        "https://hooks.example.com:0/",
        "https://hooks.example.com:99999/",
        "https://hooks.example.com:abc/",
        "https://hooks.example.com/a b",
        "https://hooks.example.com/\r\nHost: evil",
        "https://hooks.example.com/\x00",
        "https://höoks.example.com/",
        "https://[::1/",
        "https://[fe80::1%25eth0]/",
        "https://ex%61mple.com/",
        "https://" + "a" * 3000,
    ],
)
def test_what_is_no_plain_url_is_refused(url: str) -> None:
    with pytest.raises(TargetRefused):
        read_target(url, ())


def test_only_a_network_that_is_allowed_is_reached() -> None:
    read_target("http://127.0.0.1:8080/", LOOPBACK)
    for url in ("https://10.0.0.1/", "https://[::1]/", "https://169.254.169.254/"):
        with pytest.raises(TargetRefused, match="which is not public"):
            read_target(url, LOOPBACK)
    with pytest.raises(TargetRefused, match="must begin with https"):
        read_target("http://93.184.215.14/", LOOPBACK)


@contextmanager
def serving(answer: Callable[[Any], object], *, hello: bool = False) -> Iterator[int]:
    """Something that accepts connections on this machine, and does with each what it likes. hello: it is given what was
    received instead of the connection.
    """
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(0.05)
    ended = threading.Event()

    def accept() -> None:
        while not ended.is_set():
            with suppress(TimeoutError):
                connection, _ = listening.accept()
                with connection, suppress(OSError):
                    connection.settimeout(5)
                    received = connection.recv(65_536)
                    answer(received if hello else connection)

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        ended.set()
        thread.join()
        listening.close()


def test_a_name_is_resolved_once_and_that_address_is_used() -> None:
    """A name server that answers with another address the second time (DNS rebinding) is not asked a second time."""
    asked: list[str] = []

    def resolve(host: str, _port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

    with serving(lambda link: link.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")) as port:
        outcome = Sender(5, LOOPBACK, resolve=resolve).send(f"http://hooks.example.com:{port}/", {}, b"{}")
    assert (outcome.status, asked) == (204, ["hooks.example.com"])


def test_a_certificate_is_that_of_the_name() -> None:
    """The address was checked, and the name is what TLS asks for."""
    hellos: list[bytes] = []
    with serving(hellos.append, hello=True) as port:
        outcome = Sender(5, LOOPBACK, answering("127.0.0.1")).send(f"https://hooks.example.com:{port}/", {}, b"{}")
    assert b"hooks.example.com" in hellos[0]
    assert outcome.status is None
    context = Sender(5).tls
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_no_redirect_leads_elsewhere() -> None:
    elsewhere: list[bytes] = []
    with serving(lambda _link: elsewhere.append(b"reached")) as inner:
        told = f"HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:{inner}/\r\nContent-Length: 0\r\n\r\n".encode()
        with serving(lambda link: link.sendall(told)) as port:
            outcome = Sender(5, LOOPBACK).send(f"http://127.0.0.1:{port}/", {}, b"{}")
    assert outcome.error == "the receiver answered 307"
    assert elsewhere == []


def _drip(link: socket.socket) -> None:
    link.sendall(b"HTTP/1.1 200 OK\r\n")
    for _ in range(100):
        link.sendall(b"X: y\r\n")
        time.sleep(0.1)


def _flood(link: socket.socket) -> None:
    link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
    for _ in range(10_000):
        link.sendall(b"x" * 65_536)


def _garbage(link: socket.socket) -> None:
    link.sendall(b"\x00\xff" * 1000 + b"\r\n\r\n")


@pytest.mark.parametrize("answer", [_drip, _flood, _garbage, lambda link: link.recv(1)])
def test_no_receiver_holds_a_worker(answer: Callable[[socket.socket], None]) -> None:
    with serving(answer) as port:
        began = time.monotonic()
        outcome = Sender(1, LOOPBACK).send(f"http://127.0.0.1:{port}/", {}, b"{}")
        assert time.monotonic() - began < 3
    assert outcome.status in {None, 200}


def test_forged_and_replayed_messages_are_told_apart() -> None:
    secret, body = new_secret(), b'{"type":"memory.created","data":{}}'
    headers = signed("msg_1", datetime.now(UTC), body, [secret])
    receiver = Webhook(secret)
    assert receiver.verify(body, headers) == {"type": "memory.created", "data": {}}
    for change in ({"webhook-id": "msg_2"}, {"webhook-timestamp": str(int(time.time()) - 10)}):
        with pytest.raises(WebhookVerificationError):
            receiver.verify(body, headers | change)
    with pytest.raises(WebhookVerificationError):
        receiver.verify(body.replace(b"created", b"changed"), headers)
    with pytest.raises(WebhookVerificationError):
        receiver.verify(body, signed("msg_1", datetime.now(UTC), body, [new_secret()]))
    replayed = signed("msg_1", datetime.now(UTC) - timedelta(minutes=6), body, [secret])
    with pytest.raises(WebhookVerificationError):
        receiver.verify(body, replayed)
