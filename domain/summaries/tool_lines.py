"""What tools did in a day: changes that succeeded, changes that failed for good, and conversations handed to a person.

Must not know: what was said around the calls.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from slowwave_server.domain.extraction.tools import Call

MAX_DETAILS = 5
MAX_REASON = 220
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_TO_A_PERSON = re.compile(
    r"(?:transfer|escalate|hand_?off|hand_?over|forward|route)\w*?_(?:to_)?\w*(?:human|agent|person|support|operator|"
    r"supervisor|staff)",
    re.IGNORECASE,
)
_REASON = ("summary", "reason", "message", "note", "description")
_IRREGULAR = {
    "put": "put", "set": "set", "send": "sent", "write": "wrote", "pay": "paid", "withdraw": "withdrew",
    "undo": "undid", "reset": "reset", "rollback": "rolled back", "buy": "bought",
}  # fmt: skip
_DOUBLED = frozenset("ban cancel commit drop ship submit tag".split())
_NO_NEWS = re.compile(r"(?:^|_)(?:user|customer|account|payment)(?:$|_)|^requested ")
"""Whose account it is stands elsewhere in the day, and is the same in each call."""
_LIST = re.compile(r"\"?(?P<key>[a-z_]{1,40})\"?: (?P<rows>\[.*\])")
MAX_AMOUNTS = 4
_MARK = re.compile(r"(?:^|_)(?:id|ids|number|code|ref|reference)$")


def hands_over(call: Call) -> bool:
    """Whether a call gave the conversation to a person."""
    return call.error is None and _TO_A_PERSON.search(call.name) is not None


def reason_of(call: Call) -> str | None:
    """Why the conversation was handed over, in the words of the call; None if it gives no reason."""
    told = dict(call.arguments)
    found = next((told[name] for name in _REASON if told.get(name, "").strip()), None)
    if found is None:
        return None
    plain = " ".join(found.split())
    return plain if len(plain) <= MAX_REASON else plain[:MAX_REASON].rsplit(" ", 1)[0] + " …"


def done(call: Call, agent: str) -> str:
    """What a call changed: "helper cancelled reservation K1NW8N: cabin economy."."""
    words = [part.lower() for part in _PARTS.findall(call.name)]
    verb, rest = words[0], [word for word in words[1:] if not word.isdigit()]
    details = _details(call)
    mark = next((key for key in details if key.split("_")[0] in rest and _MARK.search(key)), None)
    target = " ".join(rest)
    if mark is not None:
        name = mark.split("_")[0]
        others = " ".join(word for word in rest if word != name)
        target = f"{others} of {name} {details.pop(mark)}" if others else f"{name} {details.pop(mark)}"
    shown = [f"{_key(key)} {value}".strip() for key, value in list(details.items())[:MAX_DETAILS]] + _amounts(call)
    return f"{agent} {_past(verb)} {target}".rstrip() + (f": {', '.join(shown)}." if shown else ".")


def failures(calls: Sequence[Call]) -> Iterator[Call]:
    """The changes that failed and that no later call of the same tool made."""
    for at, call in enumerate(calls):
        later = any(other.name == call.name for other in calls[at + 1 :])
        if call.error is not None and call.changes_state and not later:
            yield call


def failed(call: Call, agent: str) -> str:
    """What a call did not do, and why: "helper could not book reservation: no seats left."."""
    words = " ".join(part.lower() for part in _PARTS.findall(call.name))
    reason = re.sub(r"^error:?\s*", "", call.error or "", flags=re.IGNORECASE).rstrip(" .")
    return f"{agent} could not {words}" + (f": {reason}." if reason else ".")


def _details(call: Call) -> dict[str, str]:
    """What the call was given, then what its answer adds, without what every call of an account repeats."""
    told = dict(replace(call, answer="").details())
    for key, value in replace(call, arguments=()).details():
        told.setdefault(key, value)
    return {key: value for key, value in told.items() if not _NO_NEWS.search(key)}


def _amounts(call: Call) -> list[str]:
    """The amounts in a list of the answer, such as its payments: "payment history 161, -161"."""
    for line in call.answer.split("\n"):
        match = _LIST.match(line)
        rows = _rows(match["rows"]) if match else []
        amounts = [row["amount"] for row in rows if isinstance(row.get("amount"), (int, float))]
        if match and amounts:
            return [f"{match['key'].replace('_', ' ')} {', '.join(f'{one:g}' for one in amounts[-MAX_AMOUNTS:])}"]
    return []


def _rows(text: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [row for row in found if isinstance(row, dict)]


def _key(key: str) -> str:
    """The name of a field in words, without what says only that it is an identifier."""
    return _MARK.sub("", key).replace("_", " ").strip()


def _past(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb in _DOUBLED:
        return f"{verb}{verb[-1]}ed"
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if verb.endswith("y") and verb[-2:-1] not in "aeo" else f"{verb}ed"
