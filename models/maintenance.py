"""Tables of maintenance jobs and their runs. The schedule is stored, so that missed runs are found."""

from datetime import time
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Boolean, ForeignKey, Integer, Text, Time, Uuid, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, CreatedAt, Moment


class MaintenanceJob(Base):
    """One scheduled job. Its window is in local time of `time_zone`; a window may cross midnight."""

    __tablename__ = "maintenance_jobs"

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    job_type: Mapped[str]
    cadence: Mapped[str]
    interval_minutes: Mapped[int | None] = mapped_column(Integer)
    # For weekly jobs: 0 is Monday. NULL: a week after the last run.
    weekday: Mapped[int | None] = mapped_column(Integer)
    window_start: Mapped[time | None] = mapped_column(Time)
    window_end: Mapped[time | None] = mapped_column(Time)
    time_zone: Mapped[str] = mapped_column(server_default=text("'UTC'"))
    # NULL: the next tick computes it.
    next_due_at: Mapped[Moment | None]
    last_run_at: Mapped[Moment | None]
    last_status: Mapped[str | None]
    last_summary: Mapped[str | None]
    enabled: Mapped[bool] = mapped_column(Boolean, server_default=text("true"))
    details: Mapped[dict[str, Any]] = mapped_column("metadata", JSONB, server_default=text("'{}'"))
    created_at: Mapped[CreatedAt]
    updated_at: Mapped[CreatedAt]


class MaintenanceRun(Base):
    """One run: of a job, a pass, a cycle of working memory, an answer or an edit. A process renews its run's lease.

    scope_id: the scope of a run over one scope. undoes: the run that this undo reverted; undone_by: the undo that
    reverted this run. part_of: the run that started this one (a job starts one run for each scope); its undo also
    undoes this run. no_repeat: for an undo, true if no later pass may repeat the decisions of the undone run.
    """

    __tablename__ = "maintenance_runs"

    id: Mapped[BigId]
    job_id: Mapped[str | None] = mapped_column(Text, ForeignKey("slowwave.maintenance_jobs.id"))
    kind: Mapped[str]
    scope_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("slowwave.scopes.id"))
    tenant: Mapped[str | None] = mapped_column(Text, server_default=text("slowwave.current_tenant()"))
    status: Mapped[str] = mapped_column(server_default=text("'running'"))
    lease: Mapped[UUID | None] = mapped_column(Uuid)
    lease_until: Mapped[Moment | None]
    started_at: Mapped[Moment]
    completed_at: Mapped[Moment | None]
    summary: Mapped[str | None]
    stats: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default=text("'{}'"))
    error: Mapped[str | None]
    started_by: Mapped[str | None]
    undoes: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("slowwave.maintenance_runs.id"))
    undone_by: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("slowwave.maintenance_runs.id"))
    part_of: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("slowwave.maintenance_runs.id"))
    no_repeat: Mapped[bool] = mapped_column(Boolean, server_default=text("false"))
