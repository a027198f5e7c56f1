"""Describe the outcome of a request: changes by tools, and the agent's reports, refusals, deliveries and answers."""

import re
from collections.abc import Sequence

from slowwave_server.domain.extraction.speech import Speech
from slowwave_server.domain.extraction.tools import Call
from slowwave_server.domain.summaries.answers import answer, decisive
from slowwave_server.domain.summaries.exchanges import Exchange
from slowwave_server.domain.summaries.prose import all_of, is_courtesy, plain, quoted, titled
from slowwave_server.domain.summaries.ranking import terms
from slowwave_server.domain.summaries.records import amounts_of
from slowwave_server.domain.summaries.refusals import refused_in
from slowwave_server.domain.summaries.talk import outcomes, shown
from slowwave_server.domain.summaries.tool_lines import paid

_HANDS_OVER = re.compile(
    r"\b(?:transferring you|(?:have|been|be|being|will|now) transfer(?:red)?\b|connect(?:ing|ed)? you (?:to|with))",
    re.IGNORECASE,
)
_ASKS_FOR = re.compile(
    r"\b(?:could|can|would|may) (?:you|i)\b.{0,60}\b(?:provide|share|specify|give|confirm|tell|have|know)\b|"
    r"\bplease (?:\w+ )?(?:provide|share|specify|confirm|tell|let me know (?:your|what|which|how|if you(?:'d|"
    r" would)))\b|"
    r"\bi(?:'ll| will)? (?:also |just )?need your\b",
    re.IGNORECASE,
)
_LOOKED_UP = re.compile(
    r"\b(?:details|information) (?:is|are)?\s?(?:as follows|below)\b|\bhere (?:is|are) (?:the|your) (?:\w+ )?"
    r"(?:details|information)\b",
    re.IGNORECASE,
)
"""Results that the agent only looked up as an intermediate step."""
_NUMBER = re.compile(r"\d")
_ONLY_ASKS = 450
"""Maximum characters of a turn that may only ask for missing input."""
_CHARGES = re.compile(r"\b(?:charged|additional (?:cost|charge|payment)|you(?:'ve| have)? paid)\b", re.IGNORECASE)
_REFUNDS = re.compile(r"\b(?:refund\w*|credited|returned|back)\b", re.IGNORECASE)
_OF_MONEY = re.compile(r"\b(?:pa(?:y|id)\w*|charg\w+|refund\w*|total|cost|fee|price|difference)\b", re.IGNORECASE)
_IS_DONE = re.compile(r"\b(?:been|was|were|charged|processed|refunded|paid)\b", re.IGNORECASE)
_MONEY = re.compile(r"[$€£]\s?(\d[\d,]*(?:\.\d+)?)")
MOST_OF_EARLIER = 170
"""Maximum characters quoted from the answer to an earlier request."""


def outcome(name: str, text: str, asked: str, *, calls: Sequence[Call], refusable: bool, limit: int) -> str:
    """Sum up an agent's turn in one sentence with a quotation; "" if the turn is only polite.

    calls: all tool calls made for the request; refusable: True if the person requested something that the agent could
    refuse.
    """
    parts = [part for part in plain(text) if not is_courtesy(part)]
    if (found := next((part for part in parts if _HANDS_OVER.search(part)), None)) is not None:
        return f"{name} said: {quoted(found, limit)}"
    reports = outcomes(text, with_tools=bool(calls))
    if not reports and any(call.changes_state for call in calls):
        reports = [part for part in parts if "successfully" in part]
    if reports:
        return f"{name} reported: {_reported(text, reports, asked, limit)}{_against(text, calls)}"
    if refusable and (refusals := [part for part in parts if refused_in(text, part)]):
        return f"{name} refused: {quoted(' '.join(refusals[:2]), limit)}"
    if (handed := titled(text)) is not None:
        return f"{name} delivered {shown(handed)}."
    found = answer(text, asked, limit)
    return f"{name} answered: {quoted(found, limit)}" if found else ""


def of_exchange(exchange: Exchange, name: str, *, done: bool) -> str:
    """Return the outcome of an earlier request from the agent's last relevant turn; "" if a tool's line reports it.

    done: True if a tool changed anything in the conversation. If no tool did, the request waits for the person's input,
    and the agent's question is the outcome.
    """
    if any(call.changes_state and call.error is None for call in exchange.calls):
        return ""
    asked = " ".join(exchange.requests)
    telling = [one for one in exchange.replies if not _only_asks(one) and not _LOOKED_UP.search(one.event.content)]
    found: list[tuple[bool, int, int, str]] = []
    for at, speech in enumerate(telling):
        text = speech.event.content
        told = outcome(name, text, asked, calls=exchange.calls, refusable=True, limit=MOST_OF_EARLIER)
        if told:
            settles = told.startswith((f"{name} reported", f"{name} refused"))
            found.append((settles, len(terms(asked) & terms(told)), at, told))
    if found:
        return max(found)[-1]
    if done:
        return ""
    wanted = [part for one in exchange.replies[-1:] for part in all_of(one.event.content) if _ASKS_FOR.search(part)]
    return f"{name} asked: {quoted(wanted[0], MOST_OF_EARLIER)}" if wanted else ""


def _only_asks(speech: Speech) -> bool:
    """Return True if a turn only asks for input that the agent needs to continue."""
    text = speech.event.content
    asks = any(_ASKS_FOR.search(part) for part in all_of(text))
    return asks and len(text) <= _ONLY_ASKS and not any(refused_in(text, part) for part in plain(text))


def _reported(text: str, reports: Sequence[str], asked: str, limit: int) -> str:
    """Return the sentence of the turn that reports the result of the request, with more of the same turn.

    More: other reports, sentences with numbers that the person requested, the amounts in a list.
    """
    told = reports[0]
    asked_for = [part for part in plain(text) if _NUMBER.search(part) and len(terms(asked) & terms(part)) > 1]
    for more in [*reports[1:], *asked_for]:
        if more not in told and len(told) + len(more) < limit:
            told = f"{told} {more}"
    details = decisive(text, limit - len(told), told)
    return quoted(f"{told} {details}".strip(), limit + 1)


def _against(text: str, calls: Sequence[Call]) -> str:
    """Return the recorded amounts if the record does not contain the payment that the agent names."""
    recorded = {amount for call in calls for amount in amounts_of(call, calls)}
    told = [part for part in all_of(text) if _OF_MONEY.search(part) and _IS_DONE.search(part)]
    named = {float(found.replace(",", "")) for part in told for found in _MONEY.findall(part)}
    if not recorded or not named:
        return ""
    if all(one < 0 for one in recorded) and _CHARGES.search(" ".join(told)) and not _REFUNDS.search(" ".join(told)):
        return f" The record shows: {paid(sorted(recorded))}."
    sums = {abs(one) for one in recorded} | {abs(sum(recorded))}
    if named & sums:
        return ""
    return f" The record shows: {paid(sorted(recorded))}."
