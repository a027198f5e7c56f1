"""Recognise a plain fact: a statement that gives a value of a thing, a place or a person.

"List price of the X200 sensor: 149 EUR", "You can reach me on 555-0134", "Dana is on call for payments", "Raised the
quota to 2,500": a person who tells an agent only this wants the agent to remember it. Such sentences have few of the
signals by which other statements are weighed.
"""

import re
from collections.abc import Sequence

from slowwave_server.domain.extraction.acts import act_of
from slowwave_server.domain.extraction.machine_text import is_machine_text
from slowwave_server.domain.extraction.sentences import sentences
from slowwave_server.domain.extraction.standalone import is_about_talk, is_dangling, is_unreal, names_nobody
from slowwave_server.domain.similarity import read, tells_change
from slowwave_server.domain.similarity.clause import AUXILIARIES
from slowwave_server.domain.similarity.lexicon import lemma, parts_of_speech
from slowwave_server.domain.similarity.tokens import Token
from slowwave_server.domain.similarity.topics import is_person

PLAIN = "plain"
"""The signal of a plain fact."""
MOST_WORDS = 24
_OPENER = re.compile(
    r"(?i)^(?:(?:fyi|heads[- ]up|(?:please )?note(?: that)?|for the record|just so you know|by the way|btw|update|"
    r"would you believe it|guess what|(?:big|good|bad|great) news|ok|okay|anyway|finally|oh|well)\b[\s,:!-]*)+"
)
_WHEN = re.compile(
    r"(?i)^(?:(?:starting|as of|from|since|effective|until|these days|nowadays|now|currently|today|yesterday|tonight|"
    r"last \w+|this \w+|next \w+|on \w+day)\b[\w ]{0,20}?,? (?=(?-i:[A-Z])|(?:the|our|my|his|her|their|i|we)\b))"
)
_LABEL = re.compile(
    r"(?P<label>[\w/][\w/.'&-]*(?: [\w/.'&()-]+){1,7}): "
    r"(?P<value>(?:\S+ ){0,3}\S*[\d%@]\S*(?: \S+){0,3}|[A-Z][\w.'-]+(?: [A-Z][\w.'-]+)?(?: (?:until|from|"
    r"since) .{1,30})?)"
    r"[.!]?"
)
"""A line such as "Billing contact: Ada Berg"."""
_CONTACT = re.compile(
    r"(?i)\b(?:reach|call|phone|text|ring|page|ping|contact|e-?mail|mail|write(?: to)?|find) (?:me|us|him|her|them|"
    r"[A-Z]\w+)"
    r" (?:\w+ )?(?:on|at|under|via|through|by) \S*[\d@/.]\w|\b(?:mail|write|send [\w ]{1,30}) to \S+@\w"
)
_VALUE = re.compile(
    r"\d|(?<=\w )(?!I\b|[A-Z]{2}\b)[\"']?[A-Z][\w'-]|\w[@_./]\w|\b[a-z]+-[a-z]*\d|%|"
    r"\b(?:once|twice|two|three|four|five|six|seven|eight|nine|ten|twelve|noon|midnight)\b"
)
_ADVERBS = re.compile(
    r"(?i)\b(?:now|no longer|still|again|also|currently|already|only|just|recently|always|usually|officially) (?=\w)"
)
_HABIT = re.compile(
    r"(?i)(?:i|we) (?:can|have|get|take|use|drink|eat|smoke|earn|owe|pay|own|drive|wear|sleep|run|keep|buy|rent|bank|"
    r"play|swim|ride|follow|commute|weigh)\b(?! to\b)"
)
"""The speaker's habits and possessions: "I take 20 mg of lisinopril"."""
_CERTAIN = re.compile(r"(?i)(?:the|our|my|his|her|their|mum|mom|dad|grandma|grandpa)\b|\w+'s ")
"""The beginning of a subject that is a certain one."""
_SETS = re.compile(
    r"(?i)(?:please |kindly )?(?:change|update|set|switch|correct) (?:my|our) (?:[\w-]+ ){1,5}(?:from .{2,30} )?to \S"
)
"""An order that gives a value of something that the speaker has."""
_CHANGED = re.compile(
    r"(?i)^(?:we |i )?(?:have |just |finally |'ve )*(?:\w{3,}ed|set|cut|put|got|took|sold|left|beat|ran|"
    r"went|rewrote|rebuilt|chose|bought|brought|gave|made)\b.{0,60}\b"
    r"(?:to|from|by|at|with|over|on|in|up|for)\b"
)
"""A change without its subject: "Bumped the timeout to 30 seconds"."""
_BY_SPEAKER = re.compile(r"(?i)(?:i|we)\b(?!'m| am| are|'re)")
_TELLS = frozenset(("report", "correct", "accept", "chat"))
_NOT_PLAIN = re.compile(
    r"(?i)\b(?:i think|i guess|i feel|i believe|sounds?|seems?|thanks?|thank you|hello|sorry|lol|haha|need|want you|"
    r"can (?:you|i|we)|should (?:i|we)|will you|tell me|show me|give me|help|let's|lets|please|wish|hope|would|could|"
    r"gibe me|right ans(?:wer)?|your (?:own )?(?:answer|thoughts)|"
    r"might|if|wonder\w*|what|"
    r"how|why|want to|have to|going to|trying|looking (?:for|to)|we can|resume|ready|will (?!be)|like|"
    r"back to you)\b"
)
_QUOTED = re.compile(r"[\"\u201c][^\"\u201c\u201d]+[\"\u201d]\W?")
"""Another's words, or the message of a program."""
_LONGEST = 6
"""The most words of a subject before a verb other than an auxiliary."""
_VERBS = frozenset("cost run work start use lead own host need cover report end close open weigh last eat".split())
"""Verbs that are more often nouns."""
_WE_ARE = re.compile(r"(?i)(?:we|i)['\u2019](?:re|m) (?:on|in|at|with|from)\b")
_ORDER = re.compile(r"(?i)(?:now |then |next |also |please |kindly )+[a-z]+ (?:an?|the|me|us|my|your|this|these|that) ")
_NO_SUBJECT = re.compile(
    r"(?i)(?:an?|some|every|any|is|are|was|were|does|do|did|has|have|can|\w+ed|\w+ing(?! is | are )) "
)
_POINTS = frozenset(
    "it this that these those he she they there here you one everything something which what who someone nobody "
    "where when".split()
)
_OF_SPEAKER = frozenset(("user", "i", "we"))


def plain_facts(text: str) -> list[str]:
    """Return the sentences of a turn that state a plain fact; none if the turn asks for anything."""
    parts = list(sentences(text))
    found = [one for one in parts if is_plain_fact(one)]
    return found if all(_only_tells(one) for one in parts if one not in found) else []


def only_tells(text: str) -> bool:
    """Return True if a turn asks for nothing, guesses nothing and needs no other turn to be understood."""
    parts = list(sentences(text))
    is_clear = not any(is_dangling(one) or names_nobody(one) for one in parts[:1])
    return is_clear and all(map(_only_tells, parts))


def _only_tells(sentence: str) -> bool:
    return act_of(sentence, by_agent=False) in _TELLS and _NOT_PLAIN.search(sentence) is None


def is_plain_fact(sentence: str) -> bool:
    """Return True if a sentence gives a value of something that it names; False for a request, guess or reaction."""
    said = _WHEN.sub("", _OPENER.sub("", sentence)).strip()
    if not said or said.endswith(("?", ":", "\u2026")) or len(said.split()) > MOST_WORDS or is_machine_text(said):
        return False
    if _QUOTED.fullmatch(said) is not None:
        return False
    if is_contact(said) or _SETS.match(said):
        return True
    if _NOT_PLAIN.search(said) or is_unreal(said) or is_about_talk(said):
        return False
    if tells_change(sentence) and not _ORDER.match(said):
        return _states(said) or _is_label(said) or _CHANGED.match(said) is not None
    return _is_label(said) or (not _is_command(said) and _tells_certainly(said) and _states(said))


def _is_label(said: str) -> bool:
    """Return True for "Cache TTL: 300 seconds", but not for "Rewrite this title: 12 ways"."""
    first = said.split(maxsplit=1)[0].lower()
    is_order = first == lemma(first) and parts_of_speech(first).startswith("v")
    return _LABEL.fullmatch(said) is not None and not is_order


def _tells_certainly(said: str) -> bool:
    """Return True if a sentence gives a value or has a certain subject; of the speaker, it tells a habit."""
    is_certain = gives_value(said) or _CERTAIN.match(said) is not None
    return is_certain and (_BY_SPEAKER.match(said) is None or _HABIT.match(said) is not None)


def gives_value(said: str) -> bool:
    """Return True if a plain fact gives a name, a number or another certain value, or tells of a change."""
    return _VALUE.search(said) is not None or bool(read(said).doer.names - {"user"}) or tells_change(said)


def is_contact(sentence: str) -> bool:
    """Return True if a sentence gives a number or an address under which somebody is reached."""
    return _CONTACT.search(sentence) is not None


def _is_command(said: str) -> bool:
    """Return True for an order ("Rewrite this title: \u2026"), but not for "the report must be in by Monday"."""
    tokens = read(said).tokens
    first = tokens[0].lower if tokens else ""
    if first == lemma(first) and parts_of_speech(first).startswith("v"):
        return True
    return act_of(said, by_agent=False) == "instruct" and " must " not in said and _LABEL.fullmatch(said) is None


def _states(said: str) -> bool:
    """Return True if a certain thing or person is the subject of a finite verb."""
    if _WE_ARE.match(said):
        return True
    reading = read(_ADVERBS.sub("", said))
    clause, tokens = reading.clause, reading.tokens
    if not clause.definite or clause.existential or _NO_SUBJECT.match(said):
        return False
    if clause.end < len(tokens) and tokens[clause.end].lower in AUXILIARIES:
        return _names_subject(tokens[clause.start : clause.end])
    if said[0].islower() and said[-1].isalpha():
        return False
    start = clause.end if clause.end < len(tokens) else clause.start + 1
    ends = range(start, min(len(tokens), clause.start + _LONGEST + 1))
    verb = next((at for at in ends if _is_verb(tokens[at], tokens[clause.start : at])), None)
    return verb is not None and _names_subject(tokens[clause.start : verb])


def _names_subject(subject: Sequence[Token]) -> bool:
    return bool(subject) and _POINTS.isdisjoint(token.lower for token in subject)


def _is_verb(token: Token, subject: Sequence[Token]) -> bool:
    if not subject or token.kind != "word":
        return bool(subject) and token.lower in AUXILIARIES
    plural = subject[-1].lower.endswith("s") or any(one.lower in _OF_SPEAKER for one in subject)
    base = token.lower.removesuffix("s")  # "costs" is in the dictionary as a noun of its own
    if base in _VERBS:
        return base != token.lower or plural
    parts = parts_of_speech(token.lemma)
    if token.lower != token.lemma and (subject[-1].kind == "name" or is_person(subject[-1])):
        return "v" in parts
    return parts.startswith("v") and (token.lower != token.lemma or plural)
