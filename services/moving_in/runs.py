"""The runs of one import: one for each agent that gets data, begun at the agent's first entry."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, text

from slowwave.settings import Days
from slowwave_server.domain.moving_in.records import System
from slowwave_server.services.lookup import find_scope
from slowwave_server.services.runs.store import Run, finish_run, renew_run, start_run

LEASE_SECONDS = 600.0
"""A batch, or a flush that waits for the same rows, takes less."""
_AGENT = text(
    "INSERT INTO slowwave.agents (tenant, name, time_zone, cutoff_hour) VALUES (:tenant, :name, :zone, :cutoff)"
    " ON CONFLICT DO NOTHING"
)
_SCOPE = text(
    "INSERT INTO slowwave.scopes (tenant, kind, name) VALUES (:tenant, 'agent', :name) ON CONFLICT DO NOTHING"
)
_MARK = text(
    "UPDATE slowwave.maintenance_runs SET stats = jsonb_build_object('moved_from', CAST(:system AS text))"
    " WHERE id = :run"
)


@dataclass(frozen=True, slots=True)
class Context:
    """The collaborators of an import from another system. clock: returns the time that is stored."""

    engine: Engine
    tenant: str
    days: Days
    by: str
    clock: Callable[[], datetime]


@dataclass
class Runs:
    """The runs by agent. counts: for each run, the numbers of results by name."""

    context: Context
    system: System
    under_way: dict[str, Run] = field(default_factory=dict)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)

    def of(self, agent: str) -> Run:
        """Return the run of an agent; for the first entry, begin it, and create the agent and its scope."""
        if agent in self.under_way:
            return self.under_way[agent]
        context = self.context
        with transaction(context.engine) as connection:
            scope_id = make_agent(connection, context, agent)
            run = start_run(
                connection,
                kind="import",
                now=context.clock(),
                lease_seconds=LEASE_SECONDS,
                scope_id=scope_id,
                by=context.by,
            )
            connection.execute(_MARK, {"system": self.system, "run": run.id})
        self.under_way[agent] = run
        self.counts[agent] = {}
        return run

    def add(self, agent: str, counts: Mapping[str, int]) -> None:
        """Count results of an agent, and renew its run's lease."""
        run, so_far = self.of(agent), self.counts[agent]
        for name, number in counts.items():
            so_far[name] = so_far.get(name, 0) + number
        with transaction(self.context.engine) as connection:
            renew_run(connection, run, self.context.clock())

    def finish(self, error: str | None = None) -> None:
        """End all runs."""
        for agent, run in self.under_way.items():
            counts = self.counts[agent]
            told = ", ".join(f"{number:,} {name}" for name, number in counts.items() if number) or "nothing"
            stats: dict[str, Any] = {"moved_from": self.system, **counts}
            with transaction(self.context.engine) as connection:
                finish_run(
                    connection,
                    run,
                    status="completed" if error is None else "failed",
                    summary=f"moved in from {self.system}: {told}",
                    stats=stats,
                    now=self.context.clock(),
                    error=error,
                )


def transaction(engine: Engine) -> Any:
    """Open one transaction, even if the engine is in autocommit."""
    return engine.execution_options(isolation_level="READ COMMITTED").begin()


def make_agent(connection: Connection, context: Context, agent: str) -> int:
    """Return the agent's own scope; both are created if they don't exist."""
    who = {"tenant": context.tenant, "name": agent}
    connection.execute(_AGENT, who | {"zone": context.days.timezone, "cutoff": context.days.cutoff_hour})
    connection.execute(_SCOPE, who)
    scope_id = find_scope(connection, context.tenant, "agent", agent)
    if scope_id is None:
        raise RuntimeError(f"the scope of agent {agent!r} was made and is not there")
    return scope_id
