"""Import a file of events: one JSON object per line, many sessions per statement. A repeated import adds nothing.

A line without a key gets one from its content and from the number of equal lines before it, so the same file always
gives the same keys.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import IO, Any, NamedTuple

from slowwave.capture import Delivery, Entry, about_of
from slowwave.errors import InvalidMessage, InvalidName, shown
from slowwave.identity import SessionRef, check_name
from slowwave.messages import message_events
from slowwave.settings import Tools
from slowwave.store import Store

BATCH_EVENTS = 1000
BATCH_CHARACTERS = 4_000_000
MAX_LINE_CHARACTERS = 2_000_000
CUT_CHARACTERS = 1000
MAX_DAYS_AHEAD = 1
"""A line that is dated later was dated by a clock that is wrong, and would say the last word until then."""
_CHUNK = 1 << 16

FIELDS = frozenset(
    "agent session role content name at key room_id thread_id scope tenant metadata tool_calls tool_call_id"
    " is_error".split()
)


class Reject(NamedTuple):
    """A rejected line: its number (from 1), the reason, and the line without its line end."""

    number: int
    reason: str
    line: str


@dataclass(slots=True)
class IngestReport:
    """Counts of an import so far.

    read: the number of lines that are not blank; size_bytes: their size as UTF-8. added, repeated: numbers of events;
    ignored: the number of system messages, empty messages, and events of agents or sessions that were forgotten during
    the import; rejected: the number of lines. further: the number of events beyond the first of each line, because each
    tool call is its own event. At the end, added + repeated + ignored + rejected = read + further. sessions: the number
    of sessions with events in the file.
    """

    read: int = 0
    size_bytes: int = 0
    added: int = 0
    repeated: int = 0
    ignored: int = 0
    rejected: int = 0
    further: int = 0
    sessions: set[SessionRef] = field(default_factory=set)


def bounded_lines(file: IO[str], most: int = MAX_LINE_CHARACTERS) -> Iterator[str]:
    """Read the lines of a file, each with its line end and at most `most` characters.

    A longer line is cut to `most` + 1 characters, so that `ingest` rejects it. Its rest is read in pieces and dropped,
    so an endless line needs no more memory than a line of `most` characters.
    """
    while line := file.readline(most + 1):
        yield line
        if len(line) > most and not line.endswith("\n"):
            while (rest := file.readline(_CHUNK)) and not rest.endswith("\n"):
                pass


def ingest(
    lines: Iterable[str],
    store: Store,
    *,
    tenant: str | None = None,
    only_tenant: bool = False,
    batch_events: int = BATCH_EVENTS,
    on_progress: Callable[[IngestReport], None] = lambda _report: None,
    on_reject: Callable[[Reject], None] = lambda _reject: None,
) -> IngestReport:
    """Record the events of `lines`. An invalid line goes to `on_reject`; all other lines are recorded.

    A line is {"agent", "session", "role", "content"} and optionally name, at, key, room_id, thread_id, scope, tenant,
    metadata, tool_calls, tool_call_id, is_error. tenant: the tenant of lines that name no tenant (default: that of the
    settings). only_tenant: True to reject lines of other tenants. on_progress: a function that is called after every
    commit. `ingest` reads the next batch while it commits a batch, and offers due sessions after their commit. Raises
    StoreUnavailable (nothing is spooled: repeat the import) and the exceptions of `lines`.
    """
    report = IngestReport()
    reader = _Reader(
        tenant or store.settings.tenant, store.settings.memory.tools, report, on_reject, only_tenant=only_tenant
    )

    under_way: tuple[Callable[[], Delivery], _Batch] | None = None

    def settle() -> None:
        nonlocal under_way
        if under_way is not None:
            (end, batch), under_way = under_way, None
            delivery = end()
            store.offers.enqueue([(ref, "normal") for ref in delivery.due])
            reader.settle(delivery, batch)

    try:
        for batch in reader.batches(lines, batch_events):
            if under_way is not None:
                settle()
                on_progress(report)
            under_way = (store.capture.begin(batch.entries()), batch)
    finally:
        # Also if `lines` raises: events that were sent are committed and counted.
        settle()
    on_progress(report)
    return report


@dataclass(slots=True)
class _Batch:
    """The lines of one commit, grouped by session. All lines of a session agree on its properties."""

    parts: list[tuple[Entry, list[tuple[int, str]]]] = field(default_factory=list)
    newest: dict[tuple[Any, ...], tuple[Entry, list[tuple[int, str]]]] = field(default_factory=dict)
    events: int = 0
    characters: int = 0

    def entries(self) -> list[Entry]:
        return [entry for entry, _ in self.parts]


class _Reader:
    """Turns lines into batches, and maintains the report."""

    def __init__(
        self,
        tenant: str,
        tools: Tools,
        report: IngestReport,
        on_reject: Callable[[Reject], None],
        *,
        only_tenant: bool,
    ) -> None:
        self._tenant = tenant
        self._only_tenant = only_tenant
        self._tools = tools
        self._report = report
        self._on_reject = on_reject
        began = datetime.now(UTC)
        self._began = began.isoformat()
        self._latest = (began + timedelta(days=MAX_DAYS_AHEAD)).isoformat()
        self._seen: dict[str, int] = {}
        self._abouts: dict[tuple[Any, ...], dict[str, str] | None] = {}
        self._names: dict[str, str] = {}
        self._named_at: tuple[str, str, str] | None = None

    def batches(self, lines: Iterable[str], batch_events: int) -> Iterator[_Batch]:
        batch = _Batch()
        for number, raw in enumerate(lines, 1):
            line = raw.rstrip("\r\n")
            if not line or line.isspace():
                continue
            self._report.read += 1
            self._report.size_bytes += len(raw) if raw.isascii() else len(raw.encode(errors="replace"))
            try:
                self._add(batch, number, line)
            except (InvalidMessage, InvalidName) as error:
                self._reject(number, str(error), line)
                continue
            if batch.events >= batch_events or batch.characters >= BATCH_CHARACTERS:
                yield batch
                batch = _Batch()
        if batch.parts:
            yield batch

    def settle(self, delivery: Delivery, batch: _Batch) -> None:
        """Add the outcome of a commit to the counts."""
        reasons = {id(entry): reason for entry, reason in delivery.rejected}
        accepted = [(entry, lines) for entry, lines in batch.parts if id(entry) not in reasons]
        taken = sum(len(entry.events) for entry, _ in accepted)
        self._report.further += taken - sum(len(lines) for _, lines in accepted)
        for ref, outcome in delivery.captured:
            taken -= outcome.added + outcome.repeated
            self._report.added += outcome.added
            self._report.repeated += outcome.repeated
            self._report.sessions.add(ref)
        self._report.ignored += taken
        for entry, lines in batch.parts:
            if (reason := reasons.get(id(entry))) is not None:
                for number, line in lines:
                    self._reject(number, reason, line)

    def _add(self, batch: _Batch, number: int, line: str) -> None:
        fields = _parsed(line)
        place = (fields.get("tenant") or self._tenant, fields["agent"], fields["session"])
        if self._only_tenant and place[0] != self._tenant:
            raise InvalidMessage(f"tenant must be {self._tenant!r} and no other, got {shown(place[0])}")
        try:
            about = self._about(fields.get("scope"), fields.get("room_id"), fields.get("thread_id"))
            part = batch.newest.get(place)
        except TypeError:
            raise InvalidMessage("agent, session, tenant, scope, room_id and thread_id must be text") from None
        known = part is not None and about == part[0].about
        if part is None or not known:
            for what, name in zip(("tenant", "agent", "session"), place, strict=True):
                check_name(what, name)
            part = (Entry(*place, [], about), [])
        if place != self._named_at:
            # A tool result follows its call soon, so old calls are dropped: a file with many sessions must not fill the
            # memory.
            self._names, self._named_at = {}, place
        key = "" if fields.get("key") is not None else self._key(line)
        added = message_events(fields, key, self._tools, self._names)
        if not added:
            self._report.ignored += 1
            return
        if any(event.get("at", "") > self._latest for event in added):
            raise InvalidMessage(
                f"at must lie at most {MAX_DAYS_AHEAD} day ahead of now ({self._began[:16]} UTC), got"
                f" {shown(fields['at'])}"
            )
        if not known:
            batch.newest[place] = part
            batch.parts.append(part)
        events = part[0].events
        for event in added:
            event["taken"] = self._began
            event["step"] = (events[-1]["step"] if events else 0) + (event["kind"] == "user")
            events.append(event)
        part[1].append((number, line))
        batch.events += len(added)
        batch.characters += len(line)

    def _about(self, *given: Any) -> dict[str, str] | None:
        if given not in self._abouts:
            self._abouts[given] = about_of(*given)
        return self._abouts[given]

    def _key(self, line: str) -> str:
        digest = blake2b(line.encode(errors="replace"), digest_size=12).hexdigest()
        times = self._seen[digest] = self._seen.get(digest, 0) + 1
        return f"{digest}:{times}"

    def _reject(self, number: int, reason: str, line: str) -> None:
        self._report.rejected += 1
        self._on_reject(Reject(number, reason, line if len(line) <= MAX_LINE_CHARACTERS else line[:CUT_CHARACTERS]))


def _parsed(line: str) -> Mapping[str, Any]:
    if len(line) > MAX_LINE_CHARACTERS:
        raise InvalidMessage(
            f"a line has at most {MAX_LINE_CHARACTERS:,} characters, this one has more (its first {CUT_CHARACTERS:,}"
            " are kept here): split its content over several lines"
        )
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidMessage(f"no JSON: {error}") from None
    if not isinstance(fields, dict):
        raise InvalidMessage("a line must hold a JSON object")
    if not fields.keys() <= FIELDS:
        raise InvalidMessage(f"unknown field {shown(min(fields.keys() - FIELDS))}; known: {', '.join(sorted(FIELDS))}")
    for name in ("agent", "session"):
        if name not in fields:
            raise InvalidMessage(f"{name} is missing")
    return fields
