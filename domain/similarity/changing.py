"""Decide whether a later statement says that the state in an earlier statement has changed.

With the model of meaning, the evidence decides (`change_score`). Without it, or if the evidence is weak, the later
statement must contain a word for a change: "now", "switched to", "no longer". In addition, one of these conditions must
hold: the later one gives another value of the same thing (`restating`, `succession`); it says that something of the
earlier one is over (`moving_on`); or a thing has ended on which the earlier one depends. Only the end of a passing
state ("is being packed", "was delivered") and a number of one owner need no word for a change.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from slowwave_server.domain.similarity.amounts import identifiers_of
from slowwave_server.domain.similarity.change_score import Speakers, ends
from slowwave_server.domain.similarity.judge import are_two_subjects
from slowwave_server.domain.similarity.meaning import LEARNED_CHARACTERS, MeaningOf
from slowwave_server.domain.similarity.moving_on import becomes, is_over, is_present, moves_on
from slowwave_server.domain.similarity.quotes import speakers_of, with_user_for_speaker
from slowwave_server.domain.similarity.reading import Reading, read
from slowwave_server.domain.similarity.restating import adds, are_plain, restates, restates_owned
from slowwave_server.domain.similarity.same_thing import are_other_things, names_thing, own_kinds
from slowwave_server.domain.similarity.succession import succeeds
from slowwave_server.domain.similarity.tokens import Token
from slowwave_server.domain.similarity.topics import NUMBER, OF_VERSION, is_open, read_clause

_CHANGE = re.compile(  # for lower case: a search that ignores the case takes five times as long
    r"\b(?:now(?:adays)?|these days|no longer|any ?(?:more|longer)|from now on|"
    r"from (?:today|this|next|\w+day|(?:jan|febr)uary|march|april|may|june|july|august|\w+ber)|"
    r"as of|since(?! (?:we|i|you) )|starting|instead|again|once more|restart(?:s|ed)?|by now|"
    r"at the moment|new|personal best|record|ever|already|"
    r"gone|moved|shifted|switched|changed|upgraded|updated|raised|increased|lowered|reduced|cut|replaced|renewed|extended|"
    r"postponed|pushed|bumped|scaled|doubled|halved|dropped|reached|climbed|handed over|swapped|took over|"
    r"rolled (?:out|back)|migrated|renamed|retired|grew(?! up)|outgrown|goes up|went up|up to|down to|"
    r"back (?:to|down|up|at|on|in|with)|"
    r"re(?:sized|vised|scheduled|assigned|licensed|located|negotiated|placed|places)|promoted|demoted|"
    r"passed (?:the|my|his|her|their)|"
    r"took (?:\w+ ){0,2}over|"
    r"tak(?:en|es) over|fell|rose|beat|smashed|pb|fastest|after all|set (?:[\w']+ ){1,4}to|handed|"
    r"went down|grown|got (?:married|engaged|divorced)|rewrote|rewritten|ported|converted|traded|ramped|"
    r"finished rolling|withdrew|rejected|extension|left|quits?|stopped|gave up|paid|settled|fixed|"
    r"repaired|resolved|healed|ruled out|elected|appointed|enabled|disabled|"
    r"turned (?:on|off)|merged|hired|rebooked|relicensed|rebranded|"
    r"(?:put|brought) (?:[\w']+ ){1,3}(?:up|down|forward)|came (?:down|up|off)|weighed in|hit|passed|topped|improved|"
    r"changes?|approved|granted|signed|expired|stepped down|resigned|gave .{1,20} back|"
    r"(?:made|gave|given) way|emigrated|downgraded|trimmed|capped|lent|"
    r"cancell?ed|joined|started|sold|broke up|took .{1,30} off)\b"
)
_ENDED = re.compile(
    r"(?i)(?<!\bbe )\b(?:(?P<parted>left|quit|broke up|split up|moved (?:back|away|out)|withdrew|resigned)|"
    r"cancell?ed|sold(?! out)|closed|retired|gone|stopped|replaced|traded(?! (?:it )?in on)|"
    r"dropped|rejected|switched off|"
    r"took .{1,20} off|outgrown|gave up)\b"
)
"""Words for an end; after `parted`, the thing goes on without the person."""
_LABEL = re.compile(r"(\w+): ")
"""The speaker of words without a subject: "Maya: Never been there."."""
_DIGITS = re.compile(r"\d+")
_BEFORE, _AFTER = 25, 30
"""Characters around the words of an end in which the name of the ended thing stands."""
_MOST_NUMBERS = 2
_MOST_NAMES = 8
"""A statement with more numbers or names is a list or a plan."""
_BESIDE = (-1, 1, 2)
"""Places of the word that may be the unit of a number: "Python 3.12", "29 dollars", "1,000 requests"."""


@lru_cache(maxsize=8192)  # a pass compares each statement with many others
def tells_change(text: str) -> bool:
    """Return True if a statement says that something is new or has ended."""
    return _CHANGE.search(text.lower()) is not None


def changes(newer: Reading, older: Reading, meaning: MeaningOf | None) -> bool:
    """Return True if `newer`, which was said later, says that `older` no longer holds.

    meaning: the model, if it may be asked. Its answer belongs to the evidence that decides about plain statements;
    the rules decide about others, about weak evidence, and without a model. With a model, a statement that is longer
    than those from which it learned neither ends another one nor is ended.
    """
    before, after = map(read, with_user_for_speaker(older.text, newer.text))
    if meaning and max(len(before.text), len(after.text)) > LEARNED_CHARACTERS:
        return False
    first, second = speakers_of(older.text), speakers_of(newer.text)
    by_others = bool(first and second) and first.isdisjoint(second)
    plain, was_change, is_change = are_plain(before, after), tells_change(before.text), tells_change(after.text)
    told = meaning(before.text, after.text) if meaning and plain and not by_others and not is_open(after.text) else None
    if told is not None:
        ended = ends(before, after, told, was_change=was_change, is_change=is_change, speakers=Speakers(first, second))
        if ended is not None:
            return ended
    says = plain and _says_plainly(before, after, was_change=was_change, is_change=is_change, by_others=by_others)
    if says or not is_change:
        return says
    if plain and not by_others and succeeds(before, after, was_change=was_change):
        return True
    labels = (found[1] for text in (before.text, after.text) if (found := _LABEL.match(text)))
    speakers = {speaker.lower() for speaker in (*first, *second, *labels)} | {"user"}
    return (plain and _measures_anew(before, after)) or is_over(before, after) or _ends_what(before, after, speakers)


def _says_plainly(older: Reading, newer: Reading, *, was_change: bool, is_change: bool, by_others: bool) -> bool:
    if not is_change:
        return becomes(older, newer) or restates_owned(older, newer)
    if moves_on(older, newer, was_change=was_change) or _speaks_anew(older, newer, by_others=by_others):
        return True
    return restates(older, newer, was_change=was_change) and not are_other_things(older, newer)


def _speaks_anew(older: Reading, newer: Reading, *, by_others: bool) -> bool:
    """Return True if the newer one names the thing of the older one, and each gives a value of one kind that the other
    lacks. Names and identifiers are of one kind, but prove nothing beside other values, about an event, or if two
    people speak.
    """
    if "?" in newer.text or is_open(newer.text) or adds(newer.text):
        return False
    mine, its = own_kinds(older, newer), own_kinds(newer, older)
    if not mine & its - {"name"}:
        is_state = is_present(older) or tells_change(older.text)
        if by_others or not is_state or not (len(mine) == len(its) == 1 and _are_designations(mine | its)):
            return False
    return names_thing(older, newer)


def _are_designations(kinds: Iterable[str]) -> bool:
    return all(kind in {"name", NUMBER} or kind.startswith("id ") for kind in kinds) and OF_VERSION not in kinds


def _measures_anew(older: Reading, newer: Reading) -> bool:
    """Return True if both name the subject of the older one, and give another number of one unit or another identifier
    of one form.
    """
    subject = older.doer.stems - {"user"}
    if (
        not (subject - older.doer.names) & set(read_clause(older.text).topic)
        or not subject <= newer.distinct_stems
        or is_open(newer.text)
    ):
        return False
    if any(len(r.quantities) > _MOST_NUMBERS or len(r.names) > _MOST_NAMES for r in (older, newer)):
        return False
    if _identifies_anew(older, newer):
        return True
    before, after = _numbers(older.tokens), _numbers(newer.tokens)
    return any(unit in after and numbers.isdisjoint(after[unit]) for unit, numbers in before.items())


def _identifies_anew(older: Reading, newer: Reading) -> bool:
    before, after = identifiers_of(older.tokens), identifiers_of(newer.tokens)
    if len(before) != 1 or len(after) != 1 or before == after or adds(newer.text):
        return False
    one, other = (_DIGITS.sub("0", next(iter(found))) for found in (before, after))
    return one == other


def _numbers(tokens: Sequence[Token]) -> dict[str, set[str]]:
    """Return the numbers of a statement by the words beside them."""
    found: dict[str, set[str]] = {}
    for at, token in enumerate(tokens):
        if token.kind in {"number", "time"}:
            for beside in _BESIDE:
                if 0 <= at + beside < len(tokens) and tokens[at + beside].kind in {"word", "name"}:
                    found.setdefault(tokens[at + beside].stem, set()).add(token.lemma)
    return found


def _ends_what(older: Reading, newer: Reading, speakers: set[str]) -> bool:
    """Return True if the newer one says that a named thing has ended, and the older one states something about it."""
    words = newer.text.lower()
    end = _ENDED.search(words)
    if end is None or not (is_present(older) or tells_change(older.text)):
        return False
    around = words[max(0, end.start() - _BEFORE) : end.end() + _AFTER]
    # A person of whom both tell has not ended.
    things = older.names & newer.names - (older.doer.names & newer.doer.names) - speakers
    if end["parted"]:
        kept = frozenset() if are_two_subjects(older, newer) else things - older.doer.stems
        things = things & newer.doer.names | kept
    return any(re.search(rf"\b{re.escape(thing)}\b", around) for thing in things)
