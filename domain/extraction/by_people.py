"""Select people's statements worth keeping: facts about themselves and their work, standing instructions, choices."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from slowwave_server.domain.extraction import decisions, standing
from slowwave_server.domain.extraction.acts import act_of
from slowwave_server.domain.extraction.answers import statement
from slowwave_server.domain.extraction.edges import with_subject, without_vocative
from slowwave_server.domain.extraction.flaws import PERSON
from slowwave_server.domain.extraction.machine_text import is_boilerplate
from slowwave_server.domain.extraction.making import ScoredSentence, without_wish
from slowwave_server.domain.extraction.outline import listed, without_marks
from slowwave_server.domain.extraction.pasted import PASTED, own_words
from slowwave_server.domain.extraction.person import UNNAMED, third_person
from slowwave_server.domain.extraction.sentences import MAX_SENTENCE, sentences
from slowwave_server.domain.extraction.signals import Seen, signals
from slowwave_server.domain.extraction.speech import Speech
from slowwave_server.domain.extraction.standalone import (
    content_words,
    flaw,
    is_about_talk,
    is_dangling,
    is_named,
    is_unreal,
)
from slowwave_server.domain.extraction.taken_back import taken_back
from slowwave_server.domain.extraction.weights import FURTHER_THRESHOLD, THRESHOLD, keep_score
from slowwave_server.domain.noise import without_machinery
from slowwave_server.domain.profile import profile_of
from slowwave_server.domain.redaction import redact

_FIRST_PERSON = re.compile(r"\b(?:i|i'm|im|i've|ive|i'll|i'd|my|mine|me|we|we're|we've|our|ours)\b", re.IGNORECASE)
_ABOUT_WORK = frozenset(("the_x_is", "rule", "decision", "commitment", "remember", "result"))
"""Signals of a statement about a project, a rule or a date; such a statement needs no first person."""
_CALLS = (
    r"(?:my (?:guy|man|friend|dear|brother|bro|boss|lord|god)|oh my god|bro|man|dude|boss|oga|chief|ai|assistant|abeg)"
)
_VOCATIVE = re.compile(rf"^{_CALLS}\b\s?[,!.:-][\s,!.:-]*|,\s*{_CALLS}(?=[\s,]*[.!?]*$|,)", re.IGNORECASE)
_COMMAND = re.compile(r"^/[a-z][\w-]{1,30}\s+")
"""A command of the agent's shell before a person's sentence ("/ask why does it fail")."""
_UNRESOLVED = re.compile(r"\b(?:you|your|this|that|these|those|it|they|them|one|ones)\b", re.IGNORECASE)
_BEFORE_QUESTION = re.compile(
    r"^(?P<fact>(?:i'm|i am|i have|i've|my|we|our|since i|as i)\b[^?]{12,160}?)"
    r"(?:,? (?:so|and|but) (?:can|could|do|does|is|are|what|how|would|will|should|i get|that means)\b|"
    r", (?:right|correct|isn't it))",
    re.IGNORECASE,
)
SPECIFIC = 4
"""Minimum content words that make a choice specific."""
SHORT = 120
"""A turn of at most this many characters is too short to be judged by itself."""
OF_PAIR = -1.15
"""Minimum log-odds of a first-person sentence between two people.

The bound is lower than for a person who talks to an agent, because fewer such sentences are irrelevant.
"""
_OF_SELF = frozenset("food body family job home pet i_am_a my_favourite i_like".split())
_MY_PERSON = re.compile(rf"my (?:[\w-]+ ){{0,2}}?{PERSON.pattern}", re.IGNORECASE)
_ANSWERS = frozenset(("answers", "answers_about_self"))
_PASSING = frozenset("hedge hypothetical unreal i_will i_want modal".split())
_UNNAMED_OPTION = re.compile(r": (?:\w+ )?(?:with )?option #?\w+\.$", re.IGNORECASE)
_QUESTION_TAIL = 200
"""Characters at the end of a turn that are searched for a question."""


def among_people(speech: Speech, text: str) -> list[ScoredSentence]:
    """Return the sentences of a turn between people that are worth keeping."""
    parts = [without_vocative(part, speech.speaker.addressee) for part in sentences(text)]
    return _best(
        one
        for at, part in enumerate(parts)
        if (one := _answered(speech, part, first=at == 0, at_work=False) or _told(speech, part, first=at == 0))
        is not None
    )


def to_agent(speech: Speech, text: str) -> list[ScoredSentence]:
    """Return the sentences of a person's turn to an agent that are worth keeping, and the turn's agreement if any."""
    parts = [
        bare
        for part in own_words(text)
        if part[0] not in ">&"
        and not is_boilerplate(part)
        and (bare := _VOCATIVE.sub("", _COMMAND.sub("", without_marks(part))))
    ]
    heard = _heard(speech)
    kept = _best(
        one for at, part in enumerate(parts) if (one := _at_work(speech, part, heard, first=at == 0)) is not None
    )
    further = (_listed(speech, text), _settled(speech, parts, heard))
    return [*kept, *(one for one in further if one is not None)]


def is_of_self(passed: ScoredSentence) -> bool:
    """Return True if a sentence states a lasting fact about its speaker: health, food, home, work, family, taste."""
    fired = frozenset(passed.fired)
    return (
        "starts_with_i" in fired
        and not (_OF_SELF.isdisjoint(fired) and _MY_PERSON.match(passed.said) is None)
        and _PASSING.isdisjoint(fired)
        and not ("when" in fired and "proper_name" not in fired)
        and _UNRESOLVED.search(passed.said) is None
    )


def _best(found: Iterable[ScoredSentence]) -> list[ScoredSentence]:
    kept = list(found)
    best = max((one.score for one in kept), default=0.0)
    return [one for one in kept if one.score >= FURTHER_THRESHOLD or one.score == best]


def _at_work(speech: Speech, sentence: str, heard: str, *, first: bool) -> ScoredSentence | None:
    if (ended := taken_back(speech, sentence)) is not None:
        return ended
    if standing.is_instruction(sentence):
        return _instruction(speech, sentence)
    if (chosen := _chosen(speech, sentence, heard)) is not None:
        return chosen
    if (answered := _answered(speech, sentence, first=first, at_work=True)) is not None:
        return answered
    return _of_speakers(speech, sentence, first=first)


def _of_speakers(speech: Speech, sentence: str, *, first: bool) -> ScoredSentence | None:
    """Return a sentence about its speaker; one with a profile attribute (such as a name or a home) is always kept."""
    stated = _stated(speech, sentence, first=first)
    if not _gives_profile(speech, sentence):
        return stated
    return _of_profile(speech, sentence) if stated is None else replace(stated, fired=(*stated.fired, "profile"))


def _stated(speech: Speech, sentence: str, *, first: bool) -> ScoredSentence | None:
    """Return a sentence that states something about its speaker or their work."""
    act = act_of(sentence, by_agent=False)
    if act in {"ask", "instruct"} and "remember" not in signals(sentence, Seen()):
        match = _BEFORE_QUESTION.match(sentence)
        if match is None:
            return None
        sentence = match["fact"].rstrip(" ,") + "."
    fired = (*signals(sentence, Seen.after(speech.before) if first else Seen()), f"act_{act}")
    passed = ScoredSentence(sentence, fired, keep_score(fired))
    return _kept(speech, passed, at_work=True) if _of_speaker(sentence, fired, speech) else None


def _gives_profile(speech: Speech, sentence: str) -> bool:
    """Return True if a sentence states a profile attribute of its speaker other than a liking."""
    if _FIRST_PERSON.search(sentence) is None or act_of(sentence, by_agent=False) in {"ask", "instruct"}:
        return False
    found = profile_of(third_person(sentence, speech.speaker))
    name = speech.speaker.name.casefold()
    return any(trait.person == name and trait.attribute != "likes" for trait in found)


def _of_profile(speech: Speech, sentence: str) -> ScoredSentence:
    """Give a sentence with a profile attribute a score above the threshold, however short it is: "My name is Maya"."""
    fired = (*signals(sentence, Seen()), "profile")
    worded = third_person(sentence, speech.speaker)
    return ScoredSentence(worded, fired, max(keep_score(fired), THRESHOLD) + PROFILE, type="fact", worded=True)


PROFILE = 2.0
"""Log-odds above the threshold for a sentence with a profile attribute."""


def _told(speech: Speech, sentence: str, *, first: bool) -> ScoredSentence | None:
    fired = signals(sentence, Seen.after(speech.before) if first else Seen())
    if _ANSWERS.isdisjoint(fired) and _is_of_others(speech, sentence):
        return None
    if speech.in_group:
        fired = (*fired, "group")
    return _kept(speech, ScoredSentence(sentence, fired, keep_score(fired)), at_work=False)


def _is_of_others(speech: Speech, sentence: str) -> bool:
    """Return True if one of two speakers talks about something else, and has not just omitted the "I"."""
    return (
        not speech.in_group
        and speech.speaker.name != UNNAMED
        and _FIRST_PERSON.search(sentence) is None
        and with_subject(sentence, speech.speaker.name) == sentence
    )


def _answered(speech: Speech, sentence: str, *, first: bool, at_work: bool) -> ScoredSentence | None:
    """Return the statement that a short answer and its question make together."""
    if not first or speech.before is None or "?" not in speech.before[-60:]:
        return None
    asked = [part for part in sentences(redact(speech.before[-MAX_SENTENCE:]).text) if part.endswith("?")]
    told = statement(asked[-1], sentence) if asked else None
    if told is None:
        return None
    fired = (*signals(told, Seen()), "completed")
    return _kept(speech, ScoredSentence(told, fired, keep_score(fired)), at_work=at_work)


def _instruction(speech: Speech, sentence: str) -> ScoredSentence | None:
    occasion = sentence.split(",", maxsplit=1)[0] if standing.is_routine(sentence) else sentence
    if len(set(content_words(sentence))) < 2 or is_dangling(occasion):
        return None
    fired = (*signals(sentence, Seen()), "standing")
    told = standing.told(sentence, speech.speaker.name)
    return ScoredSentence(told, fired, keep_score(fired) + 4.0, type="instruction", worded=True)


def _kept(speech: Speech, passed: ScoredSentence, *, at_work: bool) -> ScoredSentence | None:
    least = THRESHOLD if at_work or speech.in_group else OF_PAIR
    if passed.score < least or passed.said.rstrip().endswith(":"):
        return None
    wished = "remember" in passed.fired
    worded = third_person(without_wish(passed.said) if wished else passed.said, speech.speaker)
    names = tuple(name for name in (speech.speaker.name, speech.speaker.addressee) if name)
    wanted = wished or (len(speech.event.content) <= SHORT and is_of_self(passed))
    impersonal = wished or not _ABOUT_WORK.isdisjoint(passed.fired)
    if flaw(worded, names=() if impersonal else names, at_work=at_work and not wanted) is not None:
        return None
    if at_work and not wanted and is_about_talk(passed.said):
        return None
    return None if at_work and not wished and is_unreal(passed.said) and "decision" not in passed.fired else passed


def _of_speaker(sentence: str, fired: tuple[str, ...], speech: Speech) -> bool:
    """Return True if a sentence to an agent is about its speaker or their work, and is neither pasted nor quoted."""
    if _FIRST_PERSON.search(sentence) is not None or not _ABOUT_WORK.isdisjoint(fired):
        return True
    return speech.before is not None and "?" in speech.before[-_QUESTION_TAIL:]


def _chosen(speech: Speech, sentence: str, heard: str) -> ScoredSentence | None:
    what = decisions.lets(sentence)
    option = decisions.chosen_option(sentence, heard)
    if what is None and option is None:
        return None
    fired = (*signals(sentence, Seen()), "decision", "act_accept")
    told = what if option is None else (f"{what} ({option})" if what else f"go with {option}")
    worded = f"{speech.speaker.name} decided: {told}."
    if (
        told is None
        or _is_vague(told)
        or _UNNAMED_OPTION.search(worded)
        or flaw(worded, names=(speech.speaker.name,)) is not None
    ):
        return None
    return ScoredSentence(worded, fired, keep_score(fired) + 2.0, type="decision", worded=True)


def _is_vague(chosen: str) -> bool:
    """Return True if a short choice has no name, number or quotation ("focus on that part"), or only orders the talk
    ("start with Ida").
    """
    is_short = len(set(content_words(chosen))) < SPECIFIC
    return is_short and (chosen.lower().startswith("start with ") or not (is_named(chosen) or "`" in chosen))


def _heard(speech: Speech) -> str:
    """Return the other speaker's previous turn, without secrets and machine output."""
    return without_machinery(redact(speech.before or "").text)


def _listed(speech: Speech, text: str) -> ScoredSentence | None:
    """Return the person's own list with its introduction ("My deal-breakers are: …")."""
    found = listed(text)
    if found is None or len(text) > PASTED or act_of(found[0], by_agent=False) in {"ask", "instruct"}:
        return None
    intro = third_person(found[0].split(". ")[-1], speech.speaker).rstrip(".")
    told = f"{intro}: {'; '.join(found[1])}."
    fired = (*signals(found[0], Seen()), "listed")
    if flaw(told, names=(speech.speaker.name,)) is not None:
        return None
    return ScoredSentence(told, fired, keep_score(fired) + 1.0, type="fact", worded=True)


def _settled(speech: Speech, parts: Sequence[str], heard: str) -> ScoredSentence | None:
    if not heard or not decisions.accepts(list(parts)):
        return None
    agreed = decisions.agreed(heard)
    if agreed is None:
        return None
    fired = ("decision", "act_accept", "settled")
    sources = (speech.before_seq,) if speech.before_seq is not None else ()
    told = f"{speech.speaker.name} {agreed}."
    return ScoredSentence(told, fired, keep_score(fired), type="decision", worded=True, sources=sources)
