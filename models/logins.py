"""Logins of Postgres that are not the owner: which part each plays here, and for whose tenant.

Postgres alone keeps the passwords.
"""

from sqlalchemy import CheckConstraint, Text
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, CreatedAt


class Login(Base):
    """One login. Producers and consoles belong to one tenant; a worker serves all, a gateway that of a key.

    Only the owner writes here.
    """

    __tablename__ = "logins"
    __table_args__ = (
        CheckConstraint("role IN ('producer', 'console', 'worker', 'gateway')", name="role"),
        CheckConstraint("(role IN ('worker', 'gateway')) = (tenant IS NULL)", name="tenant"),
    )

    login: Mapped[str] = mapped_column(Text, primary_key=True)
    role: Mapped[str]
    tenant: Mapped[str | None]
    created_at: Mapped[CreatedAt]
