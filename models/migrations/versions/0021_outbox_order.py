"""What waits in an outbox is read in its order: the next few cost the same whatever was ever delivered beside them."""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_COLUMNS = "backend, scope_id{more}"
_ORDER = ", not_before NULLS FIRST, queued_at, memory_id"


def upgrade() -> None:
    _make_index(_ORDER)


def downgrade() -> None:
    _make_index("")


def _make_index(more: str) -> None:
    op.drop_index("outbox_waiting_idx", "outbox", schema="slowwave")
    columns = _COLUMNS.format(more=more)
    op.execute(f"CREATE INDEX outbox_waiting_idx ON slowwave.outbox ({columns}) WHERE delivered < changes")
