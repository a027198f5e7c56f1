"""A console as a process of its own, and a client that speaks to it over plain sockets from any loopback address."""

import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

PASSWORD = "correct horse battery"  # noqa: S105
_TOKEN = re.compile(r'name="token" value="([^"]+)"')


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. cookies: `name=value` pairs that it set."""

    status: int
    text: str
    cookies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConsoleProcess:
    """A console that answers at 127.0.0.1:port."""

    port: int
    pid: int

    def ask(
        self,
        method: str,
        path: str,
        form: Mapping[str, str] | None = None,
        *,
        source: str = "127.0.0.1",
        headers: Mapping[str, str] | None = None,
        timeout: float = 30,
    ) -> Answer:
        """One request over a connection of its own, which comes from the address `source`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout, source_address=(source, 0))
        sent = dict(headers or {})
        if form is not None:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            connection.request(method, path, None if form is None else urlencode(form), sent)
            answer = connection.getresponse()
            cookies = [line.split(";")[0] for line in answer.headers.get_all("set-cookie") or []]
            return Answer(answer.status, answer.read().decode(), tuple(cookies))
        finally:
            connection.close()

    def form(self, source: str = "127.0.0.1") -> tuple[str, str]:
        """A fresh login form: its token, and the header of its cookie."""
        page = self.ask("GET", "/login", source=source)
        found = _TOKEN.search(page.text)
        assert found is not None
        return found[1], "; ".join(page.cookies)

    def log_in(
        self,
        name: str,
        password: str,
        *,
        form: tuple[str, str] | None = None,
        source: str = "127.0.0.1",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send the login form. form: one that was fetched before."""
        token, cookie = form or self.form(source)
        fields = {"name": name, "password": password, "token": token}
        return self.ask("POST", "/login", fields, source=source, headers={"Cookie": cookie, **(headers or {})})

    def memory(self, name: str) -> int:
        """Bytes that the process holds: `VmRSS`, or `VmHWM` for the most that it ever held."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        return int(re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE)[1]) * 1024  # type: ignore[index]


@contextmanager
def console_process(variables: Mapping[str, str], *options: str) -> Iterator[ConsoleProcess]:
    """Run `slowwave console` on a free port until the block ends."""
    start = "from slowwave_server.workers.cli import main; main()"
    command = [sys.executable, "-c", start, "console", "--listen", "127.0.0.1:0", *options]
    with subprocess.Popen(command, env=os.environ | variables, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            told = next(line for line in process.stderr if "The console is at" in line)
            yield ConsoleProcess(int(told.rstrip("/\n").rsplit(":", 1)[1]), process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
