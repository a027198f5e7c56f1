"""Tables of names with the same meaning within a scope, their sources, and edits by people."""

from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, CreatedAt, Moment

_SCOPE = "slowwave.scopes.id"


class AliasPair(Base):
    """An alias of a name, within one scope. Several aliases can form a chain: all its names mean the same thing.

    status: learned (from events), added (by a person) or removed (by a person; no flush adds it again). name_key,
    alias_key: the normalized forms by which names are compared (domain.aliases.key_of).
    """

    __tablename__ = "aliases"

    id: Mapped[BigId]
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey(_SCOPE))
    name: Mapped[str]
    alias: Mapped[str]
    name_key: Mapped[str]
    alias_key: Mapped[str]
    status: Mapped[str]
    decided_by: Mapped[str | None]
    decided_at: Mapped[Moment | None]
    created_at: Mapped[CreatedAt]


class AliasSource(Base):
    """The source of a learned alias: an event that states it."""

    __tablename__ = "alias_sources"

    alias_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("slowwave.aliases.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    session_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("slowwave.sessions.id"), primary_key=True, autoincrement=False
    )
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)


class AliasChange(Base):
    """One edit of an alias by a person, in a run that can be undone. before: NULL if the run created the row."""

    __tablename__ = "alias_changes"

    id: Mapped[BigId]
    alias_id: Mapped[int] = mapped_column(BigInteger)
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey(_SCOPE))
    run_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.maintenance_runs.id"))
    action: Mapped[str] = mapped_column(Text)
    before: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    after: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    made_by: Mapped[str | None]
    made_at: Mapped[CreatedAt]
