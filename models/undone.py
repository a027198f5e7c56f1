"""The table of rows that an undo deleted or changed, in their former state, so that the undo can be undone."""

from sqlalchemy import BigInteger, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, Json


class UndoneRow(Base):
    """The former state of one row before an undo. run_id: the run of the undo.

    row: all columns, or, if `changed` is true, only the id and the changed ones. A forget deletes the rows of its
    scopes; after that, undos of these scopes can't be undone.
    """

    __tablename__ = "undone_rows"

    id: Mapped[BigId]
    run_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.maintenance_runs.id"))
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.scopes.id"))
    table_name: Mapped[str]
    changed: Mapped[bool]
    row: Mapped[Json]
