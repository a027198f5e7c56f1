"""Floods of wrong logins against a console that runs as a process: nobody else is locked out, and memory is bounded."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from slowwave_server.models.engine import make_engine
from slowwave_server.services.access.console_users import Passwords, add_user
from tests.attacks.consoling import PASSWORD, ConsoleProcess, console_process

pytestmark = [pytest.mark.servers, pytest.mark.long]

HASH_BYTES = 64 << 20
"""What one comparison of a password takes."""


@pytest.fixture(scope="module")
def process(module_database: str, valkey_url: str) -> Iterator[ConsoleProcess]:
    """A console with two people, whose passwords take as long to compare as real ones."""
    engine = make_engine(module_database)
    with engine.begin() as connection:
        for name in ("maya", "jonas"):
            add_user(connection, name, "viewer", ["default"], PASSWORD, passwords=Passwords())
    engine.dispose()
    with console_process({"SLOWWAVE_DATABASE_URL": module_database, "SLOWWAVE_BROKER_URL": valkey_url}) as process:
        yield process


@pytest.fixture
def console(process: ConsoleProcess, redis_client: redis.Redis) -> ConsoleProcess:
    """The same, where no login has failed yet."""
    assert not list(redis_client.scan_iter("*login-failures*"))
    return process


def test_parallel_wrong_logins_lock_nobody_else_out(console: ConsoleProcess) -> None:
    assert console.log_in("maya", PASSWORD).status == 303
    before = console.memory("VmHWM")
    forms = [console.form() for _ in range(100)]
    with ThreadPoolExecutor(len(forms)) as pool:
        wrong = [pool.submit(console.log_in, "jonas", "a guess, no more", form=form) for form in forms]
        assert console.log_in("maya", PASSWORD, source="127.0.0.2").status == 303
        statuses = Counter(one.result().status for one in wrong)
    assert statuses.keys() <= {401, 429}
    assert statuses[401] <= 10, "an attempt counts before its password is compared"
    assert console.memory("VmHWM") - before < 2 * HASH_BYTES, "at most two passwords are compared at once"


def test_wrong_logins_of_many_names_let_others_in(console: ConsoleProcess) -> None:
    forms = [console.form() for _ in range(12)]
    with ThreadPoolExecutor(len(forms)) as pool:
        wrong = [
            pool.submit(console.log_in, f"name {number}", "a guess", form=form) for number, form in enumerate(forms)
        ]
        assert console.ask("GET", "/healthz").status == 200
        assert console.log_in("maya", PASSWORD, source="127.0.0.2").status == 303
        statuses = Counter(one.result().status for one in wrong)
    assert statuses == {401: 12}
