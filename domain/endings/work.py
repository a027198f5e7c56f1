"""Read a person's open work ("is trying to fix the login bug"): its subject, its settlement and its expiry."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from slowwave_server.domain.endings.words import distinctive, stems
from slowwave_server.domain.similarity import read
from slowwave_server.domain.similarity.lexicon import stem

_WHO = r"^(?P<who>(?:The user|[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,2})(?: and others)?) "
_STILL = r"(?:also |still |now |currently |just |really |busy )*"
_BEING = (
    rf"(?:is|are|has been|have been) {_STILL}(?:"
    r"(?:trying to|attempting to|working (?:on|to)|struggling (?:to|with)|looking into|going to|planning to|about to) |"
    r"(?=(?:fixing|debugging|building|writing|preparing|drafting|setting up|migrating|refactoring|investigating|"
    r"implementing|organi[sz]ing|finishing|testing|designing|planning|updating)\b))"
)
_INTENDING = r"(?:will|needs? to|has to|have to|plans? to|intends? to|wants? to|must) "
_OPEN = re.compile(rf"{_WHO}{_STILL}(?:{_BEING}|{_INTENDING})(?P<rest>\S.*)$")
_FINISHED = (
    r"(?:finished|completed|resolved|solved|accomplished|deployed|merged|shipped|delivered|submitted|published|released|"
    r"launched|closed|fixed|implemented|approved|settled|sorted out|wrapped up|done)"
)
_DONE = re.compile(
    rf"\b(?:(?:is|are|was|were|has been|have been|got) (?:now |all |finally |successfully |already )*{_FINISHED}|"
    r"(?:finished|completed|resolved|solved|succeeded|accomplished|wrapped up)|"
    r"(?:is|are) (?:now )?(?:live|ready|complete)|works now|managed to|went through)\b",
    re.IGNORECASE,
)
_NOT_DONE = re.compile(
    r"\b(?:not|n't|never|no|almost|nearly|half|partly|if|once|when|until|before|will|would|should|could|might|may|can|"
    r"needs?|wants?|plans? to|going to|trying|try|tries|hopes?|still|started|starting|began|begins?|failed|"
    r"fails|soon|ready to|about to|to be|except|but|yet|every|always|usually|again)\b|n't\b|\?",
    re.IGNORECASE,
)
_PAST = {
    "write": "wrote written", "send": "sent", "build": "built", "find": "found", "buy": "bought", "make": "made",
    "set": "set", "get": "got gotten", "pay": "paid", "tell": "told", "give": "gave given", "take": "took taken",
    "choose": "chose chosen", "do": "did done", "draw": "drew drawn", "sell": "sold", "run": "ran", "meet": "met",
    "speak": "spoke spoken", "teach": "taught", "read": "read", "cut": "cut", "put": "put", "leave": "left",
    "hold": "held", "begin": "began begun", "break": "broke broken", "see": "saw seen", "go": "went gone",
    "submit": "submitted", "ship": "shipped", "plan": "planned", "swap": "swapped", "rewrite": "rewrote rewritten",
}  # fmt: skip
_PAST_WORDS = frozenset(" ".join(_PAST.values()).split()) | {"decided"}
_DECIDES = frozenset("choose pick decide select find settle".split())
_DATE = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_LEAST_OBJECT = 2
_LEAST_SHARE = 0.3
"""Minimum share of an outcome's words that belong to the object of the work.

A long text contains many words by accident.
"""
_TIME_WORDS = frozenset(
    stem(word)
    for word in "today tomorrow tonight yesterday morning afternoon evening night weekend monday tuesday wednesday "
    "thursday friday saturday sunday next last soon later early end hour minute finally successfully".split()
)


@dataclass(frozen=True, slots=True)
class Work:
    """The subject of open work: the verb's lemma, the object's stems and words, and the persons who do it."""

    who: str
    verb: str
    object: frozenset[str]
    words: str
    names: frozenset[str]


def work_of(content: str) -> Work | None:
    """Return the open work in a statement, or None."""
    match = _OPEN.match(content)
    if match is None:
        return None
    rest = _DATE.sub(" ", match["rest"])
    first = next((token for token in read(rest).tokens if token.carries_content or token.kind == "function"), None)
    if first is None:
        return None
    verb = first.lemma if first.kind == "word" else first.lower
    object_ = distinctive(rest) - {stem(verb), first.stem} - _TIME_WORDS
    words = " ".join(token.text for token in read(rest).tokens if token.stem in object_)
    return Work(match["who"], verb, object_, words, read(content).doer.names)


def may_settle(content: str) -> bool:
    """Return True if a statement may report completed work: a cheap check with false positives."""
    if _NOT_DONE.search(content) is not None:
        return False
    words = re.findall(r"[a-z'-]+", content.lower())
    return _DONE.search(content) is not None or any(word in _PAST_WORDS or word.endswith("ed") for word in words)


def settles(outcome: str, work: Work) -> bool:
    """Return True if a statement reports the outcome of this work: the same object, done, no part still open."""
    if not work.object or _NOT_DONE.search(outcome) is not None:
        return False
    named = stems(outcome)
    if not work.object <= named or len(work.object) < _LEAST_SHARE * len(distinctive(outcome)):
        return False
    doer = read(outcome).doer.names
    if doer and doer.isdisjoint(work.names) and ": " not in outcome:
        return False
    same_verb = not _past_forms(work.verb).isdisjoint(re.findall(r"[\w'-]+", outcome.lower()))
    generic = _DONE.search(outcome) is not None
    if len(work.object) < _LEAST_OBJECT and not (same_verb and _is_name(work.object, outcome)):
        return False
    decided = work.verb in _DECIDES and " decided: " in outcome
    return same_verb or generic or decided


def _past_forms(verb: str) -> frozenset[str]:
    regular = {f"{verb}ed", f"{verb}d", f"{verb[:-1]}ied", f"{verb}{verb[-1:]}ed"}
    base = verb.removesuffix("ing")
    regular |= {f"{base}ed", f"{base}d", f"{base[:-1]}ed"} if base != verb else set()
    return frozenset(regular | set(_PAST.get(verb, "").split()))


def _is_name(words: frozenset[str], text: str) -> bool:
    """Return True if one of the words is a name or an identifier in the text."""
    names = {token.stem for token in read(text).tokens if token.kind in {"name", "number"}}
    return not words.isdisjoint(names)


def expires_at(content: str, last_said: datetime, days: float) -> datetime:
    """Return the expiry of open work: `days` after its last mention, or after the last day that it names."""
    named = [found for match in _DATE.finditer(content) if (found := _day(match)) is not None]
    latest = max((datetime.combine(day, time.min, UTC) for day in named), default=last_said)
    return max(last_said, latest) + timedelta(days=days)


def _day(match: re.Match[str]) -> date | None:
    try:
        return date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None
