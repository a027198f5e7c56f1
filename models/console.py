"""Tables of the console's users and their login sessions."""

from sqlalchemy import ForeignKey, LargeBinary, Text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, CreatedAt, Moment


class ConsoleUser(Base):
    """A person who may use the console. tenants: the tenants whose memories they see; `*`: all tenants."""

    __tablename__ = "console_users"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    password_hash: Mapped[str]
    role: Mapped[str]
    tenants: Mapped[list[str]] = mapped_column(ARRAY(Text))
    created_at: Mapped[CreatedAt]
    changed_at: Mapped[CreatedAt]


class ConsoleSession(Base):
    """A login of the console. It ends at its expiry, at a logout, or when the person's password changes.

    digest: SHA-256 of the secret in the browser's cookie, so a reader of this table can't log in. tenant: the tenant
    that the person has selected.
    """

    __tablename__ = "console_sessions"

    digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    user_name: Mapped[str] = mapped_column(Text, ForeignKey("slowwave.console_users.name", ondelete="CASCADE"))
    tenant: Mapped[str]
    created_at: Mapped[CreatedAt]
    expires_at: Mapped[Moment]
