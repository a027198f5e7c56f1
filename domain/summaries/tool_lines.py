"""Lines about tools: successful changes, changes that never succeeded, and conversations transferred to a person."""

import re
from collections.abc import Iterator, Sequence

from slowwave_server.domain.extraction.tools import Call
from slowwave_server.domain.summaries.records import amounts_of, details_of

MAX_DETAILS = 7
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
_MARK = re.compile(r"(?:^|_)(?:id|ids|number|code|ref|reference)$")


def hands_over(call: Call) -> bool:
    """Return True if a call transferred the conversation to a person."""
    return call.error is None and _TO_A_PERSON.search(call.name) is not None


def reason_of(call: Call) -> str | None:
    """Return the reason for the transfer, from the call's arguments; None if no argument gives one."""
    told = dict(call.arguments)
    found = next((told[name] for name in _REASON if told.get(name, "").strip()), None)
    if found is None:
        return None
    plain = " ".join(found.split())
    return plain if len(plain) <= MAX_REASON else plain[:MAX_REASON].rsplit(" ", 1)[0] + " …"


def done(call: Call, agent: str, before: Sequence[Call] = ()) -> str:
    """Describe a call's change: "helper cancelled reservation K1NW8N: cabin economy; refunded 161."."""
    words = [part.lower() for part in _PARTS.findall(call.name)]
    verb, rest = words[0], [word for word in words[1:] if not word.isdigit()]
    details = details_of(call)
    mark = next((key for key in details if key.split("_")[0] in rest and _MARK.search(key)), None)
    target = " ".join(rest)
    if mark is not None:
        name = mark.split("_")[0]
        others = " ".join(word for word in rest if word != name)
        target = f"{others} of {name} {details.pop(mark)}" if others else f"{name} {details.pop(mark)}"
    shown = [f"{_key(key)} {value}".strip() for key, value in list(details.items())[:MAX_DETAILS]]
    told = "; ".join(part for part in (", ".join(shown), paid(amounts_of(call, before))) if part)
    return f"{agent} {_past(verb)} {target}".rstrip() + (f": {told}." if told else ".")


def paid(amounts: Sequence[float]) -> str:
    """Describe charged and refunded amounts: "charged 280 and 60 (340 in all)"."""
    parts: list[str] = []
    for word, some in (
        ("charged", [one for one in amounts if one > 0]),
        ("refunded", [-one for one in amounts if one < 0]),
    ):
        if some:
            in_all = f" ({sum(some):g} in all)" if len(some) > 1 else ""
            parts.append(f"{word} {' and '.join(f'{one:g}' for one in some)}{in_all}")
    return ", ".join(parts)


def failures(calls: Sequence[Call]) -> Iterator[Call]:
    """Yield the failed changes that no later call of the same tool repeats."""
    for at, call in enumerate(calls):
        later = any(other.name == call.name for other in calls[at + 1 :])
        if call.error is not None and call.changes_state and not later:
            yield call


def failed(call: Call, agent: str) -> str:
    """Describe a failed call and its error: "helper could not book reservation: no seats left."."""
    words = " ".join(part.lower() for part in _PARTS.findall(call.name))
    reason = re.sub(r"^error:?\s*", "", call.error or "", flags=re.IGNORECASE).rstrip(" .")
    return f"{agent} could not {words}" + (f": {reason}." if reason else ".")


def _key(key: str) -> str:
    """Return a field's name in words, without a suffix such as "id"."""
    return _MARK.sub("", key).replace("_", " ").strip()


def _past(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb in _DOUBLED:
        return f"{verb}{verb[-1]}ed"
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if verb.endswith("y") and verb[-2:-1] not in "aeo" else f"{verb}ed"
