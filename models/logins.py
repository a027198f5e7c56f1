"""The table of Postgres logins with a role of Slowwave, and their tenants. Postgres alone keeps the passwords."""

from sqlalchemy import Text
from sqlalchemy.orm import Mapped, mapped_column

from slowwave_server.models.base import Base, CreatedAt


class Login(Base):
    """A Postgres login with a role of Slowwave. Only the owner of the tables writes this table.

    Producers and consoles belong to one tenant. A worker serves all tenants, a gateway the tenant of each request's
    key.
    """

    __tablename__ = "logins"

    login: Mapped[str] = mapped_column(Text, primary_key=True)
    role: Mapped[str]
    tenant: Mapped[str | None]
    created_at: Mapped[CreatedAt]
