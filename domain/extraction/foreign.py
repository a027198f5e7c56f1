"""Select statements worth keeping in languages other than English, by the signals of a data file.

sentences → signals → a score → keep or drop → type → the sentence in its original words, after its speaker's name.

No sentence is put into the third person. A sentence that depends on the previous sentence is kept together with it, and
a short answer together with its question.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from slowwave_server.domain.extraction.languages import Language, weights
from slowwave_server.domain.extraction.languages.dating import is_dated
from slowwave_server.domain.extraction.languages.shapes import (
    ASKS,
    COMMAND,
    FIGURE,
    IDENTIFIER,
    LETTERS,
    MARKS,
    NUMERAL,
    is_question,
    length,
    shape_of,
)
from slowwave_server.domain.extraction.languages.splitting import clauses, sentences
from slowwave_server.domain.extraction.speech import Speech
from slowwave_server.domain.noise import without_machinery
from slowwave_server.domain.profile import profile_of
from slowwave_server.domain.redaction import redact

PASTED = 700
"""Characters. In a longer turn, only first-person sentences count as the speaker's own."""
DOCUMENT = 2000
"""Characters. In a longer turn, only wishes and instructions count: its "I" is seldom the speaker."""
EXPLAINED = 800
"""Characters. A longer turn of an agent explains something and reports no outcome."""
MAX_JOINED = 400
MAX_QUESTION = 160
MAX_OUTCOMES = 4
REACTION_WORDS, REACTION_LETTERS = 12, 24
"""A longer sentence says more than its speaker's feelings."""
ANSWER_WORDS, ANSWER_LETTERS = 8, 16
"""An answer of at most this length is read together with its question."""

_STANDING = frozenset(("always", "directive"))
_WISHED = frozenset(("standing", "remember"))
_BY_ITSELF = _WISHED | {"answers", "answered", "deadline", "dated", "decision"}
"""Signals that make a person's sentence relevant without a first person."""
_CODE = re.compile(r"[{}<>|]")
_OFFERS = re.compile(
    r"\b(?:te gustaría|le gustaría|quieres|quiere) que\b|\b(?:veux-tu|voulez-vous|souhaites-tu|souhaitez-vous|"
    r"tu veux|vous voulez) que\b|\bsoll(?:en)? (?:ich|wir)\b|"
    r"\b(?:möchtest du|möchten sie|willst du|wollen sie), dass\b|"
    r"\b(?:gostaria|quer|queres) que\b|\b(?:vuoi|vuole|vorresti|desideri) che\b|\b(?:wil je|wilt u) dat\b",
    re.IGNORECASE,
)
"""An agent's question what to do next: its answer is an order of the moment."""
_BARE = frozenset(("first_person", "long", "short"))
_NOT_OF_PEOPLE = frozenset(("lead", "outcome", "pending"))
_PRECISE = frozenset(("digit", "identifier", "name", "quoted"))


@dataclass(frozen=True, slots=True)
class KeptSentence:
    """A sentence in its original words, with its signals. asked: the question that the sentence answers."""

    said: str
    fired: tuple[str, ...]
    score: float
    asked: str | None = None


def kept(speech: Speech, text: str, language: Language, *, to_agent: bool) -> list[KeptSentence]:
    """Return the sentences of a turn that are worth keeping, in order."""
    parts = list(sentences(text, language))
    if to_agent and speech.is_agent:
        if len(text) > EXPLAINED:
            return []
        heard = speech.before or ""
        return [one for part in parts if (one := _outcome(part, language, heard)) is not None][:MAX_OUTCOMES]
    reader = _Reader(language, to_agent=to_agent, pasted=len(text) > PASTED)
    found = reader.person(parts, _question(speech, language))
    return [one for one in found if not to_agent or _is_worth(one, len(text))]


def _is_worth(one: KeptSentence, length_of_turn: int) -> bool:
    """Return True if a person tells an agent something about themselves or their work, rather than a general truth."""
    if _CODE.search(one.said) is not None or (length_of_turn > DOCUMENT and _WISHED.isdisjoint(one.fired)):
        return False
    fired = frozenset(one.fired)
    return not (fired <= _BARE) and ("first_person" in fired or not _BY_ITSELF.isdisjoint(fired))


def score(fired: Sequence[str]) -> float:
    """Return the score of a sentence with these signals; the best topic counts in full, the second one by half."""
    known = weights()
    topics = sorted((known.signals[name].keep for name in fired if name in known.topics), reverse=True)
    others = sum(known.signals[name].keep for name in fired if name in known.signals and name not in known.topics)
    return others + sum(topics[:1]) + sum(topics[1:2]) / 2


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads a person's turn."""

    language: Language
    to_agent: bool
    pasted: bool

    def person(self, parts: Sequence[str], asked: str | None) -> list[KeptSentence]:
        found: list[KeptSentence] = []
        before: tuple[str, bool] | None = None
        for at, part in enumerate(parts):
            one = self.read(part, answers=at == 0 and asked is not None)
            if "dangling" in one.fired and before is not None:
                if before[1] and len(found[-1].said) + len(part) < MAX_JOINED:
                    found[-1] = self.joined(found[-1], one)
                    before = (part, True)
                    continue
                one = self.after(before[0], one)
            elif at == 0 and asked is not None:
                one = self.answer(one, asked)
            passes = one.score >= weights().threshold
            one = one if passes else self.own_clauses(part)
            passes = one.score >= weights().threshold
            if passes:
                found.append(one)
            elif before is not None and before[1] and self.continues(found[-1], one):
                found[-1] = self.joined(found[-1], one)
                passes = True
            before = None if "question" in one.fired else (part, passes)
        return found

    def read(self, part: str, *, answers: bool = False) -> KeptSentence:
        fired = signals(part, self.language, to_agent=self.to_agent, implied=not self.pasted)
        fired = (*fired, "answers") if answers else fired
        odds = score(fired)
        if not self.pasted and "question" not in fired and _gives_profile(part):
            fired, odds = (*fired, "profile"), max(odds, weights().threshold)
        if self.pasted and not {"first_person", "standing", "remember"} & set(fired):
            odds = min(odds, 0.0)
        return KeptSentence(part, fired, odds)

    def continues(self, kept_before: KeptSentence, one: KeptSentence) -> bool:
        """Return True if a sentence adds a figure or a name to the previous one."""
        if {"question", "request", "reaction", "hedge"} & set(one.fired):
            return False
        return bool(_PRECISE & set(one.fired)) and len(kept_before.said) + len(one.said) < MAX_JOINED

    def joined(self, first: KeptSentence, second: KeptSentence) -> KeptSentence:
        """Join two neighbouring sentences if the second depends on the first; a reaction is dropped."""
        if {"question", "request", "reaction"} & set(second.fired):
            return first
        fired = tuple(dict.fromkeys((*first.fired, *(name for name in second.fired if name != "dangling"))))
        return replace(first, said=_beside(first.said, second.said, self.language), fired=fired)

    def after(self, before: str, one: KeptSentence) -> KeptSentence:
        """Join a sentence with its predecessor, which was not kept alone."""
        fired = tuple(name for name in one.fired if name != "dangling")
        first = signals(before, self.language, to_agent=self.to_agent, implied=False)
        if len(before) + len(one.said) > MAX_JOINED or {"question", "request"} & set(first):
            return one
        both = tuple(dict.fromkeys((*fired, *(name for name in first if name not in {"short", "long", "dangling"}))))
        return KeptSentence(_beside(before, one.said, self.language), both, score(both))

    def answer(self, one: KeptSentence, asked: str) -> KeptSentence:
        """Join a short answer with its question if the answer is unclear without it."""
        most = ANSWER_WORDS if self.language.spaced else ANSWER_LETTERS
        if {"question", "request", "reaction", "hedge"} & set(one.fired) or length(one.said, self.language) > most:
            return one
        bare = without_lead(one.said, self.language)
        if not LETTERS.search(bare) and not NUMERAL.search(bare):
            return one
        stands = {"first_person", "standing", "remember"} & set(one.fired) and one.score >= weights().threshold
        if stands and length(one.said, self.language) >= most // 2:
            return one
        of_question = signals(asked.rstrip(MARKS), self.language, to_agent=False, implied=False)
        topics = [name for name in of_question if name in weights().topics or name in {"taste", "deadline", "state"}]
        if (not topics and "digit" not in one.fired) or (self.to_agent and _OFFERS.search(asked) is not None):
            return one
        both = tuple(dict.fromkeys((*(name for name in one.fired if name != "short"), *topics, "answered")))
        return KeptSentence(one.said, both, score(both), asked=asked)

    def own_clauses(self, sentence: str) -> KeptSentence:
        """Return the statement before or after a question or request: "Ich bin Veganerin, kannst du …?"."""
        whole = self.read(sentence)
        if not {"question", "request"} & set(whole.fired):
            return whole
        parts = clauses(sentence)
        for cut in range(len(parts) - 1, 0, -1):
            head, tail = "".join(parts[:cut]).rstrip(MARKS), "".join(parts[cut:]).strip()
            for part in (head, tail):
                one = self.read(part)
                if one.score >= weights().threshold and not {"question", "request", "dangling"} & set(one.fired):
                    return one
        return whole


def _gives_profile(part: str) -> bool:
    """Return True if a sentence states a profile attribute of its speaker other than a liking."""
    return any(trait.attribute != "likes" for trait in profile_of(f'Somebody: "{part}"'))


def signals(sentence: str, language: Language, *, to_agent: bool, implied: bool = True) -> tuple[str, ...]:
    """Return the names of the signals that fire in a sentence, in a fixed order."""
    bare = without_lead(sentence, language)
    low = bare.lower()
    fired = {name for name in language.signals if name not in _NOT_OF_PEOPLE and language.has(name, low)}
    if length(bare, language) > (REACTION_WORDS if language.spaced else REACTION_LETTERS):
        fired.discard("reaction")
    if to_agent and fired >= _STANDING and "self_habit" not in fired:
        fired.add("standing")
    if not to_agent:
        fired -= {"standing", "request"}
    if {"standing", "remember"} & fired:
        fired -= {"request", "dangling", "only_you", "question"}
    if ASKS.search(sentence):
        fired.add("question")
    you = "second_person" in fired
    if implied and language.implied_self and not you and not {"question", "request", "dangling"} & fired:
        fired.add("first_person")
    if you and "first_person" not in fired:
        fired.add("only_you")
    fired |= shape_of(bare, language) | ({"dated"} if is_dated(bare, language.code) else set())
    known = weights().signals
    return tuple(name for name in known if name in fired)


def without_lead(sentence: str, language: Language) -> str:
    """Return a sentence without its opening greetings, thanks, yes or no."""
    bare, lead = sentence, language.signals["lead"]
    for _ in range(4):
        match = lead.match(bare.lower())
        if match is None or not match.end():
            break
        bare = bare[match.end() :].lstrip(MARKS)
    return bare


_NUMBER_OF_THING = re.compile(r"(?=[^\d]*\d)[\w-]+")
"""An identifier with a figure, such as an order number; the name of a file or branch reports no outcome."""


def _outcome(sentence: str, language: Language, heard: str) -> KeptSentence | None:
    """Return an agent's report of work, if it has a number or an identifier that the previous turn lacks."""
    low = sentence.lower()
    if is_question(sentence, language) or language.has("pending", low) or COMMAND.search(sentence):
        return None
    shape = shape_of(sentence, language)
    named = [match.group() for match in IDENTIFIER.finditer(sentence) if _NUMBER_OF_THING.fullmatch(match.group())]
    reports = not all(name in heard for name in named)
    if language.has("past", low) or language.has("change", low):
        reports = reports or len(FIGURE.findall(sentence)) > 1
    done = language.has("outcome", low) and not shape.isdisjoint(("digit", "identifier", "quoted"))
    if not (done or reports):
        return None
    fired = ("outcome", *sorted(shape - {"short", "long"}))
    return KeptSentence(sentence, fired, score(fired))


def _question(speech: Speech, language: Language) -> str | None:
    """Return the other speaker's last question if the turn begins with its answer."""
    if speech.before is None:
        return None
    heard = list(sentences(without_machinery(redact(speech.before[-1000:]).text), language))
    if not heard or len(heard[-1]) > MAX_QUESTION:
        return None
    return heard[-1] if is_question(heard[-1], language) else None


def _beside(first: str, second: str, language: Language) -> str:
    return f"{first} {second}" if language.spaced else first + second
