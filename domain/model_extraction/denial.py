"""Detect a statement that contradicts its sources by negation: "I hate cilantro" against "Tom does not hate cilantro".

The check compares each clause of the statement with the source clauses that share the most words with it. A word that
is in both clauses has a sign in each clause: minus after an odd number of negating words ("not", "never", "avoids",
"hates"). The statement is flipped if the signs of the verbs and adjectives differ and none agrees. Clauses with a
conditional negation ("not until Friday"), and words that only one side has, prove nothing: in doubt the statement is
accepted.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from slowwave_server.domain.similarity.clause import AUXILIARIES
from slowwave_server.domain.similarity.lexicon import are_opposites, parts_of_speech, stem
from slowwave_server.domain.similarity.polarity import plainly
from slowwave_server.domain.similarity.tokens import Token, tokenise, uncontracted

MAX_CHARACTERS = 4000
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[a-z][.!?])(?=[A-Z])|\n+")
_CLAUSE = re.compile(
    r"[,;:\u2013\u2014()]+|\s-\s|\b(?:but|and|because|although|though|while|whereas|since|so that|which|who|when|"
    r"whenever|if|however|yet(?! to)|then)\b",
    re.IGNORECASE,
)
_UNTIL = r"(?:until|till|unless|before|without|anything but|other than|(?:any )?(?:more|less|fewer) than|enough)\b"
_CONDITIONAL = re.compile(
    rf"\b(?:not|never|nothing|no)\b.*\b{_UNTIL}|\bwithout\b.*\b(?:not|never|cannot)\b"
    r"|\bexcept\b|\b(?:everything|all|anything|everyone) but\b|\bnothing (?:beats?|like|better)\b"
    r"|\b(?:used to|formerly|previously|rarely|seldom|hardly|barely|scarcely|almost|nearly|wish)\b"
    r"|\bnot (?:that|so|as|very|really|quite|always|all|every\w*|necessarily|yet)\b"
    r"|\b(?:could|would|can) ?not\b.*\b(?:more|better|happier|less|\w+ier)\b",
    re.IGNORECASE,
)
# If a person denies something about their listener, they say nothing about themselves.
_ADDRESSED = re.compile(r"\byou\b(?! (?:can|could|may|must|should)\b).*\b(?:not|never|no)\b", re.IGNORECASE)
_OPPOSING = (
    r"am|is|are|was|were|be|been|decid(?:es?|ed|ing)|vot(?:es?|ed|ing)|advis(?:es?|ed|ing)|argu(?:es?|ed|ing)|"
    r"recommend(?:s|ed|ing)?|warn(?:s|ed|ing)?"
)
_TURNS = (
    (re.compile(r"\b(?:can|could|will|would) not believe\b", re.IGNORECASE), ""),
    (re.compile(r"\byet to\b", re.IGNORECASE), "not"),
    (
        re.compile(r"(?:\b(?:am|is|are|was|were|been|be)|'(?:m|s|re)) (?:unable|not able) to\b", re.IGNORECASE),
        " can not",
    ),
    (re.compile(r"\b(?:in place|instead) of\b|\brather than\b", re.IGNORECASE), "without"),
    (re.compile(r"\bnot (?:any|a single)\b", re.IGNORECASE), "no"),
    (re.compile(r"\bother than\b|\bapart from\b", re.IGNORECASE), ""),
    (re.compile(r"\bforg[eo]t to (?:mention|say|add|tell(?: you)?)\b", re.IGNORECASE), ""),
    # "3 kg more, against a target of 78 kg" denies nothing.
    (re.compile(rf"\b({_OPPOSING})((?: \w+ly)?) against\b", re.IGNORECASE), r"\1\2 not"),
)
_SUBORDINATE = re.compile(r"\b(?:while|when|whenever|if|since|after|before|unless|until)\b[^,;.]*", re.IGNORECASE)
_SUPPOSED = re.compile(r"\b(?:if|unless|whether)\b.*?(?=\bthen\b|[,;.?!]|$)", re.IGNORECASE)
_ENDED = re.compile(
    r"\b(?:no longer|not? any ?(?:more|longer)|any ?more|stopped|quit|gave up|given up|used to|ceased)\b", re.IGNORECASE
)
_REACHES_BACK = frozenset("no none nothing nobody nowhere neither".split())
_NEGATIVE = frozenset(
    "hate dislike detest loathe despise avoid drop refuse forbid prohibit ban prevent decline reject deny lack without "
    "skip stop quit fail cease doubt oppose forget disagree disallow disable exclude cancel mind".split()
)
"""Words that negate the words after them."""
_WISHED = re.compile(
    r"\b(?:want|wants|wanted|need|needs|needed|wish|hope|would like|'d like|please|try|trying|plan|ask|asked|can you|"
    r"could you|can we|let's|should)\b",
    re.IGNORECASE,
)
_FRAMES = frozenset(
    "want wish plan decide agree ask instruct tell say think believe intend expect seem need try hope choose".split()
)
"""Verbs that only introduce the claim: "decided not to go" denies the going."""
_LIKING = frozenset("like love enjoy adore want favor favour appreciate".split())
_DISLIKING = frozenset("hate dislike detest loathe despise mind".split())
_VERBS_THAT_UNDO = frozenset(
    "increase decrease accept reject allow forbid enable disable open close start stop pass fail succeed agree "
    "disagree include exclude raise lower win lose add remove approve".split()
)
_DETERMINERS = frozenset("a an the this that these those my our your his her its their any some 's".split())
_NAMING = frozenset("name call".split())
_MOSTLY = 0.6
_IDENTIFIER = re.compile(r"(?=\w*\d)(?=\w*[a-z])\w{4,}", re.IGNORECASE)
"""Letters and digits: "59XX6W". A denial about one reservation is no evidence about another."""


@dataclass(frozen=True, slots=True)
class _Word:
    token: Token
    sign: int
    is_thing: bool = False

    @property
    def forms(self) -> frozenset[str]:
        """The stems of the word: "lives" is a form of "life" and of "live"."""
        return frozenset((self.token.stem, stem(self.token.lower)))

    @property
    def liking(self) -> int:
        """1 or -1 for a word of liking or disliking, 0 for any other word."""
        lemma = self.token.lemma
        return self.sign * ((lemma in _LIKING) - (lemma in _DISLIKING))

    @property
    def is_predicate(self) -> bool:
        part = parts_of_speech(self.token.lemma)[:1]
        return not self.is_thing and self.token.kind == "word" and part in {"v", "a"}

    @property
    def is_verb(self) -> bool:
        return not self.is_thing and self.token.kind == "word" and parts_of_speech(self.token.lemma)[:1] == "v"

    @property
    def is_past(self) -> bool:
        low = self.token.lower
        return self.is_verb and low != self.token.lemma and not low.endswith(("s", "ing"))


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause. denied: with a negator; wished: a wish or request; ended: its state is over."""

    words: tuple[_Word, ...]
    denied: bool
    wished: bool
    ended: bool

    @property
    def negatives(self) -> frozenset[str]:
        return frozenset(word.token.lemma for word in self.words if word.token.lemma in _NEGATIVE - _DISLIKING)

    @property
    def stems(self) -> frozenset[str]:
        return frozenset(form for word in self.words for form in word.forms)

    @property
    def identifiers(self) -> frozenset[str]:
        return frozenset(word.token.lower for word in self.words if _IDENTIFIER.fullmatch(word.token.lower))


def is_flipped(content: str, sources: Iterable[str], apart: frozenset[str] = frozenset()) -> bool:
    """Return True if a clause of `content` contradicts `sources`, and no clause of the sources supports it.

    apart: stems that count for neither side, such as the names of speakers.
    """
    said = [clause for text in sources for clause in _clauses(_SUPPOSED.sub("", text), apart)]
    return any(_against_all(claim, said) for claim in _clauses(_SUBORDINATE.sub("", content), apart))


def _against_all(claim: _Clause, said: Sequence[_Clause]) -> bool:
    """Return True if the clauses most similar to the claim contradict it, and none supports it."""
    judged = [(len(claim.stems & clause.stems), vote) for clause in said if (vote := _vote(claim, clause))]
    if not judged:
        return False
    nearest = max(shared for shared, _ in judged)
    votes = {vote for shared, vote in judged if shared == nearest}
    return votes == {-1}


def _vote(claim: _Clause, clause: _Clause) -> int:
    """Return 1 if the clause supports the claim, -1 if it contradicts the claim, 0 if it proves nothing."""
    if claim.identifiers and clause.identifiers and not claim.identifiers & clause.identifiers:
        return 0
    pairs = [(one, other) for one in claim.words for other in clause.words]
    about = [(one, other) for one, other in pairs if not one.liking and one.forms & other.forms]
    telling = [relation for one, other in pairs if (relation := _relation(one, other, claim, clause))]
    objects = [word for word in claim.words if not word.liking]
    if not telling:
        return _vote_of_nouns(claim, clause, about)
    if not about and objects and any(not word.liking for word in clause.words):
        return 0
    if 1 in telling:
        return 1
    # "could not cancel" does not deny "I need to cancel".
    wished = clause.wished and not claim.wished
    return 0 if wished or _negate_otherwise(claim, clause) or not _covers(clause, claim) else -1


def _covers(clause: _Clause, claim: _Clause) -> bool:
    """Return True if a clause contains the numbers and times of the claim, and half of its other words."""
    told = [word for word in claim.words if word.token.lemma not in _FRAMES]
    found = [
        word for word in told if any(word.forms & other.forms or word.liking * other.liking for other in clause.words)
    ]
    exact = [word for word in told if word.token.kind in {"number", "date", "time"}]
    return 2 * len(found) >= len(told) and all(word in found for word in exact)


def _negate_otherwise(one: _Clause, other: _Clause) -> bool:
    """Return True if one clause is negated by a verb and the other by "not": "is excluded", "does not cover"."""
    mine, its = one.negatives - other.negatives, other.negatives - one.negatives
    return bool((mine and other.denied and not one.denied) or (its and one.denied and not other.denied))


def _relation(one: _Word, other: _Word, claim: _Clause, clause: _Clause) -> int:
    """Return 1 if two predicates agree, -1 if they disagree, 0 if their subjects differ."""
    if one.liking and other.liking:
        return one.liking * other.liking
    if one.is_thing or other.is_thing or one.token.lemma in _FRAMES or not (one.is_predicate or other.is_predicate):
        return 0
    if one.forms & other.forms:
        tense = (claim.ended and other.is_past) or (clause.ended and one.is_past)
        return 0 if tense else one.sign * other.sign
    if _undo(one.token, other.token):
        return -one.sign * other.sign
    return 0


def _undo(one: Token, other: Token) -> bool:
    """Return True if two opposites exclude each other: only some verbs do; "sold" and "bought" describe one sale."""
    if one.lemma == f"dis{other.lemma}" or other.lemma == f"dis{one.lemma}":
        return True
    if not are_opposites(one.lemma, other.lemma):
        return False
    if {one.lemma, other.lemma} <= _VERBS_THAT_UNDO:
        return True
    return parts_of_speech(one.lemma)[:1] == parts_of_speech(other.lemma)[:1] == "a"


def _vote_of_nouns(claim: _Clause, clause: _Clause, about: Sequence[tuple[_Word, _Word]]) -> int:
    """Compare clauses without a common verb or adjective: "has no dog" against "have a dog"."""
    if not about or any(word.is_verb and word.token.lemma not in _NAMING for word in (*claim.words, *clause.words)):
        return 0
    signs = {one.sign * other.sign for one, other in about}
    if 1 in signs:
        return 1
    return -1 if len(about) >= _MOSTLY * len(claim.words) and _covers(clause, claim) else 0


def _clauses(text: str, apart: frozenset[str]) -> Iterator[_Clause]:
    for sentence in _SENTENCE.split(text[:MAX_CHARACTERS].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")):
        if sentence.rstrip("\"') ").endswith("?"):
            continue
        found = [clause for part in _CLAUSE.split(sentence) if (clause := _clause(part, apart)) is not None]
        # "I hate it, Tom doesn't": the text does not show which half the second clause denies.
        if not any(_is_cut_short(part) for part in _CLAUSE.split(sentence)):
            yield from found


def _clause(text: str, apart: frozenset[str]) -> _Clause | None:
    text = uncontracted(text)
    if _CONDITIONAL.search(text) or _ADDRESSED.search(text):
        return None
    for pattern, instead in _TURNS:
        text = pattern.sub(instead, text)
    words: list[_Word] = []
    sign, before, denied = 1, "", False
    for token in tokenise(plainly(text)):
        if token.lemma in AUXILIARIES and token.kind == "function":
            # The words before it are the subject.
            words = [replace(word, is_thing=True) for word in words]
        negative = token.lemma in _NEGATIVE
        if token.carries_content and token.stem not in apart:
            if words and before == words[-1].token.lower and _is_attribute(words[-1].token, token):
                # An adjective before its noun has no meaning alone: "social media".
                words[-1] = replace(words[-1], is_thing=True)
            words.append(_Word(token, sign, before in _DETERMINERS))
        before = "'s" if token.kind == "possessive" else token.lower
        if token.kind == "negator" and token.lemma in _REACHES_BACK:
            words = [replace(word, sign=-word.sign) for word in words]
        denied = denied or token.kind == "negator"
        if token.kind == "negator" or negative:
            sign = -sign
    if not words:
        return None
    return _Clause(tuple(words), denied, _WISHED.search(text) is not None, _ENDED.search(text) is not None)


def _is_attribute(adjective: Token, noun: Token) -> bool:
    found = parts_of_speech(adjective.lemma)[:1], parts_of_speech(noun.lemma)[:1]
    return found == ("a", "n") and not noun.lower.endswith("ing")


def _is_cut_short(text: str) -> bool:
    tokens = tokenise(plainly(text))
    return len(tokens) > 1 and tokens[-1].kind == "negator" and tokens[-1].lower != "no"
