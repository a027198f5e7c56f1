"""`celery -A slowwave_server flower` without a login that holds: it says what to set, and opens no port."""

import os
import socket
import subprocess
import sys
from contextlib import closing

import pytest

from slowwave_server.workers.flower_access import why_refused

pytestmark = pytest.mark.workers


class Options:
    """Flower's options, as far as they are read."""

    def __init__(self, basic_auth: list[str] | None, auth: str = "") -> None:
        self.auth, self.basic_auth, self.address, self.unix_socket = auth, basic_auth, "", ""


@pytest.mark.parametrize("credentials", [None, [], [""], ["maya"], ["maya:"], [":word"], ["maya:pass", "word"]])
def test_a_login_that_lets_everybody_or_nobody_in_is_refused(credentials: list[str] | None) -> None:
    why = why_refused(Options(credentials))
    assert why is not None
    assert "FLOWER_BASIC_AUTH" in why
    assert "pass," not in why


def test_a_user_with_a_password_or_a_login_by_oauth_is_enough() -> None:
    assert why_refused(Options(["maya:word", "jonas:other"])) is None
    assert why_refused(Options(None, auth=r".*@example\.org")) is None


def test_flower_without_a_password_does_not_start() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("SLOWWAVE_", "FLOWER_"))}
    command = [sys.executable, "-m", "celery", "-A", "slowwave_server", "flower", f"--port={port}"]
    # Its own way to do without one opens the API to everybody.
    done = subprocess.run(
        command,
        env=clean | {"FLOWER_UNAUTHENTICATED_API": "true", "SLOWWAVE_BROKER_URL": "redis://127.0.0.1:1/0"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "set FLOWER_BASIC_AUTH=USER:PASSWORD" in done.stderr
    assert "Traceback" not in done.stderr
