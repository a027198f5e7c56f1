"""Decide which statements of a turn are kept. The threshold for the best statement is lower than for the others.

A semantic judge (`Worth`) rates the usefulness of each statement. Without a judge, language signals decide, with
thresholds for each kind of talk.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from slowwave_server.domain.candidates import Candidate
from slowwave_server.domain.extraction import by_people
from slowwave_server.domain.extraction.flaws import DISFLUENT
from slowwave_server.domain.extraction.making import SAID, ScoredCandidate, ScoredSentence
from slowwave_server.domain.extraction.outsiders import (
    has_verb,
    is_clear_to_outsiders,
    is_inference,
    says_what_holds,
)
from slowwave_server.domain.extraction.plain_facts import PLAIN, gives_value, is_contact
from slowwave_server.domain.extraction.standalone import content_words, is_named
from slowwave_server.domain.extraction.standing import lasts
from slowwave_server.domain.extraction.worth import Proposal, Worth

WORTH = -1.1
"""Minimum log-odds at which an agent's answer is kept as an outline."""
WORTH_PERHAPS = -1.6
"""Minimum log-odds at which the judge rates further sentences of a person's turn."""
WORTHY_ALONE = 0.7
"""Minimum usefulness of a short statement to an agent whose turn does not reach `WORTH_PERHAPS`."""
WORTH_SURELY = -0.6
"""Minimum log-odds at which a turn with an agent may keep its best statement, if that reaches `FAIR`."""
USEFUL = 0.52
"""Minimum importance (the probability that readers call it useful) of a statement in a talk with an agent."""
FAIR = 0.35
"""Minimum importance of the best statement of a turn that is surely worth remembering."""
FIRST_IN_PAIR = 0.07
"""Minimum importance of a turn's best statement between two people; most of their statements about themselves are kept.
"""
FURTHER_IN_PAIR = 0.47
"""Minimum importance of the other statements between two people."""
IN_GROUP = 0.6
"""Minimum importance in a group, for the few kinds of statement that a group's talk keeps."""
SETTLED = frozenset("commitment decision remember result".split())
"""Signals of promises, choices, results and wishes."""
OF_GROUP = frozenset("commitment decision remember".split())
"""Signals of statements that a group's talk always keeps; other statements are discussion."""
FACTS_OF_GROUP = frozenset("dated i_am_a result rule".split())
"""Another statement of a group needs one of these signals and `IN_GROUP`."""
SAYS_WHAT = 4
"""Minimum content words of a specific choice in a group."""
UNSURE = frozenset("answers_in_short hedge hypothetical i_cannot i_think unreal".split())
"""Signals that exclude a statement of a group."""
OF_SELF = 0.5
"""Minimum importance given to a lasting fact about the speaker ("I'm allergic to nuts"): short, seldom with a name."""
ALWAYS = frozenset(("standing", "remember", "rule", "ends", "profile"))
"""Signals of a person's statements that every turn with an agent keeps; lasting facts about a speaker are kept in any
talk that is not about code.
"""
SURE = frozenset(("remember", "profile"))
"""Signals of those that hold beyond the moment."""
WISHES = ALWAYS - {"rule"}
"""The same in a talk about code, where "must" and "should" tell how a program works."""
WORTHY = 0.55
"""Minimum usefulness of a kept statement, from 0 to 1, as the judge rates it."""
FIRST_WORTHY = 0.15
"""Minimum usefulness of a turn's best statement between two speakers."""
FIRST_PASSAGE_WORTHY = 0.22
"""Minimum usefulness if the best statement is a passage."""
WORTHY_IN_GROUP = 0.9
"""Minimum usefulness of a statement of a group that chats."""
WORTHY_IN_PUBLIC = 0.95
"""Minimum usefulness of a statement of an impersonal talk among people, a group or two. Of 382 such statements
that earlier versions kept, readers called 62 % of the clear ones from 0.95 useful and 9 % junk.
"""
WORTHY_REMARK = 0.96
"""The same for a statement without a decision, a rule, a term or several names."""
WORTHY_OF_MEMBER = 0.85
"""Minimum usefulness of a lasting fact about a member of a group."""
FIRST_WORTHY_TO_AGENT = 0.45
"""Minimum usefulness of the best statement of a person's turn to an agent, unless it is a passage or a choice."""
FIRST_PASSAGE_TO_AGENT = 0.25
"""Minimum usefulness if it is a passage."""
FIRST_OF_AGENT = 0.35
"""Minimum usefulness of the best sentence of an agent's turn."""
WORTHY_OF_AGENT = 0.25
"""Minimum usefulness of an agent's passage; most of these are explanations."""
WORTHY_WITHOUT_VERB = 0.4
"""Minimum usefulness of an agent's passage without a verb; most of these are a line of a list."""
NEVER = 2.0
"""More than any usefulness."""
WORTHY_OF_CODER = 0.75
"""Minimum usefulness of a coding agent's statement, except a delivery; most of these are steps and advice."""
SURELY_WORTHY = 0.1
"""Minimum usefulness of a lasting fact about a speaker, and of what a person asks to remember or always to do."""
WORTHY_RULE = 0.2
"""Minimum usefulness of an instruction or a rule without "always": most of those below are for the moment only."""
WORTHY_VALUE = 0.02
"""Minimum usefulness of a plain fact (`plain_facts`) that gives a value."""
WORTHY_STATE = 0.12
"""Minimum usefulness of another plain fact."""
ALONE = "alone"
"""The signal of a statement of a person to whom nobody answers."""
WORTHY_TO_NOBODY = 0.4
"""Minimum usefulness of such a statement if no signal found it."""
SAME_WORDS = 0.7
"""Minimum share of the shorter statement's content words in the longer one that makes two statements duplicates."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The statements of one turn, each with its candidate.

    Attributes:
        made: the candidates in the order of the turn.
        role: the role of the turn's event.
        to_agent: True if people talk with an agent.
        weigh: a function that scores, by signals, how much the turn is worth remembering; called only if needed.
        impersonal: True if the talk is about code, or among people and not a personal chat.
    """

    made: Sequence[ScoredCandidate]
    role: str
    to_agent: bool
    weigh: Callable[[], float]
    impersonal: bool = False

    @property
    def by_agent(self) -> bool:
        """True if the agent itself says the turn."""
        return self.to_agent and self.role == "assistant"

    def proposals(self) -> Iterator[Proposal]:
        """Yield the proposals for the judge."""
        for one in self.made:
            public = self.impersonal or "group" in one.statement.fired
            talk: Literal["agent", "pair", "group"] = "agent" if self.to_agent else "group" if public else "pair"
            yield Proposal(one.candidate.content, talk, self.role, one.candidate.type)


def kept(turns: Iterable[Turn | Candidate], worth: Worth | None) -> Iterator[Candidate]:
    """Yield the kept candidates in their order; an element that is already a `Candidate` is always kept."""
    parts = list(turns)
    asked = [proposal for part in parts if isinstance(part, Turn) for proposal in part.proposals()]
    answers = iter(worth(asked) if worth is not None and asked else ())
    for part in parts:
        if not isinstance(part, Turn):
            yield part
        elif worth is None:
            yield from _by_signals(part.made, part.weigh, to_agent=part.to_agent)
        else:
            yield from _by_worth(part, islice(answers, len(part.made)))


def _by_worth(turn: Turn, useful: Iterable[float]) -> Iterator[Candidate]:
    judged = list(zip(turn.made, useful, strict=True))
    best = max((worth for _, worth in judged), default=0.0)
    taken: dict[int, frozenset[str]] = {}
    for at in sorted(range(len(judged)), key=lambda at: (-judged[at][1], at)):
        made, worth = judged[at]
        words = frozenset(content_words(made.candidate.content))
        said_by = any(_repeats(words, other) for other in taken.values())
        if worth >= _least_worth(turn, made.statement, is_best=worth == best) and not said_by:
            taken[at] = words
    for at in sorted(taken):
        made, worth = judged[at]
        yield replace(made.candidate, importance=round(worth, 3))


def _repeats(words: frozenset[str], other: frozenset[str]) -> bool:
    """Return True if one of two statements contains nearly all words of the other."""
    return len(words & other) >= SAME_WORDS * min(len(words), len(other))


def _least_worth(turn: Turn, statement: ScoredSentence, *, is_best: bool) -> float:
    if ALONE in statement.fired:
        return WORTHY_TO_NOBODY
    in_group = "group" in statement.fired
    impersonal = turn.impersonal and not turn.to_agent
    if (in_group or impersonal) and not is_clear_to_outsiders(statement.said, statement.asked):
        return NEVER
    of_self = PLAIN in statement.fired or (by_people.is_of_self(statement) and not turn.impersonal)
    wished = turn.to_agent and not (WISHES if turn.impersonal else ALWAYS).isdisjoint(statement.fired)
    if (of_self or wished) and not turn.by_agent:
        return WORTHY_OF_MEMBER if in_group else _least_if_wanted(statement, of_self=of_self)
    if impersonal:
        return WORTHY_IN_PUBLIC if says_what_holds(statement.said) else WORTHY_REMARK
    if in_group:
        return WORTHY_IN_GROUP
    least = _least_of_agent if turn.by_agent else _least_of_person
    return least(turn, statement, is_best=is_best)


def _least_of_agent(turn: Turn, statement: ScoredSentence, *, is_best: bool) -> float:
    if turn.impersonal and "delivered" not in statement.fired:
        return NEVER if is_inference(statement.said) else WORTHY_OF_CODER
    if SAID in statement.fired:
        return WORTHY_OF_AGENT if has_verb(statement.said) else WORTHY_WITHOUT_VERB
    return FIRST_OF_AGENT if is_best and not turn.impersonal else WORTHY


def _least_of_person(turn: Turn, statement: ScoredSentence, *, is_best: bool) -> float:
    if SAID in statement.fired and turn.to_agent and turn.weigh() < WORTH_PERHAPS:
        return WORTHY_ALONE
    if not is_best or turn.impersonal:
        return WORTHY
    if SAID in statement.fired:
        return FIRST_PASSAGE_TO_AGENT if turn.to_agent else FIRST_PASSAGE_WORTHY
    return FIRST_WORTHY_TO_AGENT if turn.to_agent and "decision" not in statement.fired else FIRST_WORTHY


def _least_if_wanted(statement: ScoredSentence, *, of_self: bool) -> float:
    if PLAIN not in statement.fired:
        lasting = of_self or not SURE.isdisjoint(statement.fired) or lasts(statement.said)
        return SURELY_WORTHY if lasting else WORTHY_RULE
    if is_contact(statement.said):
        return 0.0
    return WORTHY_VALUE if gives_value(statement.said) else WORTHY_STATE


def _by_signals(made: Sequence[ScoredCandidate], weigh: Callable[[], float], *, to_agent: bool) -> Iterator[Candidate]:
    best = max((one.candidate.importance for one in made), default=0.0)
    first = _least_of_first(weigh, best) if to_agent else FIRST_IN_PAIR
    further = USEFUL if to_agent else FURTHER_IN_PAIR
    for each in made:
        statement, one = each.statement, each.candidate
        if by_people.is_of_self(statement) and "group" not in statement.fired:
            yield replace(one, importance=max(one.importance, OF_SELF))
        elif _is_kept(statement, one, first if one.importance == best else further, to_agent=to_agent):
            yield one


def _is_kept(statement: ScoredSentence, one: Candidate, least: float, *, to_agent: bool) -> bool:
    if to_agent and not ALWAYS.isdisjoint(statement.fired):
        return True
    if "group" in statement.fired:
        return _is_of_group(statement, one.importance)
    return one.importance >= (min(FAIR, least) if to_agent and _is_work(statement, one) else least)


def _least_of_first(weigh: Callable[[], float], best: float) -> float:
    """Return the minimum importance of the best statement of a turn with an agent."""
    return FAIR if FAIR <= best < USEFUL and weigh() >= WORTH_SURELY else USEFUL


def _is_work(statement: ScoredSentence, one: Candidate) -> bool:
    """Return True if a statement is a result, promise or choice, or names open work, which its later end must find."""
    return not SETTLED.isdisjoint(statement.fired) or (one.type == "task" and is_named(statement.said))


def _is_of_group(one: ScoredSentence, importance: float) -> bool:
    """Return True if a group's statement is a choice or a promise, or a useful fact outside the discussion."""
    if not UNSURE.isdisjoint(one.fired) or DISFLUENT.search(one.said) is not None:
        return False
    if not OF_GROUP.isdisjoint(one.fired):
        return len(set(content_words(one.said))) >= SAYS_WHAT
    return importance >= IN_GROUP and not FACTS_OF_GROUP.isdisjoint(one.fired)
