"""Which statements of a turn are kept: the best one more readily than the ones beside it, and by the kind of talk.

Must not know: how statements are found and worded.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from slowwave_server.domain.candidates import Candidate
from slowwave_server.domain.extraction import by_people
from slowwave_server.domain.extraction.flaws import DISFLUENT
from slowwave_server.domain.extraction.making import Statement
from slowwave_server.domain.extraction.standalone import content_words, is_named

WORTH = -1.1
"""Log-odds from which an agent's answer is worth remembering by its outline."""
WORTH_SURELY = -0.6
"""Log-odds from which a turn of talk with an agent may be remembered by its best statement, if that is fair."""
USEFUL = 0.52
"""Importance (the chance to be useful, as readers judge) from which a statement of talk with an agent is kept."""
FAIR = 0.35
"""The same for the best statement of a turn that is surely worth remembering."""
FIRST_IN_PAIR = 0.07
"""The same for the best statement of a turn where two people talk: what they say of themselves is mostly kept."""
FURTHER_IN_PAIR = 0.47
"""The same for the statements beside it."""
IN_GROUP = 0.6
"""The same where more people talk, of the few statements that a group's talk keeps at all."""
SETTLED = frozenset("commitment decision remember result".split())
"""Signals of what is promised, chosen, done or wished."""
OF_GROUP = frozenset("commitment decision remember".split())
"""Signals of what a group's talk keeps. All else is discussion."""
FACTS_OF_GROUP = frozenset("dated i_am_a result rule".split())
"""Signals of which another statement there has one, if it is useful."""
SAYS_WHAT = 4
"""Content words from which a choice of a group says what was chosen."""
UNSURE = frozenset("answers_in_short hedge hypothetical i_cannot i_think unreal".split())
"""Signals that nothing kept of a group's talk has."""
OF_SELF = 0.5
"""Least importance of a lasting fact about its speaker ("I'm allergic to nuts"): short, seldom with a name."""
ALWAYS = frozenset(("standing", "remember", "rule", "ends", "profile"))
"""Signals of statements that are kept in any turn with an agent, as lasting facts of their speaker are in any talk."""
Made = tuple[Statement, Candidate]


def kept(made: Sequence[Made], weigh: Callable[[], float], *, to_agent: bool) -> Iterator[Candidate]:
    """The candidates of one turn that are kept, in their order.

    made: each statement with its candidate. weigh: how much the turn is worth remembering; asked if that decides.
    """
    best = max((one.importance for _, one in made), default=0.0)
    first = _least_of_first(weigh, best) if to_agent else FIRST_IN_PAIR
    further = USEFUL if to_agent else FURTHER_IN_PAIR
    for statement, one in made:
        if by_people.is_of_self(statement) and "group" not in statement.fired:
            yield replace(one, importance=max(one.importance, OF_SELF))
        elif _is_kept(statement, one, first if one.importance == best else further, to_agent=to_agent):
            yield one


def _is_kept(statement: Statement, one: Candidate, least: float, *, to_agent: bool) -> bool:
    if to_agent and not ALWAYS.isdisjoint(statement.fired):
        return True
    if "group" in statement.fired:
        return _is_of_group(statement, one.importance)
    return one.importance >= (min(FAIR, least) if to_agent and _is_work(statement, one) else least)


def _least_of_first(weigh: Callable[[], float], best: float) -> float:
    """The least importance of the best statement of a turn with an agent."""
    return FAIR if FAIR <= best < USEFUL and weigh() >= WORTH_SURELY else USEFUL


def _is_work(statement: Statement, one: Candidate) -> bool:
    """Whether a statement says what was done, promised or chosen, or names open work: its end is found by it."""
    return not SETTLED.isdisjoint(statement.fired) or (one.type == "task" and is_named(statement.said))


def _is_of_group(one: Statement, importance: float) -> bool:
    """Whether a statement of a group's talk chooses or promises something, or is useful and no part of a discussion."""
    if not UNSURE.isdisjoint(one.fired) or DISFLUENT.search(one.said) is not None:
        return False
    if not OF_GROUP.isdisjoint(one.fired):
        return len(set(content_words(one.said))) >= SAYS_WHAT
    return importance >= IN_GROUP and not FACTS_OF_GROUP.isdisjoint(one.fired)
