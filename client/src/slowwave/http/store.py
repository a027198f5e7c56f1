"""The shared state of the backend over HTTP: connection, queue, spool and writer."""

import itertools
import os
import time
from datetime import UTC, datetime

from slowwave.background import Writer
from slowwave.errors import RateLimited, SlowwaveError, StoreUnavailable
from slowwave.http.calls import Call, CallDeliverer, entry_of, names_of
from slowwave.http.wire import Answer, Wire
from slowwave.offers import ThrottledLog
from slowwave.settings import Settings
from slowwave.spool import Spool, Spooled, spooled
from slowwave.store import CLOSE_SECONDS, Mode, Stored
from slowwave.store_hooks import inherited, stores


class GatewayStore:
    """Sends recording calls in the given mode, and spools calls that the gateway can't accept now."""

    def __init__(self, settings: Settings, wire: Wire, key: str, *, mode: Mode, raise_errors: bool) -> None:
        self.settings = settings
        self.wire = wire
        self._names = names_of(wire.url, key)
        self._mode = mode
        self._raise_errors = raise_errors
        self._throttled_log = ThrottledLog()
        self._open()
        stores.add(self)

    def _open(self) -> None:
        self._spool = Spool(self.settings.spool, "", names=self._names)
        self._writer = Writer(CallDeliverer(self.wire), self._spool, lambda _due: None)
        self._closed = False
        self._prefix = f"{time.time_ns() // 1_000_000:x}-{os.urandom(6).hex()}"
        self._calls = itertools.count()
        if spooled(self.settings.spool).files:
            self._writer.start()

    @property
    def raises(self) -> bool:
        """Return True if the host wants an exception when the gateway can't be reached."""
        return self._raise_errors

    def new_key(self) -> str:
        return f"{self._prefix}-{next(self._calls):x}"

    def record(self, call: Call) -> tuple[Answer | None, Stored]:
        """Send a call. Return the gateway's answer, or None if the call was queued or spooled.

        Raises the gateway's error and `SpoolFull`; with `raise_errors` also StoreUnavailable, after the call was
        spooled.
        """
        if self._closed:
            raise SlowwaveError("this memory is closed")
        entry = entry_of(call)
        if self._mode == "background":
            entry.stamp(datetime.now(UTC).isoformat())
            return None, self._writer.put(entry)
        error = StoreUnavailable("earlier calls still wait in the spool")
        # Spooled calls come first, because no call may overtake an older one.
        if not self._spool.pending:
            try:
                return call.send(self.wire), "postgres"
            except (StoreUnavailable, RateLimited) as away:
                error = StoreUnavailable(str(away))
        entry.stamp(datetime.now(UTC).isoformat())
        self._writer.store([entry])
        self._throttled_log.warn("recorded messages wait in %s: %s", self._spool.folder, error)
        if self._raise_errors:
            raise StoreUnavailable(f"the events wait in {self._spool.folder} and will be delivered: {error}")
        return None, "spool"

    def complain(self, error: StoreUnavailable) -> None:
        """Log at most once a minute that the gateway can't be reached."""
        self._throttled_log.warn("no session could be boosted: %s", error)

    def waiting(self) -> Spooled:
        return spooled(self.settings.spool)

    def flush(self, timeout: float) -> bool:
        """Deliver queue and spool now. Return False if this takes longer than `timeout` seconds."""
        return self._writer.flush(timeout)

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """Deliver or spool queued calls, and close the connections. Raises SpoolFull if both fail."""
        if self._closed:
            return
        self._closed = True
        try:
            self._writer.close(timeout)
        finally:
            self.wire.close()

    def begin_anew(self) -> None:
        """In a forked child: abandon the parent's connections and queue, and start empty."""
        inherited.append((self._spool, self._writer))
        self._spool.abandon()
        if not self._closed:
            self.wire.renew()
            self._open()
