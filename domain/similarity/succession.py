"""Decide whether a later statement repeats subject and verb with another value: "we keep 55 sheep now"."""

from slowwave_server.domain.similarity.moving_on import is_present
from slowwave_server.domain.similarity.reading import Reading, read
from slowwave_server.domain.similarity.restating import adds
from slowwave_server.domain.similarity.topics import parts_of, read_clause

_MOST_VALUES = 4
"""A statement of more values is a list."""


def succeeds(older: Reading, newer: Reading, *, was_change: bool) -> bool:
    """Return True if `newer`, which tells of a change, gives another value with the words of `older`.

    was_change: True if `older` tells of a change, too.
    """
    if "?" in newer.text or adds(newer.text) or not (was_change or is_present(older)):
        return False
    values = max(len(read_clause(one.text).values) for one in (older, newer))
    return values <= _MOST_VALUES and _fills_the_frame(older, newer)


def _fills_the_frame(older: Reading, newer: Reading) -> bool:
    """Return True if a clause of the newer one has the subject and the verb of the older one, and another value."""
    before, frame = read_clause(older.text), _frame(older)
    for part in parts_of(newer.text) if frame else ():
        after = read_clause(part)
        mine, its = before.own(after, with_names=True), after.own(before, with_names=True)
        if _frame(read(part)) != frame or len(mine) != 1 or len(its) != 1:
            continue
        # Names may hold beside each other: "knows Pim", "knows Ines now".
        if mine[0].kind != its[0].kind or mine[0].kind == "name":
            continue
        left, right = (set(said.topic) - said.verbs - {one.same for one in said.values} for said in (before, after))
        if left <= right or right <= left:
            return True
    return False


def _frame(reading: Reading) -> tuple[str, ...]:
    """Return the subject and the verb, "user" for "we"; nothing if the statement has no verb."""
    tokens = reading.tokens[reading.clause.start :]
    if tokens and tokens[0].lower.partition("'")[0] in {"we", "i"}:
        return next((("user", token.lemma) for token in tokens if token.kind == "word"), ())
    verb = reading.clause.verb
    return () if verb in {"", "be"} else (*sorted(reading.doer.stems), verb)
