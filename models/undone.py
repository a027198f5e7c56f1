"""Rows that an undo deleted or changed, as they were before it, so that the undo can be undone in turn."""

from sqlalchemy import BigInteger, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, Json


class UndoneRow(Base):
    """One row as it was before an undo. run_id: the undo.

    row: all columns, or only the changed ones and the id if `changed`. A forget deletes the rows of its scopes;
    after that, undos of these scopes can't be undone.
    """

    __tablename__ = "undone_rows"
    __table_args__ = (Index("undone_rows_run_idx", "run_id", "id"), Index("undone_rows_scope_idx", "scope_id"))

    id: Mapped[BigId]
    run_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.maintenance_runs.id"))
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.scopes.id"))
    table_name: Mapped[str]
    changed: Mapped[bool]
    row: Mapped[Json]
