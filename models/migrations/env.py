"""Alembic's entry point: runs the migrations over the connection that `models.schema` passes.

This module never opens a connection by itself.
"""

from alembic import context
from sqlalchemy import Connection, text

from slowwave_server.models import SCHEMA, Base
from slowwave_server.models.schema import is_described


def run(connection: Connection) -> None:
    """Run the migrations in one transaction, so that a failed one leaves nothing behind."""
    connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        version_table_schema=SCHEMA,
        include_schemas=True,
        include_name=is_described,
        compare_server_default=False,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()


run(context.config.attributes["connection"])
