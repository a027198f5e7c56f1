"""From the first person to the third: "I adopted a dog" becomes "Maya adopted a dog", so that a statement is complete
by itself.

The speaker's words stay; only pronouns, their verbs, and fillers at the edges change. Text between double quotes is
another person's wording and stays unchanged.
"""

import re
from dataclasses import dataclass, field

from bench.rules_v1 import verbs
from bench.rules_v1.edges import trim, with_subject

_TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|_+|\s+|[^\w\s]")
_CLOSED = ('."', '!"', '?"', ".)", "!)", "?)")
_TAIL = re.compile(r"[\s.!,;:…]+$")
_VARIABLE_BEFORE = frozenset("./=+-)]_:<>[*")
_BEFORE_NUMERAL = frozenset(
    "war part type phase chapter vol volume class stage elizabeth world act book grade level".split()
)
_INVERTED = frozenset("am do have don't haven't were did can will would should could was may might".split())
_SUBJECT_BEFORE_YOU = frozenset(
    "that if when how what where why because and but as since so think know hope glad believe sure hear heard said "
    "while".split(),
)
_GENERIC_YOU = re.compile(
    r"\b(?:you know|(?:when|if|as|before|once|until|unless) you|you (?:can|have to|get|need|never|just|guys))\b",
    re.IGNORECASE,
)

_CONTRACTED = {"i'm": "am", "im": "am", "i've": "have", "ive": "have", "i'll": "will", "i'd": "d"}
_WE = {"we": "", "we're": "are", "we've": "have", "we'll": "will", "we'd": "d"}
_YOU = {"you": "", "you're": "are", "youre": "are", "you've": "have", "you'll": "will", "you'd": "d", "u": ""}


@dataclass(frozen=True, slots=True)
class Speaker:
    """The speaker and, if it is clear, the listener. `name` in its form at the start of a sentence."""

    name: str
    addressee: str | None = None

    def inside(self, name: str) -> str:
        """A name in its form inside a sentence: an unnamed user loses the capital of the article."""
        return "the user" if name == "The user" else name


@dataclass(slots=True)
class _Rewrite:
    """One pass over the tokens of a sentence: `out` is the result, the other fields are the state of the pass."""

    tokens: list[str]
    speaker: Speaker
    resolve_you: bool
    out: list[str] = field(default_factory=list)
    named: bool = False
    said_we: bool = False
    present_subject: bool = False
    pending: bool = False

    def previous_word(self) -> tuple[int, str]:
        for at in range(len(self.out) - 1, -1, -1):
            part = self.out[at]
            if not part.isspace():
                return at, part.lower()
        return -1, ""

    def next_word(self, at: int) -> str:
        """The next word that is not an adverb, lower-case; "" if the clause ends first."""
        for part in self.tokens[at + 1 : at + 10]:
            low = part.lower()
            if low[0].isalpha() and not verbs.is_adverb(low):
                return low
            if not (part.isspace() or low[0].isalpha()):
                return ""
        return ""

    def run(self) -> str:
        quotes = self.tokens.count('"')
        quoted = False
        for at, part in enumerate(self.tokens):
            if part == '"' and quotes % 2 == 0:
                quoted = not quoted
            if quoted or not part[0].isalpha():
                self.plain(part)
            else:
                self.word(at, part, part.lower())
        return "".join(self.out)

    def plain(self, part: str) -> None:
        if not part.isspace():
            self.pending = False
            self.present_subject = self.present_subject and part == ","
        self.out.append(part)

    def word(self, at: int, part: str, low: str) -> None:
        if low == "i" or low in _CONTRACTED:
            self.first_person(at, part, low)
        elif low in _WE:
            self.we(at, low)
        elif low in _PLAIN:
            self.out.append(self.oblique(_PLAIN[low]))
        elif self.resolve_you and (low in _YOU or low in {"your", "yours", "yourself"}):
            self.you(at, low)
        else:
            self.out.append(self.verb(part, low))

    def name(self, name: str | None = None) -> str:
        first = not any(part.strip() for part in self.out)
        self.named = self.named or name is None
        shown = self.speaker.name if name is None else name
        return shown if first else self.speaker.inside(shown)

    def oblique(self, form: str) -> str:
        """my, me, mine, myself, our, us … by the name of their form."""
        if form == "reflexive":
            return "themselves"
        if form.startswith("our") and self.said_we:
            return {"our": "their", "ours": "theirs", "our-object": "them"}[form]
        if form == "our-object":
            self.said_we = True
            return f"{self.name()} and others"
        return self.name() if form == "object" else f"{self.name()}'s"

    def first_person(self, at: int, part: str, low: str) -> None:
        before, previous = self.previous_word()
        follows = self.tokens[at + 1] if at + 1 < len(self.tokens) else ""
        numeral = part == "I" and previous in _BEFORE_NUMERAL
        nearest = "".join(self.tokens[at + 1 : at + 3]).strip()[:1]
        variable = part == "i" and nearest in _VARIABLE_BEFORE and nearest != ""
        if low == "i" and (numeral or variable or follows == "/"):
            self.plain(part)
            return
        plural = previous == "and" and _joined_to_noun(self.out, before)
        inverted = previous in _INVERTED and low == "i" and previous not in {"was", "did"} and not plural
        if inverted:
            self.out[before] = _like(self.out[before], verbs.third_person(previous))
        self.out.append(self.name())
        if low in _CONTRACTED:
            self.contraction(_CONTRACTED[low], at, plural=plural)
        else:
            self.pending = not (plural or inverted or previous == "did")
        self.present_subject = False

    def contraction(self, verb: str, at: int, *, plural: bool) -> None:
        if verb == "d":
            follows = self.next_word(at)
            verb = "had" if follows in verbs.PARTICIPLES or verbs.is_past(follows) else "would"
        elif plural:
            verb = {"am": "are"}.get(verb, verb)
        else:
            verb = verbs.third_person(verb)
        self.out.append(f" {verb}")

    def we(self, at: int, low: str) -> None:
        self.out.append("they" if self.said_we else f"{self.name()} and others")
        self.said_we = True
        self.pending = self.present_subject = False
        if _WE[low]:
            self.contraction(_WE[low], at, plural=True)

    def you(self, at: int, low: str) -> None:
        other = self.name(self.speaker.addressee)
        if low in {"your", "yours"}:
            self.out.append(f"{other}'s")
        elif low == "yourself":
            self.out.append("themselves")
        else:
            _, previous = self.previous_word()
            self.out.append(other)
            if _YOU[low]:
                self.contraction(_YOU[low], at, plural=False)
            elif previous in _SUBJECT_BEFORE_YOU or not previous or not previous[0].isalpha():
                self.pending = True
            else:
                self.pending = self.next_word(at) in {"are", "have", "were", "do", "don't", "haven't", "aren't"}
        self.present_subject = False

    def verb(self, part: str, low: str) -> str:
        """Make the verb of the named subject agree, and the next one after "and" or "but"."""
        if self.pending:
            if verbs.is_adverb(low) or (low == "of" and self.previous_word()[1] in {"kind", "sort"}):
                return part
            self.pending = False
            past = low in verbs.SAME_IN_PAST and speaks_of_past("".join(self.tokens))
            form = verbs.third_person(low, past=past)
            self.present_subject = form != low
            return _like(part, form)
        if self.present_subject or low in _ONLY_FIRST_PERSON:
            _, previous = self.previous_word()
            if low == "to" and previous in _TAKE_INFINITIVE:
                # "wants to go and have fun": the second verb is an infinitive too
                self.present_subject = False
            if low in _NEW_SUBJECT or (low in {"it", "you"} and previous in {"and", "but", "or"}):
                self.present_subject = False
            elif previous in {"and", "but", "or"} and low in _COMMON_VERBS and self.named:
                return _like(part, verbs.third_person(low))
        return part


_PLAIN = {
    "me": "object", "my": "possessive", "mine": "possessive", "myself": "reflexive",
    "our": "our", "ours": "ours", "us": "our-object", "ourselves": "reflexive",
}  # fmt: skip
_NEW_SUBJECT = frozenset("he she they we who that which if when because".split())
_ONLY_FIRST_PERSON = frozenset(("am",))
_TAKE_INFINITIVE = frozenset(
    "wants want likes like loves love needs need has have tries try hopes hope plans plan prefers hates going able "
    "ready tends used trying hoping planning decided learning how way".split(),
)
_COMMON_VERBS = frozenset(
    "don't haven't am have do love like enjoy work live hate want need prefer think hope know plan play go run own "
    "teach study speak feel make take spend get try watch read write cook listen".split(),
)


_PAST_CUES = frozenset(("was", "were", "ago", "yesterday"))


def _like(model: str, word: str) -> str:
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word.capitalize() if model[:1].isupper() and model != "I" else word


def _joined_to_noun(out: list[str], at: int) -> bool:
    """Return True if the words before "and" are one noun phrase at the start of a clause ("my wife and I")."""
    words: list[str] = []
    for part in reversed(out[:at]):
        if part in ",.;:" or len(words) > 4:
            break
        if not part.isspace():
            words.append(part.lower())
    head = words[-1] if words else ""
    return (
        0 < len(words) <= 3
        and not any(verbs.is_past(word) for word in words)
        and (head.endswith("'s") or head in {"the", "a", "her", "his", "their", "both"} or len(words) == 1)
    )


def speaks_of_past(sentence: str) -> bool:
    """Return True if a verb of the sentence is clearly a past form."""
    words = set(_TOKEN.findall(sentence.lower()))
    return verbs.any_past(words) or not _PAST_CUES.isdisjoint(words)


def third_person(sentence: str, speaker: Speaker) -> str:
    """The sentence with the speaker's name for I, me, my; it ends with a full stop and begins with a capital.

    A sentence that does not mention its speaker gets the name before it ("Maya: The kids love nature."), unless the
    speaker is an unnamed user, because the trust of the memory names the user.
    """
    trimmed = trim(sentence) or sentence
    whole = with_subject(trimmed, speaker.name)
    second = speaker.addressee is not None and "ou" in whole and _GENERIC_YOU.search(whole) is None
    run = _Rewrite(_TOKEN.findall(whole), speaker, resolve_you=second)
    text = run.run()
    body = _TAIL.sub("", text)
    if not body.endswith(_CLOSED):
        body += "."
    if text.rstrip().endswith(("?", "…")):
        body = text.strip()
    if not body.startswith(speaker.name):
        body = body[:1].upper() + body[1:]
    if run.named or whole is not trimmed or speaker.name == "The user":
        return body
    return f"{speaker.name}: {body}"
