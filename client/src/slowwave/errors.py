"""Every error that the client raises on purpose, as one tree.

    SlowwaveError
    ├── InvalidSettings      a key, variable or value of the configuration that can't be used
    ├── InvalidName          a tenant, agent, session or scope name that can't be used (also a ValueError)
    ├── InvalidQuery         a search that can't be asked (also a ValueError)
    ├── InvalidMessage       a message, key or scope that can't be recorded (also a ValueError)
    │   └── TooLarge         … because it is over one of the limits
    ├── ScopeConflict        a session that writes to one scope was told to write to another
    ├── Refused              Postgres refuses the data for good
    ├── StoreUnavailable     Postgres can't be reached or can't work; what was to be recorded waits in the spool
    ├── NotAllowed           this login or API key may not do that
    ├── NotFound             a memory, agent or conversation that is not there (also a LookupError)
    ├── CannotChange         a memory that was changed meanwhile, or that can't be changed as it is
    ├── NotAnswered          no worker answered in time; the request goes on
    ├── RateLimited          too many calls; the error says when to call again
    ├── WasForgotten         what waited was forgotten before it arrived
    ├── EmbeddingFailed      no vectors were made (in slowwave.embedding; a search then goes by words alone)
    └── SpoolFull            the spool can't be written either: nothing was recorded

Must not know: the code that raises them.
"""

SHOWN_CHARACTERS = 60


def shown(value: object) -> str:
    """Answer the beginning of a value as an error shows what it was given; never fails, whatever that is."""
    try:
        return repr(value[: SHOWN_CHARACTERS * 2] if isinstance(value, (str, bytes)) else value)[:SHOWN_CHARACTERS]
    except Exception:  # noqa: BLE001 (of a class of the caller's, of an integer with too many digits, of endless depth)
        return f"one {type(value).__name__}"


class SlowwaveError(Exception):
    """The root: `except SlowwaveError` catches whatever Slowwave raises on purpose, and nothing else."""


class InvalidName(SlowwaveError, ValueError):
    """A name of a tenant, agent, session, room or team breaks the rules of `slowwave.identity.check_name`."""


class InvalidSettings(SlowwaveError, ValueError):
    """Keys, variables or values of the configuration can't be used; `problems` has a sentence for each of them."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class InvalidQuery(SlowwaveError, ValueError):
    """A query, limit or number of days can't be used; the message says what is meant instead."""


class InvalidMessage(SlowwaveError, ValueError):
    """A message, key or scope can't be recorded; the text says what is wrong with it."""


class TooLarge(InvalidMessage):
    """A message, a call or a key is over one of the limits; the text names the limit."""


class ScopeConflict(SlowwaveError):
    """A session writes to exactly one scope, and this one writes to another already; nothing was recorded."""


class Refused(SlowwaveError):
    """Postgres refuses these data for good: trying again would not help."""


class StoreUnavailable(SlowwaveError):
    """Postgres can't be reached, or can't work as it is; the text says why, and what became of the events."""


class NotAllowed(SlowwaveError):
    """This login of Postgres, or this API key, may not do that; the text says which one may."""


class NotFound(SlowwaveError, LookupError):
    """There is no such memory, or it belongs to somebody else: both answer the same."""


class CannotChange(SlowwaveError):
    """The memory was changed after it was read, or can't be changed as it is; the text says which."""


class NotAnswered(SlowwaveError):
    """No worker answered in time. `request` is the id of the request, which a worker carries out when one runs."""

    def __init__(self, message: str, request: str) -> None:
        super().__init__(message)
        self.request = request


class RateLimited(SlowwaveError):
    """Too many calls, or a quota is used up. `retry_after`: seconds until the next call may succeed."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class WasForgotten(SlowwaveError):
    """Its agent, session or scope was forgotten after it was taken: nothing was recorded, and nothing is to be."""


class SpoolFull(SlowwaveError):
    """Postgres can't be reached and the spool can't be written (disk full, no permission): nothing was recorded."""
