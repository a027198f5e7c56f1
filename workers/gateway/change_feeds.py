"""Read the feed of one tenant once per process, and pass it to every stream that follows it."""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from slowwave.change_following import LAGGING_SECONDS, LOOK_SECONDS
from slowwave.changes import Change, ChangePage, CursorExpired, position
from slowwave.errors import SlowwaveError
from slowwave_server.workers.gateway.caller import Caller
from slowwave_server.workers.gateway.walls import KeyRefused

log = logging.getLogger(__name__)

WAITING = 256
"""So many changes wait for one client; with one more its stream ends."""
REST_SECONDS = 0.02
"""Reads of one feed are so far apart: what commits meanwhile comes with the next one."""
ANNOUNCED_SECONDS = 60.0


def frame_of(change: Change) -> bytes:
    """Return a change as an event of a stream."""
    data = json.dumps(change.to_json(), ensure_ascii=False, separators=(",", ":"))
    return f"id: {change.id}\nevent: change\ndata: {data}\n\n".encode("utf-8", "replace")


def place_of(cursor: str) -> bytes:
    """Return a frame that moves the client's Last-Event-ID without an event."""
    return f"id: {cursor}\n\n".encode()


@dataclass(eq=False)
class Stream:
    """The stream of one client. admits: returns True if the client wants a change. cursor: the id of its last event."""

    caller: Caller
    places: list[str] | None
    admits: Callable[[Change], bool]
    cursor: str | None
    waiting: asyncio.Queue[bytes] = field(default_factory=lambda: asyncio.Queue(WAITING))
    ended: bool = False

    def offer(self, frame: bytes) -> None:
        """Queue a frame for the client. If the queue is full, the stream ends."""
        if not self.ended:
            try:
                self.waiting.put_nowait(frame)
            except asyncio.QueueFull:
                self.ended = True

    def end(self) -> None:
        """End the stream after its queued events."""
        self.offer(b"")
        self.ended = True


Read = Callable[[Caller, str | None, list[str] | None], Awaitable[ChangePage]]
Announce = Callable[[Caller, float], Awaitable[str]]


class Feed:
    """The changes of a tenant as they arrive. read, announce: queries to Postgres with a key. listen: called when
    `channel` is known;
    done: called when no stream follows any more.
    """

    def __init__(self, read: Read, announce: Announce, listen: Callable[[], None], done: Callable[[], None]) -> None:
        self._read = read
        self._announce = announce
        self._listen = listen
        self._done = done
        self._task: asyncio.Task[None] | None = None
        self._beginning = asyncio.Lock()
        self._callers: dict[str, Caller] = {}
        self._announced_until = 0.0
        self._pause, self._waits = LAGGING_SECONDS[0], False
        self.woken = asyncio.Event()
        self.streams: set[Stream] = set()
        self.coming = 0
        self.head: str | None = None
        self.channel: str | None = None

    async def begin(self, caller: Caller) -> None:
        """Start the feed: from now on `head` is the position up to which it was read. Raises the errors of reading."""
        async with self._beginning:
            self._callers[caller.digest] = caller
            if self._task is not None and not self._task.done():
                return
            self.channel = await self._announce(caller, ANNOUNCED_SECONDS)
            self._announced_until = time.monotonic() + ANNOUNCED_SECONDS / 2
            self.head = (await self._read(caller, None, None)).cursor
            self._task = asyncio.create_task(self._follow())
            self._listen()

    def end(self) -> None:
        """Stop reading; the clients connect again."""
        if self._task is not None:
            self._task.cancel()
        for stream in list(self.streams):
            stream.end()
        self._done()

    async def _follow(self) -> None:
        alone = 0
        while alone < 2:  # noqa: PLR2004 (a client that was admitted may be about to follow)
            try:
                more = await self._step()
            except (SlowwaveError, OSError) as error:
                log.warning("changes can't be read at the moment: %s", error)
                await asyncio.sleep(1.0)
                continue
            if not more:
                await self._wait()
            alone = 0 if self.streams or self.coming else alone + 1
        self._done()

    async def _step(self) -> bool:
        caller = self._reader()
        if caller is None:
            return False
        try:
            if time.monotonic() > self._announced_until:
                await self._announce(caller, ANNOUNCED_SECONDS)
                self._announced_until = time.monotonic() + ANNOUNCED_SECONDS / 2
            page = await self._read(caller, self.head, None)
        except KeyRefused:
            self.refuse(caller.digest)
            return True
        except CursorExpired:  # the database was restored: clients get the error when they connect again
            self.head = None
            for stream in list(self.streams):
                stream.end()
            page = await self._read(caller, None, None)
        for change in page.changes:
            frame = frame_of(change)
            for stream in self.streams:
                if position(change.id) > position(stream.cursor or "0-0") and stream.admits(change):
                    stream.offer(frame)
        self.head, self._waits = page.cursor, page.waits
        return page.more

    async def _wait(self) -> None:
        self._pause = min(2 * self._pause, LAGGING_SECONDS[1]) if self._waits else LAGGING_SECONDS[0]
        with suppress(TimeoutError):
            await asyncio.wait_for(self.woken.wait(), self._pause if self._waits else LOOK_SECONDS)
        await asyncio.sleep(REST_SECONDS)
        self.woken.clear()

    def _reader(self) -> Caller | None:
        for stream in self.streams:
            return stream.caller
        return next(iter(self._callers.values()), None)

    def refuse(self, digest: str) -> None:
        """Handle a key that is no longer valid."""
        self._callers.pop(digest, None)
        for stream in list(self.streams):
            if stream.caller.digest == digest:
                self.streams.discard(stream)
                stream.end()
