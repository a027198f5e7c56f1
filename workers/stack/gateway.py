"""The gateway of a stack with its own Postgres: a login made by the owner, and `slowwave serve` as a child."""

import sys
from collections.abc import Mapping

from sqlalchemy import Connection
from sqlalchemy.engine import make_url

from slowwave.settings import variable_of
from slowwave_server.models.engine import make_engine
from slowwave_server.services.access.grants import apply_grants
from slowwave_server.services.access.logins import add_login
from slowwave_server.workers.stack.child import Program
from slowwave_server.workers.stack.data_folder import DataFolder
from slowwave_server.workers.stack.errors import StackFailed
from slowwave_server.workers.stack.health import answers
from slowwave_server.workers.stack.ports import HOST

NAME = "gateway"
LOGIN = "slowwave_http"
_STAGE = 2
_GRACE_SECONDS = 12.0
_START = "import sys; from slowwave_server.workers.cli import main; sys.argv[0] = 'slowwave'; main()"


class EmbeddedGateway:
    """The gateway: call `prepared` and run its program; then the gateway `answers` at `url`."""

    def __init__(self, folder: DataFolder, port: int, owner_url: str) -> None:
        self._folder = folder
        self._port = port
        self._owner_url = owner_url

    @property
    def url(self) -> str:
        """The gateway's address."""
        return f"http://{HOST}:{self._port}"

    @property
    def _password(self) -> str:
        return self._folder.secret(NAME)

    def prepared(self, environment: Mapping[str, str]) -> Program:
        """Make the gateway's login, or renew its password and rights; return its program. Raises StackFailed."""
        engine = make_engine(self._owner_url)
        try:
            with engine.begin() as connection:
                apply_grants(connection)
                add_login(connection, LOGIN, "gateway", None, verifier=_verifier(connection, self._password))
        finally:
            engine.dispose()
        # The gateway gets its password from the environment.
        own = make_url(self._owner_url).set(username=LOGIN, password=self._password)
        address = {variable_of("database_url"): own.render_as_string(hide_password=False)}
        return Program(
            name=NAME,
            command=(sys.executable, "-P", "-c", _START, "serve", "--listen", f"{HOST}:{self._port}"),
            environment={**environment, **address},
            stage=_STAGE,
            grace_seconds=_GRACE_SECONDS,
            closing="answering its last requests",
        )

    def answers(self) -> bool:
        """Return whether the gateway is ready."""
        return answers(f"{self.url}/readyz")


def _verifier(connection: Connection, password: str) -> str:
    """Return the password as a SCRAM verifier, so that no statement and no log contains the password itself."""
    driver = connection.connection.driver_connection
    if driver is None:
        raise StackFailed("no connection to Postgres")
    made: bytes = driver.pgconn.encrypt_password(password.encode(), LOGIN.encode(), b"scram-sha-256")
    return made.decode()
