"""Forget data outside of Postgres, after the transaction: messages, keys, the spool, files."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from slowwave.settings import Settings
from slowwave_server.services.forget.broker import drop_answers, take_keys, take_messages
from slowwave_server.services.forget.copies import Mem0Cleaner
from slowwave_server.services.forget.files import remove_scope_files, scopes_with_files, write_anew
from slowwave_server.services.forget.forgotten import Forgotten
from slowwave_server.services.forget.spool import clear_spool
from slowwave_server.services.forget.target import Target
from slowwave_server.services.forget.transaction import Erased
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
