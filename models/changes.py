"""The feed of changes: records of deleted memories, and listeners. Changes are rows of `memory_changes`."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, DateTime, ForeignKey, Uuid, text
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import UserDefinedType

from slowwave_server.models.base import Base, CreatedAt


class TransactionId(UserDefinedType[str]):
    """The number of a transaction, with its epoch, so that it is never reused. In Python it is text of digits."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """Return the name of the type in Postgres."""
        return "xid8"


PGDialect.ischema_names["xid8"] = TransactionId

THIS_TRANSACTION = text("pg_current_xact_id()")
_NEXT_CHANGE = text("nextval('slowwave.memory_changes_id_seq'::regclass)")


class MemoryTombstone(Base):
    """A deleted memory: its owner, without its text. id: from the sequence of changes, so both have one order.

    cause: "forgotten", or "removed" by an undo, which another undo may reverse. memory_id: NULL in only one row;
    retention has deleted all tombstones up to this row.
    """

    __tablename__ = "memory_tombstones"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False, server_default=_NEXT_CHANGE)
    xid: Mapped[str] = mapped_column(TransactionId, server_default=THIS_TRANSACTION)
    memory_id: Mapped[UUID | None] = mapped_column(Uuid)
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.scopes.id"))
    cause: Mapped[str]
    made_at: Mapped[CreatedAt]


class ChangeListener(Base):
    """A tenant whose changes a client follows. Postgres announces its changes on a channel until the time `until`."""

    __tablename__ = "change_listeners"

    tenant: Mapped[str] = mapped_column(primary_key=True)
    channel: Mapped[str] = mapped_column(
        server_default=text("'slowwave_' || replace(gen_random_uuid()::text, '-', '')")
    )
    until: Mapped[datetime] = mapped_column(DateTime(timezone=True))
