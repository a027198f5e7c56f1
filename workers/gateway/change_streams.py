"""All change streams of one gateway process, over one feed for each tenant and one connection that listens for changes.

A stream first reads on its own the changes that its client missed; then it receives the changes of the tenant's feed. A
stream whose client is slower than the feed ends: the client reconnects and continues from its last position.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from slowwave.changes import ChangePage, position, read_page
from slowwave.errors import RateLimited, SlowwaveError
from slowwave.postgres import PreparedStatement
from slowwave_server.workers.gateway.caller import Caller
from slowwave_server.workers.gateway.change_announcements import Announcements
from slowwave_server.workers.gateway.change_feeds import Feed, Stream, frame_of, place_of
from slowwave_server.workers.gateway.walls import KeyRefused, acting_for

if TYPE_CHECKING:
    from slowwave_server.workers.gateway.gate import Gate

T = TypeVar("T")

BEAT_SECONDS = 15.0
READERS = 4
"""Threads that read changes. They limit the connections to Postgres, however many clients connect at once."""
_AWAIT = PreparedStatement(b"slowwave_await", b"SELECT slowwave.await_changes($1, $2::double precision)")


class Streams:
    """All streams of this process. most: the highest number of streams per key."""

    def __init__(self, gate: "Gate") -> None:
        self._gate = gate
        self.most = gate.settings.gateway.streams_per_key
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="slowwave-changes")
        self._feeds: dict[str, Feed] = {}
        self._open: Counter[str] = Counter()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._bells = Announcements(gate.settings.database_url, self._heard)

    @asynccontextmanager
    async def lives(self) -> AsyncIterator[None]:
        """Run the streams' heartbeat while the gateway serves: a ping to each stream, and a check of its key."""
        beat = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            beat.cancel()
            for feed in list(self._feeds.values()):
                feed.end()
            await asyncio.to_thread(self._bells.close)
            self._threads.shutdown(wait=False, cancel_futures=True)

    async def first(self, stream: Stream) -> ChangePage:
        """Return a stream's first page. Raises RateLimited, CursorExpired, StoreUnavailable, KeyRefused."""
        self._loop = asyncio.get_running_loop()
        if self._open[stream.caller.digest] >= self.most:
            raise RateLimited(f"this key follows changes with {self.most} streams already", 30.0)
        if stream.cursor is not None:
            return await self._read(stream.caller, stream.cursor, stream.places)
        feed = self._feed(stream.caller.tenant)
        await feed.begin(stream.caller)
        stream.cursor = feed.head
        return ChangePage((), stream.cursor or "0-0", more=False)

    async def frames(self, stream: Stream, page: ChangePage) -> AsyncIterator[bytes]:
        """Yield a stream's frames until the client disconnects, the key is revoked, or the client is too slow."""
        key, feed = stream.caller.digest, self._feed(stream.caller.tenant)
        self._open[key] += 1
        feed.coming += 1
        try:
            async for frame in self._missed(stream, page, feed):
                yield frame
            while not (stream.ended and stream.waiting.empty()):
                frame = await stream.waiting.get()
                if frame:
                    yield frame
        except (KeyRefused, SlowwaveError):
            return  # the client reconnects and then gets the error
        finally:
            feed.coming -= 1
            feed.streams.discard(stream)
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]

    async def _missed(self, stream: Stream, page: ChangePage, feed: Feed) -> AsyncIterator[bytes]:
        """Yield the changes that the client missed; after the last one, the stream follows the feed."""
        await feed.begin(stream.caller)
        while True:
            for change in page.changes:
                if stream.admits(change):
                    yield frame_of(change)
            stream.cursor = page.cursor
            if not page.more and feed.head is not None and position(feed.head) <= position(page.cursor):
                feed.streams.add(stream)
                yield place_of(stream.cursor)
                return
            yield place_of(stream.cursor)
            head = feed.head
            page = await self._read(stream.caller, stream.cursor, stream.places)
            if not page.changes and not page.more and head is not None and position(head) > position(page.cursor):
                # The stream has read everything up to the feed's head, and none of these changes is for it.
                page = ChangePage((), head, more=False)

    async def _read(self, caller: Caller, after: str | None, places: list[str] | None) -> ChangePage:
        postgres = self._gate.memory.store.postgres
        return await self._run(
            caller, lambda: postgres.read(lambda link: read_page(link, caller.tenant, after, places))
        )

    async def _announce(self, caller: Caller, seconds: float) -> str:
        values = (caller.tenant.encode(), str(seconds).encode())
        rows = await self._run(caller, lambda: self._gate.memory.store.postgres.call(_AWAIT, values))
        return (rows[0][0] or b"").decode()

    async def _run(self, caller: Caller, work: Callable[[], T]) -> T:
        def act() -> T:
            with acting_for(caller.digest):
                return work()

        return await asyncio.get_running_loop().run_in_executor(self._threads, act)

    def _feed(self, tenant: str) -> Feed:
        if tenant not in self._feeds:
            self._feeds[tenant] = Feed(self._read, self._announce, self._listen, lambda: self._drop(tenant))
        return self._feeds[tenant]

    def _drop(self, tenant: str) -> None:
        self._feeds.pop(tenant, None)
        self._listen()

    def _listen(self) -> None:
        self._bells.want({feed.channel for feed in self._feeds.values() if feed.channel})

    def _heard(self, channel: str) -> None:
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._wake, channel)

    def _wake(self, channel: str) -> None:
        for feed in self._feeds.values():
            if feed.channel == channel:
                feed.woken.set()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            for feed in list(self._feeds.values()):
                callers = {stream.caller.digest: stream.caller for stream in feed.streams}
                for caller in callers.values():
                    if not await self._holds(caller):
                        feed.refuse(caller.digest)
                frame = b": ping\n" + (place_of(feed.head) if feed.head else b"\n")
                for stream in feed.streams:
                    stream.offer(frame)

    async def _holds(self, caller: Caller) -> bool:
        """Return True if the key may still read, and while Postgres is unavailable."""
        keys = self._gate.keys
        try:
            return (await self._run(caller, lambda: keys.caller(caller.digest))).may("read")
        except KeyRefused:
            return False
        except Exception:  # noqa: BLE001 (no other error tells anything about the key)
            return True
