"""Edit the edges of a chat sentence: remove fillers at both ends, and restore an omitted subject."""

import re

from slowwave_server.domain.extraction import verbs

_OPENER = re.compile(
    r"^(?:(?:(?:nevermind|never mind|kindly|oh|ooh|ah|aw+|wow|woah|whoa|"
    r"(?:hey|hi|hello)(?: (?:there|all|everyone|again|team|folks))?|yes|yeah|yea|yep|yup|ya|nope|"
    r"nah|ok|okay|alright|well|um+|"
    r"hmm+|hm|haha+|ha|hehe|lol|lmao|omg|gosh|thanks|anyway|anyways|so(?! (?:much|many|far|long))|and|but|also|plus|"
    r"actually|honestly|sure|true|right|"
    r"exactly|absolutely|definitely|totally|indeed)\b|no\b(?=\s*[,.!-]|\s+i\b)|(?:i mean|you know|"
    r"to be honest|of course|by the way|guess what|at least|like|however|additionally|furthermore|moreover|finally|"
    r"therefore|meanwhile|besides|then|now|just|first(?:ly)?|second(?:ly)?|lastly|basically|essentially|obviously|"
    r"clearly|unfortunately|thankfully|luckily|as you (?:know|can see)|in that case|for now|that said)\s*,)"
    r"[\s,.!~:;-]*){1,6}",
    re.IGNORECASE,
)
_CLOSERS = ("lol", "lmao", "ha", "hehe", "heh", "though", "tho", "you know", ")", "(", ":d", ":p")
_CLOSER = re.compile(
    r"(?:[\s,]{1,4}(?:lol|lmao|ha|haha\w{0,8}|hehe|heh|though|tho|you know|[:;]-?[)(DPp]))+(?P<end>[\s.!]{0,6})$"
)

_ELIDED_PAST = frozenset(
    "went got had made took saw came found bought met started moved tried finished worked decided wanted loved liked "
    "enjoyed visited played watched learned adopted ordered booked joined signed picked stayed talked helped grew "
    "spent".split(),
)
_ELIDED_ING = frozenset(
    "gonna hoping trying planning thinking looking going working wishing enjoying learning saving".split()
)
# "Trying new food is fun": the -ing form is itself the subject.
_FINITE = re.compile(r"\b(?:is|are|was|were|has|makes|keeps|helps|can|will)\b")
# "Don't know him" is a statement, "Don't worry" is a command.
_STATES = re.compile(r"\bdon't (?:really |even )?(?:know|have|like|think|want|need|see|care|own)\b", re.IGNORECASE)
_ELIDED_BASE = frozenset("love hope need want wish hate prefer miss don't haven't".split())
_ELIDED_KEEP = frozenset("can't didn't wasn't couldn't hadn't".split())
_ELIDED_ADVERBS = frozenset("just still also really finally recently".split())


def without_vocative(sentence: str, addressee: str | None) -> str:
    """Return the sentence without the addressee's name ("Thanks, Priya!", "Priya, I moved")."""
    if addressee is None or addressee not in sentence:
        return sentence
    if sentence.startswith((f"{addressee}, ", f"{addressee}! ")):
        sentence = sentence[len(addressee) + 2 :]
    body = sentence.rstrip(" .!?…")
    if body.endswith(f", {addressee}"):
        sentence = body.removesuffix(f", {addressee}") + sentence[len(body) :]
    return sentence.replace(f", {addressee}, ", ", ").replace(f", {addressee}! ", "! ")


def trim(sentence: str) -> str:
    """Return the sentence without "Oh, yes, well …" at its start and "… lol" at its end; it may become empty."""
    opener = _OPENER.match(sentence)
    opened = sentence if opener is None else sentence[opener.end() :]
    if opened.rstrip(" .!").lower().endswith(_CLOSERS):
        opened = _CLOSER.sub(r"\g<end>", opened)
    return opened.strip()


def with_subject(sentence: str, name: str) -> str:
    """Restore an omitted subject: the speaker is the subject of "Went to Bath", "Just moved", "Hoping to sell it"."""
    words = sentence.split(" ", 2)
    low = [word.lower() for word in words[:2]]
    skip = 1 if low and low[0] in _ELIDED_ADVERBS and len(words) > 1 else 0
    verb = low[skip] if len(low) > skip else ""
    if verb == "gonna" or (verb in _ELIDED_ING and _FINITE.search(sentence) is None):
        lead = "is "
    elif verb == "been":
        lead = "has "
    elif verb in _ELIDED_BASE and not (verb == "don't" and _STATES.search(sentence) is None):
        words[skip] = verbs.third_person(verb)
        lead = ""
    elif verb in _ELIDED_PAST or verb in _ELIDED_KEEP:
        lead = ""
    else:
        return sentence
    words[0], words[skip] = words[0].lower(), words[skip].lower()
    return f"{name} {lead}{' '.join(words)}"
