"""Expected failures: for each an exit code, a sentence and a fix."""

import errno

from slowwave_server.workers.shared.shell import Shell

FOUND = 1
USAGE = 2
UNAVAILABLE = 3
LOCK_CURE = (
    "try again; pg_stat_activity shows transactions that stay open (state 'idle in transaction'), and"
    " pg_terminate_backend(PID) ends one"
)

Expected = tuple[int, str, str | None]


def explain_failure(error: Exception, shell: Shell | None) -> Expected | None:
    """Return the exit code, the sentence and the fix of an expected failure; None for an unexpected failure."""
    return _explain_own(error) or (None if shell is None else _explain_server(error, shell))


def _explain_own(error: Exception) -> Expected | None:
    from slowwave.errors import InvalidSettings, SlowwaveError, SpoolFull, StoreUnavailable
    from slowwave_server.models.driver import WrongSchema
    from slowwave_server.workers.stack.errors import StackError

    if isinstance(error, (WrongSchema, StackError, StoreUnavailable, SpoolFull)):
        return UNAVAILABLE, str(error), None
    if isinstance(error, InvalidSettings) and error.problems:
        return USAGE, error.problems[0], None
    if isinstance(error, SlowwaveError):  # errors of names, queries and settings are ValueErrors
        return USAGE if isinstance(error, ValueError) else FOUND, str(error), None
    if isinstance(error, UnicodeEncodeError):  # bytes of an argument that are not UTF-8 become surrogates
        return USAGE, "an argument of this command is not UTF-8 text", None
    if isinstance(error, OSError) and error.errno != errno.EPIPE:  # a reader that closes the pipe is not a failure
        return USAGE, str(error), None
    return None


def _explain_server(error: Exception, shell: Shell) -> Expected | None:
    from psycopg import Error as DriverError
    from redis.exceptions import RedisError
    from sqlalchemy.exc import DBAPIError

    if isinstance(error, (DBAPIError, DriverError)):
        return _explain_postgres(error, shell)
    if isinstance(error, RedisError):
        return _explain_broker(error, shell)
    return None


def _explain_postgres(error: Exception, shell: Shell) -> Expected | None:
    from psycopg import errors
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import InterfaceError, OperationalError

    from slowwave_server.models.errors import first_line
    from slowwave_server.services.reports.refusals import cure_of_refusal

    where = make_url(shell.settings.database_url).render_as_string(hide_password=True)
    cause, said = getattr(error, "orig", error), first_line(error)
    cure = cure_of_refusal("postgres", said)
    if isinstance(cause, errors.NumericValueOutOfRange):
        return USAGE, "a number in this command is too large to be stored", None
    if isinstance(cause, errors.LockNotAvailable):
        return UNAVAILABLE, f"another transaction holds a lock that this command waited for at {where}", LOCK_CURE
    if isinstance(cause, errors.InsufficientPrivilege):
        return UNAVAILABLE, f"this login may not do that at {where}: {said}", cure
    if not isinstance(error, (OperationalError, InterfaceError, errors.OperationalError)):
        return None
    if getattr(cause, "sqlstate", None) is not None:
        return UNAVAILABLE, f"Postgres at {where} gave up: {said}", "`slowwave doctor` checks all servers"
    away = "start Postgres, or set SLOWWAVE_DATABASE_URL to its address; `slowwave doctor` checks all servers"
    return UNAVAILABLE, f"no connection to Postgres at {where}: {said}", cure or away


def _explain_broker(error: Exception, shell: Shell) -> Expected:
    from slowwave.coordination.broker import shown
    from slowwave_server.models.errors import first_line
    from slowwave_server.services.reports.refusals import cure_of_refusal

    where, said = shown(shell.settings.broker_url), first_line(error)
    away = "start it, or set SLOWWAVE_BROKER_URL to where it is; nothing is lost meanwhile"
    cure = cure_of_refusal("broker", said)
    state = "no connection to the broker" if cure is None else "refused by the broker"
    return UNAVAILABLE, f"{state} at {where}: {said}", cure or away
