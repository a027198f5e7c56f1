"""Check who may change settings of the whole installation, such as jobs' schedules: logins that see all tenants."""

from sqlalchemy import Connection, select

from slowwave_server.domain.console_roles import EVERY_TENANT
from slowwave_server.models import Agent
from slowwave_server.services.access.console_users import User


def sees_everything(connection: Connection, user: User) -> bool:
    """Return True if this person may see every tenant that has an agent."""
    if user.sees(EVERY_TENANT):
        return True
    others = select(Agent.tenant).where(Agent.tenant.not_in(user.tenants)).limit(1)
    return connection.execute(others).first() is None
