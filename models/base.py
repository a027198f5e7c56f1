"""The common parts of all tables: the schema, the names of constraints, and shared column types."""

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
    """The declarative base: all tables are in one schema, and constraints have predictable names."""

    type_annotation_map = {str: Text}  # noqa: RUF012 (SQLAlchemy reads the plain dict)
    metadata = MetaData(
        schema=SCHEMA,
        naming_convention={
            "ix": "%(table_name)s_%(column_0_N_name)s_idx",
            "uq": "%(table_name)s_%(column_0_N_name)s_key",
            "ck": "%(table_name)s_%(constraint_name)s_check",
            "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
            "pk": "%(table_name)s_pkey",
        },
    )
