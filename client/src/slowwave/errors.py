"""All exceptions that the client raises on purpose.

SlowwaveError
├── InvalidSettings      an invalid key, variable or value of the configuration
├── InvalidName          an invalid name of a tenant, agent, session or scope (also a ValueError)
├── InvalidQuery         an invalid argument of a reading call (also a ValueError)
├── InvalidMessage       an invalid message, key or scope (also a ValueError)
│   └── TooLarge         … because it exceeds a limit
├── ScopeConflict        a session that already writes to another scope
├── Refused              data that Postgres rejects permanently
├── StoreUnavailable     Postgres or a gateway can't be reached or can't work
├── NotAllowed           a login or an API key without the needed right
├── NotFound             no such memory, agent or conversation (also a LookupError)
├── CannotChange         a memory that has changed since it was read, or can't be changed in its state
├── NotAnswered          no worker answered in time; the request stays queued
├── RateLimited          too many calls; the error says when to call again
├── WasForgotten         queued data that was forgotten before it arrived
├── EmbeddingFailed      no vectors (in slowwave.embedding; a search then uses words only)
└── SpoolFull            the spool has no room; nothing was recorded
"""

SHOWN_CHARACTERS = 60


def shown(value: object) -> str:
    """Return the beginning of a value for an error message. The function never fails, whatever the value is."""
    try:
        return repr(value[: SHOWN_CHARACTERS * 2] if isinstance(value, (str, bytes)) else value)[:SHOWN_CHARACTERS]
    except Exception:  # noqa: BLE001 (of a class of the caller's, of an integer with too many digits, of endless depth)
        return f"one {type(value).__name__}"


class SlowwaveError(Exception):
    """The base class: `except SlowwaveError` catches every exception that Slowwave raises on purpose."""


class InvalidName(SlowwaveError, ValueError):
    """The name of a tenant, agent, session, room or team breaks a rule of `slowwave.identity.check_name`."""


class InvalidSettings(SlowwaveError, ValueError):
    """The configuration has invalid keys, variables or values.

    Attributes:
        problems: one sentence for each of them.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class InvalidQuery(SlowwaveError, ValueError):
    """An argument of a reading call is invalid; the message gives the allowed form."""


class InvalidMessage(SlowwaveError, ValueError):
    """A message, key or scope is invalid; the message gives the reason."""


class TooLarge(InvalidMessage):
    """A message, a call or a key exceeds a limit; the message names the limit."""


class ScopeConflict(SlowwaveError):
    """A session writes to exactly one scope, and this session already writes to another one. Nothing was recorded."""


class Refused(SlowwaveError):
    """Postgres rejects this data permanently; a retry would not help."""


class StoreUnavailable(SlowwaveError):
    """Postgres or a gateway can't be reached or can't work. The message gives the reason and the location of the
    events.
    """


class NotAllowed(SlowwaveError):
    """This login of Postgres, or this API key, lacks a right; the message says which login or right is needed."""


class NotFound(SlowwaveError, LookupError):
    """The memory does not exist, or belongs to somebody else; the two cases are not distinguished."""


class CannotChange(SlowwaveError):
    """The memory has changed since it was read, or can't be changed in its state; the message says which."""


class NotAnswered(SlowwaveError):
    """No worker answered in time. The request stays queued, and a worker will carry it out; don't repeat it.

    Attributes:
        request: the id of the request.
    """

    def __init__(self, message: str, request: str) -> None:
        super().__init__(message)
        self.request = request


class RateLimited(SlowwaveError):
    """Too many calls, or a quota is used up.

    Attributes:
        retry_after: seconds until the next call may succeed.
    """

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class WasForgotten(SlowwaveError):
    """The agent, session or scope was forgotten after this data was queued.

    Nothing was recorded; don't repeat the call.
    """


class SpoolFull(SlowwaveError):
    """Postgres can't be reached, and the spool can't be written (disk full, no permission). Nothing was recorded."""
