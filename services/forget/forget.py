"""`forget`: delete all data of an agent, a session, a scope or one memory, in every store, with a preview and a
receipt.

The steps in order: delete queued messages, so that no task starts with the text; delete rows and set the fence in one
transaction; delete messages and keys again; clean the spool and files; release the disk space of deleted data in
Postgres and Redis.
"""

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from slowwave.mem0_backend import CopyStore, connect
from slowwave.settings import Settings
from slowwave_server.services.forget.broker import count_messages, drop_answers, take_keys, take_messages
from slowwave_server.services.forget.copies import Mem0Cleaner
from slowwave_server.services.forget.files import count_files, remove_scope_files, scopes_with_files, write_anew
from slowwave_server.services.forget.forgotten import Forgotten
from slowwave_server.services.forget.plan import TAKEN
from slowwave_server.services.forget.receipts import add_counts
from slowwave_server.services.forget.spool import clear_spool
from slowwave_server.services.forget.target import Target
from slowwave_server.services.forget.transaction import Erased, erase
from slowwave_server.services.lookup import UnknownName, find_agent, find_session
from slowwave_server.services.memory_files.locks import FilesBusy


@dataclass
class Outside:
    """Deletes the target's data outside Postgres. names: None for a memory, because other stores don't name memories.

    counts: the numbers of deleted objects so far, by kind.
    """

    engine: Engine
    redis: Redis
    settings: Settings
    target: Target
    erased: Erased
    names: Forgotten | None
    mem0: Mem0Cleaner
    counts: Counter[str] = field(default_factory=Counter)

    def clear(self, now: datetime) -> list[str]:
        """Clear every store. Return a sentence for each failure. If one store fails, the others are still cleared."""
        problems = [*self._write_anew(now), *self._copies(now)]
        steps = {"messages": self._messages, "spool": self._spool, "memory files": self._files}
        for name, step in steps.items():
            try:
                step()
            except (RedisError, OSError, FilesBusy, DBAPIError) as error:
                problems.append(f"{name}: {error}")
        return problems

    def _write_anew(self, now: datetime) -> list[str]:
        try:
            shown = scopes_with_files(self.engine, self.target.tenant, self.erased.near)
            return write_anew(self.engine, self.settings.memory, shown, now)
        except DBAPIError as error:
            return [f"memory files of other scopes were not written anew: {type(error).__name__}"]

    def _copies(self, now: datetime) -> list[str]:
        try:
            scopes = [scope_id for scope_id, _, _ in (*self.erased.scopes, *self.erased.near)]
            return self.mem0.clear(self.target.tenant, scopes, now)
        except DBAPIError as error:
            return [f"copies in mem0 are still there, and taken away by workers: {type(error).__name__}"]

    def _messages(self) -> None:
        drop_answers(self.redis, self.target.tenant)
        if self.names is not None:
            self.counts["messages"] += take_messages(self.redis, self.names, self.settings.tenant)
            self.counts["keys"] += take_keys(self.redis, self.names)

    def _spool(self) -> None:
        if self.names is not None:
            cleared = clear_spool(self.settings.spool, self.settings.database_url, self.names)
            self.counts["entries of the spool"] += cleared.entries

    def _files(self) -> None:
        root = self.settings.memory.files.root
        removed = remove_scope_files(self.engine, root, self.target.tenant, self.erased.scopes)
        self.counts["memory files"] += removed


log = logging.getLogger(__name__)

NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Report:
    """The data that a forget deleted, or, in a preview (receipt None), would delete.

    counts: the numbers of deleted objects, by kind. sessions: the names of some of the sessions. hints: further
    sentences for the user. problems: the steps that failed; if the user repeats the forget, it carries out the failed
    steps.
    """

    target: str
    receipt: int | None
    counts: dict[str, int]
    sessions: tuple[str, ...]
    hints: tuple[str, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Forgetter:
    """The stores from which a forget deletes. redis: must be reachable, because messages contain text.

    connecting: makes the connection to mem0; called only if mem0 may have copies.
    """

    engine: Engine
    redis: Redis
    settings: Settings
    clock: Callable[[], datetime]
    connecting: Callable[[Settings], CopyStore] = connect

    def preview(self, target: Target) -> Report:
        """Count the data that a forget would delete. Raises UnknownName, CannotForget and redis' own errors."""
        erased = erase(self.engine, target, clock=self.clock, by="", dry_run=True)
        names, counts = _names(target, erased), dict(erased.counts)
        if names is not None:
            cleared = clear_spool(self.settings.spool, self.settings.database_url, names, dry_run=True)
            counts |= {
                "messages": count_messages(self.redis, names, self.settings.tenant),
                "entries of the spool": cleared.entries,
                "memory files": count_files(self.settings.memory.files.root, target.tenant, erased.scopes),
            }
        counts = {label: number for label, number in counts.items() if number}
        if not erased.known and not counts:
            self._raise_unknown(target)
        return Report(str(target), None, counts, _some(erased), _hints(target, erased, counts))

    def forget(self, target: Target, *, by: str) -> Report:
        """Forget the target. Raises as `preview`; in this case, at most waiting messages were deleted."""
        before = erase(self.engine, target, clock=self.clock, by=by, dry_run=True)
        if not before.known:
            self.preview(target)
        names, messages = _names(target, before), 0
        if names is not None:
            # A task that has begun gives its data a time before the fence; a task that has not begun is stopped.
            messages = take_messages(self.redis, names, self.settings.tenant)
        erased = erase(self.engine, target, clock=self.clock, by=by, dry_run=False)
        mem0 = Mem0Cleaner(self.engine, self.settings, self.connecting)
        outside = Outside(self.engine, self.redis, self.settings, target, erased, _names(target, erased), mem0)
        outside.counts["messages"] = messages
        problems = outside.clear(self.clock())
        elsewhere = {label: number for label, number in outside.counts.items() if number}
        with self.engine.connect().execution_options(isolation_level="READ COMMITTED") as connection:
            add_counts(connection, erased.erasure or 0, elsewhere)
            connection.commit()
        self._let_go_of_space(problems)
        counts = erased.counts | elsewhere
        return Report(
            str(target), erased.erasure, counts, _some(erased), _hints(target, erased, counts), tuple(problems)
        )

    def _let_go_of_space(self, problems: list[str]) -> None:
        """Release the space of deleted data: deleted rows stay in their pages until vacuum cleans them, and commands
        stay in Redis' log until it is rewritten.

        Only pages that changed since the last vacuum are read. Autovacuum cleans indexes and planner statistics,
        because this needs a read of the whole table.
        """
        try:
            with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(text("SELECT set_config('statement_timeout', '0', false)"))
                tables = ", ".join(f"slowwave.{table}" for table in sorted(TAKEN))
                connection.execute(text(f"VACUUM (INDEX_CLEANUP OFF, TRUNCATE OFF) {tables}"))
                # Its settings are deleted with it.
                connection.invalidate()
        except DBAPIError as error:
            log.warning("tables could not be vacuumed: %s", type(error).__name__)
            problems.append("Postgres did not clean its tables at once (VACUUM); autovacuum will")
        try:
            self.redis.bgrewriteaof()
        except RedisError as error:
            problems.append(f"Redis did not rewrite its log (BGREWRITEAOF: {error})")

    def _raise_unknown(self, target: Target) -> None:
        with self.engine.connect() as connection:
            if target.kind in {"agent", "session"}:
                find_agent(connection, target.tenant, target.agent or "")
            if target.kind == "session":
                find_session(connection, target.tenant, target.agent or "", target.session or "")
        raise UnknownName(f"tenant {target.tenant!r} has no {target}")


def _names(target: Target, erased: Erased) -> Forgotten | None:
    """Return the names that identify queued data; None for a memory, because queued data never names one."""
    if target.kind == "memory":
        return None
    if target.kind in {"scope", "import"}:
        return Forgotten(
            target.tenant,
            scope=target.scope_label,
            sessions=frozenset(erased.sessions),
            elsewhere=frozenset(erased.elsewhere),
        )
    return Forgotten(target.tenant, target.agent, target.session)


def _some(erased: Erased) -> tuple[str, ...]:
    several = len({agent for agent, _ in erased.sessions}) > 1
    return tuple(f"{agent}/{session}" if several else session for agent, session in erased.sessions[:NAMES_SHOWN])


def _hints(target: Target, erased: Erased, counts: dict[str, int]) -> tuple[str, ...]:
    hints = []
    if erased.scopes and counts.get("memory files"):
        hints.append("What people wrote into these memory files goes with them.")
    if target.kind == "memory":
        hints.append("The conversations that it came from stay; forget their sessions to remove what was said.")
    if target.kind == "agent" and erased.near:
        hints.append("In rooms and teams only what rests on this agent alone goes.")
    if counts.get("days to summarise again"):
        hints.append("Summaries of the days concerned are made anew from what is left.")
    return tuple(hints)
