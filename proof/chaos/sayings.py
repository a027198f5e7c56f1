"""Statements of talkers: sentences around a unique word, of kinds with a known outcome.

fact        gives one attribute of the speaker a value; the value with the latest time holds
lasting     becomes one memory
both        two sentences that contradict each other; both become memories
passing     not worth a memory: the rules make none, a model at most one
odd         other scripts, emoji, NUL and halves of surrogates; at most one memory
long        longer than a window may be
reply       the assistant's reply
result      a tool's result, before the reply; becomes no memory
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

from proof.chaos.journal import Line, LineKind

ATTRIBUTES = ("editor", "tea", "song", "colour", "bakery", "author", "museum", "bicycle")
_LASTING = (
    "My neighbour {} is allergic to nuts.",
    "Remember that the spare key of {} lies under the mat.",
    "My colleague {} works on the harbour crane.",
    "My aunt {} keeps two goats.",
    "My friend {} lives in a lighthouse.",
    "My dentist {} speaks Portuguese.",
    "My teacher {} collects old stamps.",
    "My landlord {} repairs clocks in the cellar.",
    "My grandmother {} swims in the lake every morning.",
    "My flatmate {} studies geology.",
    "My doctor {} rides a tandem to work.",
    "Remember that {} brings the tent on Fridays.",
)
_PASSING = (
    "How was your walk to {}?",
    "Is it far to {} from here?",
    "Which bus goes to {} in the evening?",
    "Can you look up when {} opens?",
)
_REPLIES = ("I do not know {} yet.", "Shall I look for {} on the map?", "There is a bus to {} every hour.")
_RESULTS = ("3 places match {}.", "status: open\nplace: {}", "Error: {} is unknown.")
_RESULT_SHARE = 0.15
_ODD = (
    "Ist {} noch offen — oder schon zu? 🐕\u200d🦺",
    "چه خبر از {}؟",
    "{} … \0 … is this \ud83d broken?",
    "東京の{}はどこですか。",
    "<script>{}</script>'; DROP TABLE events; -- {{}}",
)
_WEIGHTS: dict[LineKind, int] = {"passing": 50, "lasting": 24, "fact": 15, "both": 4, "odd": 6, "long": 1}
_LONG_CHARACTERS = 13_000
_LATE_SHARE = 0.15
_PAST_DAYS = 3.0
_PAST_HOURS = 2.0


def turn(random: Random, word: str, now: datetime, *, facts: bool) -> tuple[Line, ...]:
    """Return one turn: a person's message, and the reply. facts: True if this turn may give values of attributes."""
    kind = random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
    if kind == "fact" and not facts:
        kind = "lasting"
    said = _said(random, kind, word, now)
    # Sometimes the reply was not recorded, or an older message arrives late.
    if random.random() < 0.15:
        return said
    # Use a separate random generator, so that a seed gives the same statements as before tools existed.
    chance = Random(word)
    if chance.random() < _RESULT_SHARE:
        said = (*said, Line("result", "tool", chance.choice(_RESULTS).format(word), word, said[-1].at))
    return (*said, Line("reply", "assistant", random.choice(_REPLIES).format(word), word, said[-1].at))


def milestone(word: str) -> Line:
    """Return the result of a task's run."""
    return Line("milestone", "task", f"The import of {word} is through.", word)


def note(random: Random, word: str) -> Line:
    """Return an agent's own note."""
    return Line("note", "user", f"{random.choice(('Priya', 'Jonas', 'Maya'))} keeps the ladder of {word}.", word)


def _said(random: Random, kind: LineKind, word: str, now: datetime) -> tuple[Line, ...]:
    at = None if random.random() < 0.7 else _earlier(random, now)
    if kind == "fact":
        about = random.choice(ATTRIBUTES)
        return (Line(kind, "user", f"My favourite {about} is {word}.", word, _earlier(random, now), about),)
    if kind == "both":
        first, then = f"My cousin {word} plays the cello.", f"My cousin {word} does not play the cello."
        return (Line(kind, "user", first, word, at), Line(kind, "user", then, word, at))
    if kind == "long":
        filler = "and so the long road went on and on past the mill "
        middle = (filler * (_LONG_CHARACTERS // len(filler) + 1))[:_LONG_CHARACTERS]
        return (Line(kind, "user", f"What is {word}? {middle}", word, at),)
    return (Line(kind, "user", random.choice(_templates(kind)).format(word), word, at),)


def _templates(kind: LineKind) -> Sequence[str]:
    return {"lasting": _LASTING, "odd": _ODD}.get(kind, _PASSING)


def _earlier(random: Random, now: datetime) -> str:
    """Return a time within the last hours or, for late events, within the last days, which are over and summarized."""
    late = random.random() < _LATE_SHARE
    ago = timedelta(days=random.uniform(0, _PAST_DAYS)) if late else timedelta(hours=random.uniform(0, _PAST_HOURS))
    return (now - ago).isoformat()
