"""Decide whether a later statement says that something in an earlier one has ended or changed.

A person gives a thing up, withdraws a denial, begins another job or takes over a role; or a thing leaves a passing
state ("is being packed", "was delivered").
"""

import re
from functools import lru_cache

from slowwave_server.domain.similarity.judge import are_two_subjects
from slowwave_server.domain.similarity.lexicon import parts_of_speech, stem
from slowwave_server.domain.similarity.reading import Reading
from slowwave_server.domain.similarity.restating import adds
from slowwave_server.domain.similarity.tokens import Token
from slowwave_server.domain.similarity.topics import ROLES, is_open, read_clause, subject_of

_GIVEN_UP = re.compile(
    r"\b(?:stop(?:s|ped)|quits?|gave up|given up|cancell?ed|sold(?! out)|dropped|dumped|ditched|traded(?: in)?|"
    r"got rid of|"
    r"gave away|handed back|done with|finished with|"
    r"replaced|(?:took|taken) (?:[\w']+ ){0,2}off|withdrew (?:[\w']+ )?from|"
    r"(?:switched|moved|changed|migrated|upgraded|took over|taken over) (?:[\w'-]+ ){0,5}?from)\s+"
    r"(?:(?:with|doing|taking|using|learning|playing|eating|drinking|going to|the|a|an|my|our|his|her|their|user's|"
    r"old)\s+){0,3}(?P<thing>[\w.@/-]*\w)"
)
"""Words with which somebody gives up a thing, up to the thing."""
_GONE = re.compile(
    r"(?P<thing>[\w.@/-]*\w) (?:(?:is|are|was|were|has been|have been) (?:now )?(?:being )?(?:frozen|deprecated|"
    r"decommissioned|discontinued|shut down|phased out|switched off|gone|obsolete)|(?:has |have )?(?:made|given?|gave) "
    r"way (?:to|for))\b"
)
_STATIONS = (
    (
        re.compile(
            r"(?i)\b(?:work(?:s|ing)? (?:as|at|for|in|like|with)|employed (?:at|by)|job is|job at|"
            r"(?:is|am) an? [\w -]+ (?:at|for|with) (?-i:[A-Z])|started (?:[\w ]{1,20} )?as an?)"
        ),
        re.compile(
            r"(?i)\b(?:new (?:job|position|employer)|start(?:s|ed) (?:to work|working|work|a job|as an?)|"
            r"now works? (?:as|at|for)|works? (?:as|at|for) .{1,40} now|changed jobs?|was hired|retired|laid off|"
            r"joined [\w ]{2,30} as|handed in (?:[\w']+ ){1,3}(?:badge|notice)|promoted to|"
            r"quits? (?:the |\w+'s )*job)\b"
        ),
    ),
    (
        re.compile(
            r"(?i)\b(?:goes to|attends?|is at|studies at|go to) .{0,40}\b(?:school|college|university|kindergarten)\b"
        ),
        re.compile(
            r"(?i)\b(?:start(?:s|ed)|moved|switched|transferred|changed|enrolled|now|new)\b"
            r"(?!.{0,40}\b(?:music|dance|driving|evening|language|summer|sunday|art|riding) school)"
            r".{0,40}\b(?:school|college|university|kindergarten)\b"
        ),
    ),
    (
        re.compile(
            r"(?i)\b(?:lives?|living|reside[sd]?|based|home is|address is|moved to|ship .{0,30}to|deliver .{0,30}to|"
            r"(?:front )?door is at)\b"
        ),
        re.compile(
            r"(?i)\b(?:new (?:\w+ )?address|moved (?:house|home|flat)|moved to (?=(?-i:[A-Z]))|relocated to|"
            r"now lives? (?:in|at)|(?:lives?|living|find the user) (?:in|at) .{1,40} (?:now|these days))\b"
        ),
    ),
    (
        re.compile(
            r"(?i)\b(?:call|reach|phone|text|ring) .{0,20}(?:on|at) \+?\d|\b(?:phone|mobile|cell)\b.{0,20} is\b"
        ),
        re.compile(r"(?i)\b(?:new|changed) (?:\S+ ){0,2}(?:phone|mobile|cell|number)\b"),
    ),
    (
        re.compile(r"(?i)\b(?:write|mail|e-?mail|address|reach)\b.{0,40}\S@\S|@\w+\.\w+"),
        re.compile(r"(?i)\bnew (?:\S+ )?e-?mail\b|\b(?:e-?mail|write) .{0,30}@.{0,40}\b(?:from now on|instead|now)\b"),
    ),
    (
        re.compile(r"(?i)\b(?:engaged|dating|seeing|single|in a relationship|living with)\b"),
        re.compile(r"(?i)\b(?:got (?:married|engaged)|been (?:seeing|dating))\b"),
    ),
    (
        re.compile(r"(?i)\b(?:engaged|dating|seeing|in a relationship|married|living with)\b"),
        re.compile(
            r"(?i)\b(?:got divorced|broke up|split up|divorced|single now|single again|been (?:seeing|dating))\b"
        ),
    ),
)
"""What a person has one of at a time (work, school, home, telephone, e-mail, partner): having one, and getting another.
"""
_OF_PERSON = frozenset(
    stem(word) for word in "home address number phone mobile job place flat mail e-mail order parcel letter".split()
)
_RETURNED = re.compile(
    r"\b(?:gave|brought|took|sent|handed|paid) (?:the|my|his|her|our|their|\w+'s) (?P<thing>\w+) back\b"
)
_NO_LONGER = re.compile(
    r"(?i)\bno longer\b(?P<after>.*?)(?:[,;:.(]|\b(?:since|because|but|so|after|when|now|as)\b|$)|"
    r"(?:\b(?:not|never|no)|n't)\b(?P<before>[^,;:.(]*)\bany ?(?:more|longer)\b"
)
"""Words after which something is over, with what is over."""
_WORD = re.compile(r"[\w'.@/-]*\w")
_HELD = frozenset(stem(word) for word in "get have need own take use".split())
"""Verbs that add nothing to the name of the thing that is over: "no longer uses Jenkins"."""
_AFTER_ALL = re.compile(r"(?i)\bafter all\b")
_TOLD_ANEW = re.compile(r"(?i)\b(?:again|outgrown|cleared|lifted|after all)\b")
_MOST_TOLD = 8
_PASSING = re.compile(
    r"(?i)\b(?:(?:is|are) (?:still |now |currently )?(?:being \w+|waiting|awaiting|pending|open|scheduled|blocked|"
    r"stuck|"
    r"in (?:progress|review|transit|negotiation|development|production|preparation|draft|the queue)|under \w+|"
    r"on (?:hold|its way|the way|order)|out for \w+)|(?:has|have) (?:left|been (?:sent|shipped|\w+ed))|awaits)\b"
)
_BECAME = re.compile(
    r"(?i)\b(?:has|have|was|were|is|are|got) (?:now |already |finally |just |been )*"
    r"(?:\w{2,}ed|left|won|lost|sent|paid|done|gone|built|sold|ready|over|live|out)\b"
)
_NOW = frozenset("am is are has have 's 'm 're can may must".split())
_ONCE = frozenset(("was", "always"))
_MOST_NAMES = 4
_MOST_AFTER = 10


def moves_on(older: Reading, newer: Reading, *, was_change: bool) -> bool:
    """Return True if `newer`, which tells of a change, says that something of `older` is over.

    was_change: True if `older` tells of a change, too.
    """
    if _gives_up(older, newer, was_change=was_change):
        return True
    return any(rule(older, newer) for rule in (becomes, _allows_anew, _begins_anew, _succeeds))


@lru_cache(maxsize=8192)
def is_passing(text: str) -> bool:
    """Return True if a statement tells of a state that something passes through on its way to an end."""
    return _PASSING.search(text) is not None


@lru_cache(maxsize=8192)
def is_present(reading: Reading) -> bool:
    """Return True if a statement is about the present, not about the past."""
    verb = next((token for token in reading.tokens[reading.clause.end :] if token.kind != "negator"), None)
    if verb is None or verb.lower in _NOW:
        return verb is not None or not any(map(_is_past, reading.tokens))  # "the user also moved" has no verb here
    is_base = verb.lower == verb.lemma and parts_of_speech(verb.lemma).startswith("v")
    return is_base or (verb.lower.endswith("s") and verb.lower not in _ONCE)


def _is_past(token: Token) -> bool:
    inflected = token.lower != token.lemma and not token.lower.endswith(("ing", "s"))
    return token.kind == "word" and inflected and parts_of_speech(token.lemma).startswith("v")


def _gives_up(older: Reading, newer: Reading, *, was_change: bool) -> bool:
    """Return True if the newer one says that its speaker gave up a thing of which the older one tells, or no
    longer has it.
    """
    if older.negated or are_two_subjects(older, newer):
        return False
    words, shared = newer.text.lower(), older.distinct_stems & newer.distinct_stems
    over = (found["thing"] for gone in (_GONE, _RETURNED) for found in gone.finditer(words))
    if any(stem(thing) in shared and len(shared) > 1 for thing in over):
        return True
    things = {stem(found["thing"]) for found in _GIVEN_UP.finditer(words)} & older.distinct_stems - older.doer.stems
    doer = older.doer.stems
    is_same = not doer or "user" in doer or not doer.isdisjoint(newer.distinct_stems)
    return bool(things) and is_same and (is_present(older) or was_change)


def _allows_anew(older: Reading, newer: Reading) -> bool:
    """Return True if one statement denies the other one about the same person: "can't eat eggs", "can again"."""
    turned = _AFTER_ALL if newer.negated else _TOLD_ANEW
    if older.negated == newer.negated or turned.search(newer.text) is None or are_two_subjects(older, newer):
        return False
    nouns = ({one.stem for one in r.content if parts_of_speech(one.lemma).startswith("n")} for r in (older, newer))
    who = (older.names | older.doer.names) & (newer.names | newer.doer.names | newer.distinct_stems)
    return bool(who) and not (set.intersection(*nouns) <= older.doer.stems) and len(older.content) <= _MOST_TOLD


def is_over(older: Reading, newer: Reading) -> bool:
    """Return True if `newer` says that something is no longer so, and `older` states all of it.

    Who no longer works at Siemens no longer "works at Siemens as an engineer". Who no longer drinks coffee at work may
    still "work", and may still drink coffee.
    """
    found = _NO_LONGER.search(newer.text)
    if found is None or older.negated or are_two_subjects(older, newer):
        return False
    words = set(_WORD.findall((found["after"] or found["before"] or "").lower()))
    over = {token.stem for token in newer.content if token.lower in words} - _HELD
    is_same = not older.doer.stems.isdisjoint(newer.doer.stems) or over <= older.names
    return bool(over) and is_same and over <= older.distinct_stems


def _begins_anew(older: Reading, newer: Reading) -> bool:
    """Return True if one person has a job, a home … in the older one, and another one in the newer one."""
    if not _people(older) & _people(newer):
        return False
    return any(having.search(older.text) and beginning.search(newer.text) for having, beginning in _STATIONS)


@lru_cache(maxsize=8192)
def _people(reading: Reading) -> frozenset[str]:
    """Return the names of the people of whom a statement tells; none if it tells of somebody's assistant."""
    head, text = reading.doer.head, reading.text.lower()
    if "user's " in text and head not in _OF_PERSON and re.search(rf"\buser's (?:[\w-]+ )?{re.escape(head)}", text):
        return frozenset()
    is_speaker = "user" in reading.distinct_stems or reading.text.startswith(("We ", "We'", "Our "))
    return reading.doer.names | {"user"} if is_speaker else reading.doer.names


def _succeeds(older: Reading, newer: Reading) -> bool:
    """Return True if `newer` names the person of `older` and the one who follows in the same role."""
    before, after = read_clause(older.text), read_clause(newer.text)
    shared = set(before.topic) & set(after.topic)
    names = [{one.same for one in said.values if one.kind == "name"} for said in (before, after)]
    return (
        bool(names[0])
        and names[0] < names[1]
        and not ROLES.isdisjoint(shared)
        and max(map(len, names)) <= _MOST_NAMES
        and not adds(newer.text)
        and not is_open(newer.text)
        and not any(re.search(rf"(?i)\b{re.escape(name)}\w* and (?:[A-Z]|also)", newer.text) for name in names[0])
    )


def becomes(older: Reading, newer: Reading) -> bool:
    """Return True if `older` gives a passing state of a certain thing, and `newer` its next state."""
    if not is_passing(older.text):
        return False
    before = read_clause(older.text)
    subject = subject_of(older) & set(before.topic)
    is_certain = older.clause.definite and len(subject) > 1 and "user" not in older.doer.stems
    is_identified = not subject.isdisjoint({one.same for one in before.values}) or subject == (
        subject_of(newer) & set(read_clause(newer.text).topic)
    )
    return (
        is_certain
        and is_identified
        and subject <= set(read_clause(newer.text).topic)
        and _BECAME.search(newer.text) is not None
        and not any(is_open(one.text) for one in (older, newer))
        and older.distinct_stems != newer.distinct_stems
        and len(newer.content) <= _MOST_AFTER
    )
