"""The feed of changes over HTTP: server-sent events, resumed after a broken connection."""

import json
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from slowwave.changes import Change, check_cursor, places_of
from slowwave.errors import RateLimited, StoreUnavailable
from slowwave.http.wire import Wire, path_of
from slowwave.memory_requests import ChangesRequest

REST_SECONDS = (0.2, 5.0)
SILENT_SECONDS = 45.0
"""A gateway tells every 15 s that it is alive."""


class Stop(threading.Event):
    """An event that, when set, also ends a read in progress."""

    def __init__(self) -> None:
        super().__init__()
        self.hang_up: Callable[[], None] = lambda: None

    def set(self) -> None:
        super().set()
        self.hang_up()


@dataclass(frozen=True, slots=True)
class GatewayFollowed:
    """A feed that is read from a gateway. timeout: the seconds without a change after which the iteration ends.

    stopped: an event; set it from another thread to end the iteration.
    """

    wire: Wire
    agents: Sequence[str]
    scopes: Sequence[str]
    after: str | None
    timeout: float | None
    stopped: Stop = field(default_factory=Stop)

    def changes(self) -> Generator[Change, None, None]:
        """Yield each change at least once, in order; wait while the gateway is down.

        Raises CursorExpired, NotAllowed, NotFound, and StoreUnavailable if the gateway is down for the whole `timeout`.
        """
        cursor, heard, rest = self.after, time.monotonic(), REST_SECONDS[0]
        query = [*(("agent", name) for name in self.agents), *(("scope", name) for name in self.scopes)]
        while not self.stopped.is_set():
            seconds = max(min(self._left(heard), SILENT_SECONDS), 0.01)
            try:
                with self.wire.stream(path_of("changes"), query, cursor, seconds) as stream:
                    self.stopped.hang_up = stream.hang_up
                    for told, change in _events(stream.lines, self.stopped):
                        cursor, rest = told, REST_SECONDS[0]
                        if change is not None:
                            yield change
                            heard = time.monotonic()
                        if self._left(heard) <= 0:
                            return
            except TimeoutError:
                if self._left(heard) <= 0:
                    return
            except (StoreUnavailable, RateLimited) as error:
                if self._left(heard) <= 0:
                    raise
                asked = error.retry_after if isinstance(error, RateLimited) else 0.0
                self.stopped.wait(max(rest, asked))
                rest = min(2 * rest, REST_SECONDS[1])

    def _left(self, heard: float) -> float:
        return SILENT_SECONDS if self.timeout is None else heard + self.timeout - time.monotonic()


def gateway_followed(wire: Wire, request: ChangesRequest) -> GatewayFollowed:
    """Return the feed for `Memory.changes`. Raises InvalidName, InvalidQuery."""
    places_of(request.agents, request.scopes)
    if request.after is not None:
        check_cursor(request.after)
    return GatewayFollowed(wire, request.agents, list(request.scopes), request.after, request.timeout)


def _events(lines: Iterable[str], stopped: threading.Event) -> Iterator[tuple[str, Change | None]]:
    """Yield (position, change) for each event with an id. The change is None if the event only moves the position."""
    fields: dict[str, str] = {}
    for line in lines:
        if stopped.is_set():
            return
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
            continue
        if "id" in fields:
            yield fields["id"], Change.from_json(json.loads(fields["data"])) if "data" in fields else None
        fields = {}
