"""Tables of the search index over raw events, and of terms that are common in a scope."""

from sqlalchemy import BigInteger, ForeignKey, Integer, Text, text
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base


class Passage(Base):
    """A part of a flushed event as search indexes it: redacted and stemmed, with date, speaker and context.

    A short event is one passage (domain.passages). A row of version 0.1.0 with a NULL `ends` contains a whole
    event until a worker splits it. Every lexeme begins with its scope (`17:adopt`), so one GIN index serves all scopes,
    and a query of one scope reads no postings of another (I8).
    """

    __tablename__ = "passages"

    session_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.sessions.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    part: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False, server_default=text("0"))
    # The first character of the passage in the event's text; `ends` is the character after its last one.
    begins: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    ends: Mapped[int | None] = mapped_column(Integer)
    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.scopes.id"))
    search: Mapped[str] = mapped_column(TSVECTOR)
    # The event's text with redacted secrets, which search shows instead of the original. Only part 0 has it, if a
    # secret was redacted.
    redacted: Mapped[str | None]
    # ISO 639-1 (domain.languages); output of tools counts as English.
    language: Mapped[str] = mapped_column(server_default=text("'en'"))


class CommonTerm(Base):
    """A lexeme in so many documents of a scope that search selects no candidates by it; and their number."""

    __tablename__ = "common_terms"

    scope_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("slowwave.scopes.id"), primary_key=True)
    term: Mapped[str] = mapped_column(Text, primary_key=True)
    documents: Mapped[int] = mapped_column(BigInteger)
