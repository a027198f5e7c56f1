"""The whole stack: servers, schema, workers, beat and Flower, started in order, supervised, stopped in order.

    with Stack(StackOptions(data=folder)) as stack:
        memory = Memory(stack.settings)

A server in the settings replaces the embedded one, for Postgres and the broker independently.
"""

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy.exc import OperationalError

from slowwave.settings import PREFIX, Settings, load_settings, variable_of
from slowwave_server.models.driver import WrongSchema
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
from slowwave_server.workers.stack.child import Child, Say
from slowwave_server.workers.stack.data_folder import DataFolder
from slowwave_server.workers.stack.embedded_postgres import EmbeddedPostgres
from slowwave_server.workers.stack.embedded_valkey import EmbeddedValkey
from slowwave_server.workers.stack.environment import write_environment
from slowwave_server.workers.stack.errors import StackFailed, StartInterrupted
from slowwave_server.workers.stack.gateway import EmbeddedGateway
from slowwave_server.workers.stack.given_servers import check_broker, check_database
from slowwave_server.workers.stack.log_tail import last_lines
from slowwave_server.workers.stack.ports import HOST, settle_ports
from slowwave_server.workers.stack.programs import CeleryPrograms, default_workers, flower_answers, worker_answers
from slowwave_server.workers.stack.supervisor import Supervisor

_POLL_SECONDS = 0.1
# After a crash of the machine, Postgres may need time for recovery.
_SERVER_SECONDS = 120.0
_PROGRAM_SECONDS = 90.0
# A program that dies this often during the start has a problem that waiting does not solve.
_DEATHS_ALLOWED = 3


@dataclass(frozen=True, slots=True)
class StackOptions:
    """The parts to run and their options.

    data: the folder of all data that stays between starts. Ports: 0 reuses the last port or picks a free one.
    concurrency: pool processes of the main worker (None: one for each core). flower_auth: "USER:PASSWORD" (None:
    generated once and kept). app: the argument of `celery -A`. programs: False starts only the servers. gateway: True
    to start the HTTP gateway, too; it needs the stack's own Postgres.
    """

    data: Path
    postgres_port: int = 0
    valkey_port: int = 0
    flower_port: int = 0
    gateway_port: int = 0
    concurrency: int | None = None
    flower: bool = True
    flower_auth: str | None = None
    app: str = "slowwave_server"
    programs: bool = True
    gateway: bool = False


class Stack:
    """A context manager: inside it everything is up; after it no process is left.

    say: called with (part, line) for every event, from several threads. environment: the variables of this process.
    `settings` connects to the stack; `flower_url` and `gateway_url` are None if these parts are off. `children` are the
    supervised programs. Entering raises a StackError with one sentence, after it has stopped everything already
    started.
    """

    def __init__(self, options: StackOptions, say: Say, environment: Mapping[str, str] | None = None) -> None:
        self.options = options
        self.folder = DataFolder(options.data)
        self.flower_url: str | None = None
        self.gateway_url: str | None = None
        self._say = say
        self._environment = dict(os.environ if environment is None else environment)
        self._given = load_settings(self._environment)
        self._settings: Settings | None = None
        self._stopping = threading.Event()
        self._claims = ExitStack()
        self._held = -1
        self._supervisor: Supervisor | None = None

    @property
    def settings(self) -> Settings:
        """The settings with the addresses of this stack's servers. Raises StackFailed before it has servers."""
        if self._settings is None:
            raise StackFailed("the stack has no servers yet: enter it first")
        return self._settings

    @property
    def children(self) -> dict[str, Child]:
        """The supervised programs by name."""
        return {} if self._supervisor is None else self._supervisor.children

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def request_stop(self) -> None:
        """End `wait`, or interrupt the start. A second call kills all programs. A signal handler may call it."""
        if self._stopping.is_set() and self._supervisor is not None:
            self._supervisor.hurry()
        self._stopping.set()

    def wait(self) -> None:
        """Return after `request_stop` has been called."""
        # In slices, so that signal handlers can run on every platform.
        while not self._stopping.wait(1.0):
            pass

    def _start(self) -> None:
        self._held = self._claims.enter_context(self.folder.claim())
        self._supervisor = Supervisor(self.folder.logs, self._say, held=self._held)
        ports = settle_ports(self.folder.ports, self._wanted_ports())
        database_url = self._start_postgres(ports, self._supervisor)
        broker_url = self._start_valkey(ports, self._supervisor)
        self._settings = self._settled(database_url, broker_url)
        self._migrate(database_url)
        if self.options.programs:
            gateway = self._start_gateway(ports, self._supervisor)
            self._start_programs(ports, self._supervisor)
            self._await_gateway(gateway)
        self._publish()

    def _wanted_ports(self) -> dict[str, int]:
        wanted = {}
        if not self._names_database:
            wanted["postgres"] = self.options.postgres_port
        if not self._names_broker:
            wanted["valkey"] = self.options.valkey_port
        if self.options.flower and self.options.programs:
            wanted["flower"] = self.options.flower_port
        if self.options.gateway and self.options.programs and not self._names_database:
            wanted["gateway"] = self.options.gateway_port
        return wanted

    def _settled(self, database_url: str, broker_url: str) -> Settings:
        """Return the given settings with this stack's addresses.

        Unless the settings name a folder for them or a database, the memory files go to the data folder: two stacks on
        one host must not share memory files.
        """
        changed: dict[str, object] = {"database_url": database_url, "broker_url": broker_url}
        memory = self._given.memory
        if "root" not in memory.files.model_fields_set and not self._names_database:
            files = memory.files.model_copy(update={"root": self.folder.root / "memory"})
            changed["memory"] = memory.model_copy(update={"files": files})
        return self._given.model_copy(update=changed)

    def _variables(self) -> dict[str, str]:
        """Return the variables by which processes connect to this stack, with the settings' own addresses."""
        settings = self.settings
        values = {"database_url": settings.database_url, "broker_url": settings.broker_url}
        if settings.memory is not self._given.memory:
            values["memory.files.root"] = str(settings.memory.files.root)
        return {variable_of(key): value for key, value in values.items()}

    @property
    def _names_database(self) -> bool:
        return "database_url" in self._given.model_fields_set

    @property
    def _names_broker(self) -> bool:
        return "broker_url" in self._given.model_fields_set

    def _start_postgres(self, ports: Mapping[str, int], supervisor: Supervisor) -> str:
        if self._names_database:
            self._say("postgres", f"using the server that {variable_of('database_url')} names")
            check_database(self._given.database_url)
            return self._given.database_url
        server = EmbeddedPostgres(self.folder, ports["postgres"], self._say)
        server.create(self._held, self._stopping)
        child = supervisor.start(server.program(self._server_environment()))
        self._await("postgres", server.answers, _SERVER_SECONDS, child)
        server.prepare_database()
        self._say("postgres", f"ready on {HOST}:{ports['postgres']}, data in {self.folder.postgres}")
        return server.url

    def _start_valkey(self, ports: Mapping[str, int], supervisor: Supervisor) -> str:
        if self._names_broker:
            self._say("valkey", f"using the server that {variable_of('broker_url')} names")
            check_broker(self._given)
            return self._given.broker_url
        server = EmbeddedValkey(self.folder, ports["valkey"])
        child = supervisor.start(server.program(self._server_environment()))
        self._await("valkey", server.answers, _SERVER_SECONDS, child)
        self._say("valkey", f"ready on {HOST}:{ports['valkey']}, data in {self.folder.valkey}")
        return server.url

    def _server_environment(self) -> dict[str, str]:
        """Return the environment without variables that change how the servers run or that they should not see."""
        return {name: value for name, value in self._environment.items() if not name.startswith(("PG", PREFIX))}

    def _migrate(self, database_url: str) -> None:
        engine = make_engine(database_url)
        try:
            before, after = migrate(engine)
        except (OperationalError, WrongSchema) as error:
            raise StackFailed(f"the schema can't be brought up to date: {str(error).splitlines()[0]}") from None
        finally:
            engine.dispose()
        self._say("schema", f"at revision {after}" + ("" if before == after else f" (was {before or 'empty'})"))
        self._check_stop()

    def _start_programs(self, ports: Mapping[str, int], supervisor: Supervisor) -> None:
        settings = self.settings
        programs = CeleryPrograms(self.folder, self.options.app, self._environment | self._variables())
        workers = default_workers(self.options.concurrency or os.cpu_count() or 1)
        events = self.options.flower
        started = [(worker, supervisor.start(programs.worker(worker, events=events))) for worker in workers]
        beat = supervisor.start(programs.beat())
        flower = None
        if self.options.flower:
            flower = supervisor.start(programs.flower(ports["flower"], self._flower_auth()))
        for worker, child in started:
            self._await(child.program.name, partial(worker_answers, settings, worker.node), child=child)
            self._say(child.program.name, f"ready, {worker.concurrency} at a time from {', '.join(worker.queues)}")
        self._await("beat", lambda: programs.beat_runs(beat), child=beat)
        self._say("beat", "ready")
        if flower is not None:
            self._await("flower", lambda: flower_answers(ports["flower"]), child=flower)
            self.flower_url = f"http://{HOST}:{ports['flower']}"
            self._say("flower", f"ready at {self.flower_url}")

    def _start_gateway(self, ports: Mapping[str, int], supervisor: Supervisor) -> tuple[EmbeddedGateway, Child] | None:
        if "gateway" not in ports:
            return None
        gateway = EmbeddedGateway(self.folder, ports["gateway"], self.settings.database_url)
        return gateway, supervisor.start(gateway.prepared(self._environment | self._variables()))

    def _await_gateway(self, started: tuple[EmbeddedGateway, Child] | None) -> None:
        if started is not None:
            self._await("gateway", started[0].answers, child=started[1])
            self.gateway_url = started[0].url
            self._say("gateway", f"ready at {self.gateway_url}")

    def _flower_auth(self) -> str:
        return self.options.flower_auth or f"slowwave:{self.folder.secret('flower')}"

    def _publish(self) -> None:
        variables = {name: value for name, value in self._variables().items() if "\n" not in value}
        if self.flower_url is not None:
            variables |= {"FLOWER_URL": self.flower_url, "FLOWER_BASIC_AUTH": self._flower_auth()}
        if self.gateway_url is not None:
            variables["SLOWWAVE_URL"] = self.gateway_url
        write_environment(self.folder, variables)
        self.folder.enter("ready")

    def _await(
        self, name: str, condition: Callable[[], bool], seconds: float = _PROGRAM_SECONDS, child: Child | None = None
    ) -> None:
        """Wait until `condition` holds. Raises StartInterrupted, or StackFailed with the last lines of the log."""
        deadline = time.monotonic() + seconds
        while True:
            self._check_stop()
            if condition():
                return
            failed = child is not None and child.deaths >= _DEATHS_ALLOWED
            if failed or time.monotonic() > deadline:
                why = f"died {_DEATHS_ALLOWED} times" if failed else f"was not ready within {seconds:.0f} s"
                log = "" if child is None else f"; the end of {child.log}:\n{last_lines(child.log)}"
                raise StackFailed(f"{name} {why}{log}")
            self._stopping.wait(_POLL_SECONDS)

    def _check_stop(self) -> None:
        if self._stopping.is_set():
            raise StartInterrupted("stopped while starting")

    def _stop(self) -> None:
        if self._held >= 0:
            self.folder.enter("stopping")
            self.folder.environment.unlink(missing_ok=True)
        if self._supervisor is not None:
            self._supervisor.stop()
        self._held = -1
        self._claims.close()
