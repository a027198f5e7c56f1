"""Read tool calls: a call that changed state is a result; a failed call and the later call that succeeded are a lesson.

Reads, searches and calculations create no memory.

A call is an event of role "tool_call" whose content is `name(key=JSON, …)`; its answer is an event of role "tool" with
a line `key: value` for each key of a JSON object.
"""

import json
import re
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from slowwave_server.domain.events import Event
from slowwave_server.domain.redaction import redact

MAX_DETAILS = 10
MAX_VALUE = 60
"""Characters of one value."""
MAX_ERROR = 160

_CHANGES = frozenset(
    """
    accept activate add apply approve archive assign attach ban block book cancel charge close commit confirm copy
    create
    deactivate delete deny deploy disable dismiss downgrade drop edit enable enroll exchange execute file grant import
    insert install invite issue launch lock mark merge migrate modify move mute open order pause pay place post process
    publish purchase push put record redeem refund register reject remove rename renew reopen replace reschedule reserve
    reset resolve restart restore resume return revert revoke rollback save schedule send set ship sign start stop
    submit
    subscribe suspend switch tag terminate transfer trigger unassign unblock undo uninstall unlock unsubscribe update
    upgrade upload void withdraw write
    """.split()
)
_READS = frozenset(
    """
    ask browse calculate check compare count describe diff echo estimate evaluate explain fetch find get grep head help
    info inspect list load look lookup ls monitor ping poll preview print query read retrieve search select show
    simulate
    status summarize tail test think validate verify view watch
    """.split()
)
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_CALL = re.compile(r"^(?P<name>[\w.:/-]{1,100})\((?P<arguments>.*)\)\s*$", re.DOTALL)
_LINE = re.compile(r"^(?P<key>[\w.-]{1,40}): (?P<value>\S.*)$")
_KEY = re.compile(r"[\s,]*(?P<key>\w{1,60})=")
_DECODER = json.JSONDecoder()
MAX_SCALARS = 200
"""Maximum values read from one call."""
_ERROR = re.compile(
    r"^\W{0,3}(?:error|exception|traceback|failed|failure|fatal|denied|invalid|not found|unauthori[sz]ed|forbidden|"
    r"timeout|permission denied)\b(?!\"?\s?[:=]\s?(?:null|none|false|0\b|\"\"|\[\]|\{\}))|"
    r"\"?(?:error|exception)\"?\s?[:=](?!\s?(?:null|none|false|0\b|\"\"|\[\]|\{\}|$))|"
    r"\bexit(?:ed)?(?: with)?(?: "
    r"(?:code|status))? [1-9]",
    re.IGNORECASE,
)
_WORTH = re.compile(
    r"(?:^|_)(?:id|ids|number|no|code|ref|reference|name|title|status|state|amount|price|total|cost|fee|refund|balance|"
    r"quantity|count|date|time|due|start|end|from|to|origin|destination|path|file|branch|version|url|email|user|"
    r"customer|order|reservation|ticket|cabin|class|type|reason|method|currency)(?:$|_)",
    re.IGNORECASE,
)
_ID = re.compile(r"(?:^|_)(?:id|ids|number|code|ref|reference)$", re.IGNORECASE)
_MAIN = re.compile(r"(?:^|_)(?:amount|refund|fee|date|status|state)$", re.IGNORECASE)
_REDACTED = re.compile(r"(?<=[=: ])(\[redacted:[\w-]{1,40}\])(?=\s*[,)}\]])")
"""A value that the redaction replaced together with its quotes."""
_PLAIN_KEY = re.compile(r"[\w.-]{1,40}")
"""Other keys are not field names, but text inside a result."""
_SECRET_KEY = re.compile(
    r"passw(?:or)?d|passcode|passphrase|secret|token|credential|private|api_?key|access_?key|cvv|cvc|\botp|"
    r"(?:^|_)(?:pin|otp|auth|security|verification|reset|backup|recovery|login)_?(?:code|number)?s?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Call:
    """One call with its answer. seqs: the seq numbers of its events; error: the first line of a failure, or None."""

    name: str
    arguments: tuple[tuple[str, str], ...]
    answer: str
    error: str | None
    seqs: tuple[int, ...]

    @property
    def is_identified(self) -> bool:
        """Return True if the call or its answer contains an identifier or an amount."""
        return any(
            _ID.search(key.removeprefix("requested ")) or any(map(str.isdigit, value)) for key, value in self.details()
        )

    @property
    def changes_state(self) -> bool:
        """True if the tool's name indicates a change."""
        words = [part.lower() for part in _PARTS.findall(self.name)]
        verb = next((word for word in words if word in _CHANGES or word in _READS), None)
        return verb in _CHANGES

    def told(self) -> str:
        """Describe the call's result in one line, with identifiers and amounts."""
        words = " ".join(part.lower() for part in _PARTS.findall(self.name))
        details = [f"{key} {value}" for key, value in self.details()]
        return f"{words[:1].upper()}{words[1:]} succeeded" + (f": {', '.join(details)}." if details else ".")

    def details(self) -> list[tuple[str, str]]:
        """Return the arguments, then the fields that the answer adds: identifiers first, then amounts and states."""
        told = [(key, value) for key, value in pairs(self.answer) if worth_showing(key, value)]
        kept = {key.split(".")[-1]: value for key, value in reversed(told)}
        shown: dict[str, str] = {}
        for key, value in self.arguments:
            if worth_showing(key, value):
                last = key.split(".")[-1]
                shown[last if kept.get(last, value) == value else f"requested {last}"] = value
        for wanted in (_ID, _MAIN, _WORTH):
            for key, value in told:
                last = key.split(".")[-1]
                known = set(", ".join(shown.values()).split(", "))
                if wanted.search(last) and last not in shown and not known.issuperset(value.split(", ")):
                    shown[last] = value
        return list(shown.items())[:MAX_DETAILS]


def is_tool(event: Event) -> bool:
    """Return True if an event is a tool's call or answer."""
    return event.kind == "tool"


def calls(events: Iterable[Event]) -> Iterator[Call]:
    """Yield the answered calls in order. Answers follow their calls, in the same order or by the id of the call."""
    waiting: OrderedDict[int, Event] = OrderedDict()
    by_id: dict[str, deque[int]] = {}
    for event in events:
        wanted = _call_id(event)
        if event.role == "tool_call":
            waiting[event.seq] = event
            if wanted is not None:
                by_id.setdefault(wanted, deque()).append(event.seq)
        elif event.role == "tool" and waiting:
            named = by_id.get(wanted) if wanted is not None else None
            while named and named[0] not in waiting:
                named.popleft()
            asked = waiting.pop(named.popleft()) if named else waiting.popitem(last=False)[1]
            yield _call(asked, event)


def lessons(done: Sequence[Call]) -> Iterator[tuple[Call, Call]]:
    """Yield pairs (failed, succeeded) of calls of the same tool if the later call had other arguments."""
    next_worked: dict[str, Call] = {}
    found: list[tuple[Call, Call]] = []
    for call in reversed(done):
        if call.error is None:
            next_worked[call.name] = call
        elif (worked := next_worked.get(call.name)) is not None and worked.arguments != call.arguments:
            found.append((call, worked))
    yield from reversed(found)


def difference(failed: Call, worked: Call) -> str:
    """Return the arguments that differ in the successful call, as `key value`, comma-separated."""
    before = dict(failed.arguments)
    changed = [(key, value) for key, value in worked.arguments if before.get(key) != value and may_show(key, value)]
    named = [one for one in changed if any(word in (failed.error or "").lower() for word in one[0].lower().split("_"))]
    return ", ".join(f"{key} {value}" for key, value in (named or changed)[:4])


def pairs(text: str) -> list[tuple[str, str]]:
    """Return the scalar values of a result with their keys, outer ones first: from JSON, or from lines `key: value`."""
    try:
        return _scalars([("", json.loads(text))])
    except (ValueError, RecursionError):
        lines = [match for line in text.split("\n") if (match := _LINE.match(line)) is not None]
        return _scalars([(match["key"], _value(match["value"])) for match in lines])


def arguments(text: str) -> list[tuple[str, str]]:
    """Return the arguments of a call, `key=JSON, key=JSON` or one JSON object; only scalars, lists joined."""
    if text.lstrip().startswith("{"):
        return pairs(text)
    found: list[tuple[str, object]] = []
    at = 0
    while (match := _KEY.match(text, at)) is not None:
        try:
            value, at = _DECODER.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            break  # a truncated argument
        found.append((match["key"], value))
    return _scalars(found)


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _scalars(values: list[tuple[str, object]]) -> list[tuple[str, str]]:
    ahead = deque(values)
    found: list[tuple[str, str]] = []
    while ahead and len(found) < MAX_SCALARS:
        key, value = ahead.popleft()
        if isinstance(value, dict):
            ahead += [(str(name), inner) for name, inner in value.items()]
        elif isinstance(value, list):
            ahead += _listed(key, value)
        elif value is not None and not isinstance(value, bool):
            found.append((key, str(value)))
    return found


def _listed(key: str, values: list[object]) -> list[tuple[str, object]]:
    """Unwrap a list of one item. Of several objects, keep only identifiers, amounts, dates and states, grouped by key,
    so that no two objects are mixed; of several other values, keep the first four.
    """
    if len(values) == 1:
        return [(key, values[0])]
    rows = [value for value in values if isinstance(value, dict)]
    if not rows:
        return [(key, ", ".join(str(value) for value in values[:4]))]
    listed: list[tuple[str, object]] = []
    for name in dict.fromkeys(str(name) for row in rows for name in row):
        if _ID.search(name) or _MAIN.search(name):
            told = dict.fromkeys(str(row[name]) for row in rows if isinstance(row.get(name), (str, int, float)))
            listed.append((name, ", ".join(told)[:MAX_VALUE]))
    return listed


def _call(asked: Event, answered: Event) -> Call:
    # Redact before any cut, because redaction does not find half a token.
    match = _CALL.match(_REDACTED.sub(r'"\1"', redact(asked.content).text.strip()))
    answer = _REDACTED.sub(r'"\1"', redact(answered.content).text)
    name = match["name"] if match else str(asked.metadata.get("tool", "tool"))
    failed = bool(answered.metadata.get("error")) or _ERROR.search(answer[:300]) is not None
    first = next((line.strip() for line in answer.split("\n") if line.strip()), "")
    return Call(
        name,
        tuple(arguments(match["arguments"]) if match else ()),
        answer,
        first[:MAX_ERROR] if failed else None,
        (asked.seq, answered.seq),
    )


def _call_id(event: Event) -> str | None:
    wanted = event.metadata.get("tool_call_id")
    return None if wanted is None else str(wanted)


def may_show(key: str, value: str) -> bool:
    """Return True if a value fits in a line, and its key is the plain name of a field without a secret."""
    if _PLAIN_KEY.fullmatch(key) is None or _SECRET_KEY.search(key) is not None:
        return False
    return 0 < len(value) <= MAX_VALUE and value.isprintable()


def worth_showing(key: str, value: str) -> bool:
    """Return True if a value may be shown and its key names an identifier, an amount or a state."""
    return may_show(key, value) and (bool(_WORTH.search(key)) or bool(_ID.search(key)))
