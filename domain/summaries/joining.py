"""Combine the sentences of a talk with its ending: each request with its outcome, without duplicates."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from slowwave_server.domain.extraction.standalone import content_words
from slowwave_server.domain.summaries.endings import Ending
from slowwave_server.domain.summaries.exchanges import Exchange
from slowwave_server.domain.summaries.outcomes import of_exchange
from slowwave_server.domain.summaries.prose import MAX_QUOTE, quoted
from slowwave_server.domain.summaries.sentence import Sentence
from slowwave_server.domain.summaries.stance import weight_of_words

_TOLD = 0.8
"""Minimum share of a line's content words that another line must contain to make it a duplicate."""
_ID = re.compile(r"\b(?=[A-Z0-9]*[A-Z])(?=[A-Z0-9]*\d)[A-Z0-9]{4,}\b|\b[A-Z]{6,}\b")
_OF_TURN = frozenset(("delivered", "achieved", "refused", "taken", "accepted"))
"""Signals of lines that sum up a turn; the outcome of the request replaces such lines."""


def joined(found: Sequence[Sentence], exchanges: Sequence[Exchange], end: Ending | None, agent: str) -> list[Sentence]:
    """Return the sentences with outcomes, and the ending if there is one."""
    kept = _opened(found)
    if end is not None:
        kept = list(_besides(kept, end))
    by_tool = any("tool" in one.fired for one in found) or (end is not None and bool(end.calls))
    for exchange in exchanges:
        if told := of_exchange(exchange, agent, done=by_tool):
            kept = _with_outcome(kept, exchange, told)
        elif exchange.calls:
            turns = {speech.event.seq for speech in exchange.replies}
            kept = [one for one in kept if one.event.seq not in turns or "delivered" not in one.fired]
    kept = _once(kept)
    if end is None:
        return kept
    return [*kept, Sentence("ended", end.text, end.speaker, end.event, ("ended",))]


def _opened(found: Sequence[Sentence]) -> list[Sentence]:
    """Mark the first "wanted" sentence as the opening: a conversation begins with its purpose."""
    at = next((place for place, one in enumerate(found) if one.facet == "wanted"), None)
    return [replace(one, fired=(*one.fired, "opening")) if place == at else one for place, one in enumerate(found)]


def _besides(found: Sequence[Sentence], end: Ending) -> Iterator[Sentence]:
    """Yield the sentences that add something to the ending."""
    told = set(content_words(end.text))
    for one in found:
        by_tool = "tool" in one.fired
        in_end = one.event.seq in end.calls if by_tool else _is_told(one, told)
        of_turn = one.event.seq in end.turns and _of_turn(one)
        planned = one.facet == "state" and "agent" not in one.fired and one.event.seq in end.turns
        decision = one.facet == "decided" and "taken" not in one.fired
        stands = decision or not {"opening", "milestone"}.isdisjoint(one.fired)
        if stands or not (in_end or of_turn or (planned and one.event.is_spoken)):
            yield one


def _with_outcome(found: Sequence[Sentence], exchange: Exchange, told: str) -> list[Sentence]:
    """Append the outcome to its request; drop the lines that sum up the agent's turns."""
    turns = {speech.event.seq for speech in exchange.replies}
    words = set(content_words(told))
    kept = [one for one in found if one.event.seq not in turns or not (_of_turn(one) or _is_told(one, words))]
    turn = exchange.turn
    wanted = [at for at, one in enumerate(kept) if one.event.seq == turn.event.seq and one.facet == "wanted"]
    if wanted:
        at = max(wanted, key=lambda place: weight_of_words(kept[place].text))
        one = kept[at]
        kept[at] = replace(one, text=f"{_closed(one.text)} {told}", fired=(*one.fired, "settled"))
        return kept
    request = quoted(max(exchange.requests, key=weight_of_words), MAX_QUOTE)
    fired = ("request", "to_agent", "settled")
    return [
        *kept,
        Sentence("wanted", f"{turn.speaker.name} asked: {request} {told}", turn.speaker.name, turn.event, fired),
    ]


def _of_turn(one: Sentence) -> bool:
    return not _OF_TURN.isdisjoint(one.fired)


def _is_told(one: Sentence, words: set[str]) -> bool:
    """Return True if these words already say a sentence; tool lines and milestones never count."""
    said = set(content_words(one.text))
    return {"tool", "milestone"}.isdisjoint(one.fired) and len(said & words) >= _TOLD * len(said)


def _closed(text: str) -> str:
    return text if text.endswith((".", "!", "?", '"', "…")) else f"{text}."


def _once(found: Sequence[Sentence]) -> list[Sentence]:
    """Keep the longest of duplicate sentences of one turn; drop sentences that repeat a tool's record."""
    recorded = {name for one in found if "tool" in one.fired for name in _ID.findall(one.text)}
    kept: list[Sentence] = []
    for one in sorted(found, key=lambda other: -len(other.text)):
        said = set(content_words(one.text))
        by_record = "achieved" in one.fired and not recorded.isdisjoint(_ID.findall(one.text))
        others = [set(content_words(other.text)) for other in kept if other.event.seq == one.event.seq]
        whole = not {"milestone", "tool"}.isdisjoint(one.fired)
        if whole or not (by_record or any(len(said & other) >= _TOLD * len(said) for other in others)):
            kept.append(one)
    return [one for one in found if any(one is other for other in kept)]
