"""The common parts of all tables: the schema and shared column types."""

from dataclasses import fields
from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import BigInteger, DateTime, Identity, MetaData, Text, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, mapped_column

SCHEMA = "slowwave"

BigId = Annotated[int, mapped_column(BigInteger, Identity(always=True), primary_key=True)]
Moment = Annotated[datetime, mapped_column(DateTime(timezone=True))]
CreatedAt = Annotated[datetime, mapped_column(DateTime(timezone=True), server_default=text("now()"))]
Json = Annotated[dict[str, Any], mapped_column(JSONB)]


class Base(DeclarativeBase):
    """The declarative base: all tables are in one schema.

    Models declare columns and keys, which queries use. Checks and indexes are declared once, in the SQL of migrations.
    """

    type_annotation_map = {str: Text}  # noqa: RUF012 (SQLAlchemy reads the plain dict)
    metadata = MetaData(schema=SCHEMA)


def columns_of(table: type[Base], shape: type[Any]) -> list[Any]:
    """Return the columns of a table that are fields of a dataclass by the same name, in the order of the fields."""
    return [getattr(table, one.name) for one in fields(shape) if one.name in table.__table__.columns]
