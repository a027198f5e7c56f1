"""Check that the servers in the settings answer, before the stack starts a program that needs them."""

import redis
from sqlalchemy.exc import OperationalError

from slowwave.coordination.broker import connect_broker
from slowwave.settings import Settings, variable_of
from slowwave_server.models.engine import make_engine
from slowwave_server.models.errors import first_line
from slowwave_server.workers.stack.errors import StackFailed

_UNSET = (
    "start it, or let this stack run servers of its own: `unset ${!SLOWWAVE_*}` in bash takes away the variables of an"
    " earlier stack"
)


def check_database(url: str) -> None:
    """Check that Postgres answers. Raises StackFailed."""
    engine = make_engine(url)
    try:
        engine.connect().close()
    except OperationalError as error:
        raise StackFailed(
            f"the server that {variable_of('database_url')} names does not answer: {first_line(error)}; {_UNSET}"
        ) from None
    finally:
        engine.dispose()


def check_broker(settings: Settings) -> None:
    """Check that the broker answers. Raises StackFailed."""
    try:
        client = connect_broker(settings)
        client.ping()
        client.close()
    except (redis.RedisError, ValueError) as error:
        raise StackFailed(
            f"the server that {variable_of('broker_url')} names does not answer: {error}; {_UNSET}"
        ) from None
