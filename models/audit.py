"""The audit log of actions that change no memory: logins, exports, revealed secrets, granted roles, API keys."""

from sqlalchemy import Text, text
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, BigId, CreatedAt


class AuditEntry(Base):
    """One act of the audit log. tenant: NULL if it concerns no single tenant.

    actor: NULL for a failed login with an unknown name, because that name may be a password. via: console, shell or
    HTTP.
    """

    __tablename__ = "audit_log"

    id: Mapped[BigId]
    done_at: Mapped[CreatedAt]
    tenant: Mapped[str | None] = mapped_column(Text, server_default=text("slowwave.current_tenant()"))
    action: Mapped[str]
    actor: Mapped[str | None]
    via: Mapped[str]
    what: Mapped[str]
