"""What people and agents say in other languages than English that is worth keeping, by the signals of a data file.

sentences → signals → a score → keep or drop → type → the sentence as it was said, behind its speaker's name.

Nothing is put into the third person: a sentence stays as it was said. One that needs the sentence before it is kept
together with that one, and a short answer together with its question.

Must not know: the words of any language.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from slowwave_server.domain.extraction.languages import Language, weights
from slowwave_server.domain.extraction.languages.splitting import clauses, sentences
from slowwave_server.domain.extraction.speech import Speech
from slowwave_server.domain.noise import without_machinery
from slowwave_server.domain.redaction import redact

PASTED = 700
"""Characters. In a longer turn only what is said in the first person counts as the speaker's own."""
MAX_JOINED = 400
MAX_QUESTION = 160
MAX_OUTCOMES = 4
SHORT_WORDS, SHORT_LETTERS = 3, 6
"""A sentence below these says little by itself, in a language with spaces and in one without."""
ANSWER_WORDS, ANSWER_LETTERS = 8, 16
"""An answer up to these is read together with its question."""

_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Z0-9-]*\d)(?=[A-Z0-9-]*[A-Z])[A-Z0-9][A-Z0-9-]{2,40}(?![A-Za-z0-9])|#\d+|`[^`\n]{2,60}`|"
    r"[\w.+-]{1,60}@[\w-]{1,60}\.\w|\b[\w-]{1,60}\.(?:py|js|ts|md|json|ya?ml|toml|sql|csv|pdf|txt|html|docx?|xlsx?)\b"
)
_QUOTED = re.compile(r"[\"«「『“„][^\"»」』”“\n]{2,80}[\"»」』”“]")
_NAME = re.compile(r"(?<=[\w,;:)] )[A-ZÀ-ÖØ-Þ][^\W\d_]{2,}")
_LATIN = re.compile(r"[A-Za-z]{2,}|さん|先生|先輩|くん|ちゃん")
_NUMERAL = re.compile(r"\d|[一二三四五六七八九十百千万两]+(?:[个個人只匹岁歳年月日号時点分万元円块件次回本杯公]|$)")
_ASKS = re.compile(r"[?？][\"'»”」)）]*$")
_LETTERS = re.compile(r"[^\W\d_]")
_STANDING = frozenset(("always", "directive"))


@dataclass(frozen=True, slots=True)
class Kept:
    """A sentence as it was said, with its signals. asked: the question that it answers."""

    said: str
    fired: tuple[str, ...]
    score: float
    asked: str | None = None


def kept(speech: Speech, text: str, language: Language, *, to_agent: bool) -> list[Kept]:
    """The sentences of a turn that are worth keeping, in order."""
    parts = list(sentences(text, language))
    if to_agent and speech.is_agent:
        return [one for part in parts if (one := _outcome(part, language)) is not None][:MAX_OUTCOMES]
    reader = _Reader(language, to_agent=to_agent, pasted=len(text) > PASTED)
    return reader.person(parts, _question(speech, language))


def score(fired: Sequence[str]) -> float:
    """How much speaks for keeping a sentence with these signals; topics count once in full and once in half."""
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

    def person(self, parts: Sequence[str], asked: str | None) -> list[Kept]:
        found: list[Kept] = []
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
            before = None if "question" in one.fired else (part, passes)
        return found

    def read(self, part: str, *, answers: bool = False) -> Kept:
        fired = signals(part, self.language, to_agent=self.to_agent, implied=not self.pasted)
        fired = (*fired, "answers") if answers else fired
        odds = score(fired)
        if self.pasted and not {"first_person", "standing", "remember"} & set(fired):
            odds = min(odds, 0.0)
        return Kept(part, fired, odds)

    def joined(self, first: Kept, second: Kept) -> Kept:
        """One memory of two neighbours of which the second needs the first; a reaction adds nothing."""
        if {"question", "request", "reaction", "short"} & set(second.fired):
            return first
        fired = tuple(dict.fromkeys((*first.fired, *(name for name in second.fired if name != "dangling"))))
        return replace(first, said=_beside(first.said, second.said, self.language), fired=fired)

    def after(self, before: str, one: Kept) -> Kept:
        """A sentence together with the one before it, which was not kept by itself."""
        fired = tuple(name for name in one.fired if name != "dangling")
        first = signals(before, self.language, to_agent=self.to_agent, implied=False)
        if len(before) + len(one.said) > MAX_JOINED or {"question", "request"} & set(first):
            return one
        both = tuple(dict.fromkeys((*fired, *(name for name in first if name not in {"short", "dangling"}))))
        return Kept(_beside(before, one.said, self.language), both, score(both))

    def answer(self, one: Kept, asked: str) -> Kept:
        """A short answer with its question, if the answer alone would not say what it is about."""
        least, most = (ANSWER_WORDS, ANSWER_WORDS) if self.language.spaced else (ANSWER_LETTERS, ANSWER_LETTERS)
        if {"question", "request", "reaction", "hedge"} & set(one.fired) or length(one.said, self.language) > most:
            return one
        bare = without_lead(one.said, self.language)
        if not _LETTERS.search(bare) and not _NUMERAL.search(bare):
            return one
        stands = {"first_person", "standing", "remember"} & set(one.fired) and one.score >= weights().threshold
        if stands and length(one.said, self.language) >= least // 2:
            return one
        of_question = signals(asked.rstrip("?？ "), self.language, to_agent=False, implied=False)
        topics = [name for name in of_question if name in weights().topics or name in {"taste", "deadline", "state"}]
        both = tuple(dict.fromkeys((*(name for name in one.fired if name != "short"), *topics, "answered")))
        return Kept(one.said, both, score(both), asked=asked)

    def own_clauses(self, sentence: str) -> Kept:
        """What a sentence says before or after its question or request: "Ich bin Veganerin, kannst du …?"."""
        whole = self.read(sentence)
        if not {"question", "request"} & set(whole.fired):
            return whole
        parts = clauses(sentence)
        for cut in range(len(parts) - 1, 0, -1):
            head, tail = "".join(parts[:cut]).rstrip(" ,;:，；、："), "".join(parts[cut:]).strip()
            for part in (head, tail):
                one = self.read(part)
                if one.score >= weights().threshold and not {"question", "request", "dangling"} & set(one.fired):
                    return one
        return whole


def signals(sentence: str, language: Language, *, to_agent: bool, implied: bool = True) -> tuple[str, ...]:
    """The names of the signals that fire in a sentence, in a fixed order."""
    bare = without_lead(sentence, language)
    low = bare.lower()
    fired = {name for name in language.signals if name != "lead" and language.has(name, low)}
    if bare != sentence and not language.has("reaction", low):
        fired.discard("reaction")
    if to_agent and fired >= _STANDING and "self_habit" not in fired:
        fired.add("standing")
    if not to_agent:
        fired -= {"standing", "request"}
    if _ASKS.search(sentence):
        fired.add("question")
    if {"standing", "remember"} & fired:
        fired -= {"request", "dangling", "only_you"}
    you = "second_person" in fired
    if implied and language.implied_self and not you and not {"question", "request", "dangling"} & fired:
        fired.add("first_person")
    if you and "first_person" not in fired:
        fired.add("only_you")
    fired |= _shape(bare, language)
    known = weights().signals
    return tuple(name for name in known if name in fired)


def without_lead(sentence: str, language: Language) -> str:
    """A sentence without the greetings, thanks and yes or no that open it."""
    bare, lead = sentence, language.signals["lead"]
    for _ in range(4):
        match = lead.match(bare.lower())
        if match is None or not match.end():
            break
        bare = bare[match.end() :].lstrip(" ,.!;:-–—…、，。！")
    return bare


def length(text: str, language: Language) -> int:
    """Words, or letters in a language without spaces."""
    return len(text.split()) if language.spaced else sum(one.isalnum() for one in text)


def _shape(bare: str, language: Language) -> set[str]:
    holds = {
        "digit": _NUMERAL.search(bare) is not None,
        "identifier": _IDENTIFIER.search(bare) is not None,
        "quoted": _QUOTED.search(bare) is not None,
        "name": (_NAME if language.spaced else _LATIN).search(bare) is not None
        and (language.capital_names or not language.spaced),
        "short": length(bare, language) < (SHORT_WORDS if language.spaced else SHORT_LETTERS),
    }
    return {name for name, held in holds.items() if held}


def _outcome(sentence: str, language: Language) -> Kept | None:
    """What an agent says that was done, with an identifier, an amount or a date."""
    low = sentence.lower()
    if _ASKS.search(sentence) or not language.has("outcome", low) or language.has("pending", low):
        return None
    shape = _shape(sentence, language)
    if not {"digit", "identifier", "quoted"} & shape:
        return None
    fired = ("outcome", *sorted(shape & {"digit", "identifier", "quoted", "name"}))
    return Kept(sentence, fired, score(fired))


def _question(speech: Speech, language: Language) -> str | None:
    """The question that another speaker asked last, if a turn begins with its answer."""
    if speech.before is None:
        return None
    heard = list(sentences(without_machinery(redact(speech.before[-1000:]).text), language))
    if not heard or len(heard[-1]) > MAX_QUESTION:
        return None
    return heard[-1] if _ASKS.search(heard[-1]) or language.has("question", heard[-1].lower()) else None


def _beside(first: str, second: str, language: Language) -> str:
    return f"{first} {second}" if language.spaced else first + second
