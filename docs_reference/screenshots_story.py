"""A few days of invented conversations, for pictures of pages that have something on them."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple


class Said(NamedTuple):
    """One turn: who said what to which agent in which conversation, and what the agent answered."""

    agent: str
    session: str
    name: str
    said: str
    answered: str
    at: datetime


_LINES = (
    (3, "concierge", "trip", "Maya", "We decided to fly to Lisbon on 14 May.", "Noted. Any wishes for food?"),
    (3, "concierge", "trip", "Maya", "I'm allergic to peanuts.", "I'll keep that in mind."),
    (3, "concierge", "trip", "Maya", "My sister Ana prefers vegetarian restaurants.", "Good to know."),
    (3, "concierge", "home", "Maya", "I live in Oslo.", "A fine city."),
    (3, "concierge", "home", "Maya", "I work at Halden as an engineer.", "Sounds demanding."),
    (3, "concierge", "home", "Maya", "My brother Jonas works at Brightwater.", "I see."),
    (3, "concierge", "home", "Maya", "Jonas lives in Bergen.", "On the coast, then."),
    (3, "concierge", "home", "Maya", "My favourite editor is Vim.", "A classic."),
    (2, "concierge", "work", "Maya", "I prefer short answers in the morning.", "Understood."),
    (2, "concierge", "work", "Maya", "We decided to name the boat Tern.", "A lovely name."),
    (2, "concierge", "work", "Maya", "I want to learn how to sail before summer.", "There is a course in April."),
    (2, "concierge", "work", "Maya", "Priya works at Halden.", "A colleague, then."),
    (1, "concierge", "move", "Maya", "I moved to Bergen.", "Congratulations!"),
    (1, "concierge", "move", "Maya", "I live in Bergen now.", "I'll remember."),
    (1, "concierge", "move", "Maya", "I work at Brightwater.", "With your brother!"),
    (1, "concierge", "move", "Maya", "Please remind me to renew the lease on Friday.", "I will."),
    (0, "concierge", "today", "Maya", "My favourite editor is Emacs.", "A change of mind!"),
    (0, "concierge", "today", "Maya", "My sister Ana is allergic to gluten.", "Noted."),
    (2, "librarian", "desk", "Priya", "I prefer printed books.", "Of course."),
    (2, "librarian", "desk", "Priya", "We decided to order the atlas in June.", "It is on the list."),
    (1, "librarian", "desk", "Priya", "I live in Lund.", "Noted."),
    (0, "gardener", "spring", "Jonas", "The greenhouse opens at eight.", "Good."),
)
_COLLEAGUES = ("Nora", "Emil", "Ines", "Lukas", "Sofia", "Omar", "Freya", "Mateo", "Hana", "Tariq")
"""Each of them names two employers, so that the inbox has ten contradictions more."""
_EMPLOYERS = ("Halden", "Brightwater", "Corvane", "Ostrava Rail", "Lindqvist")
_TRADES = (" as an engineer", " as a designer", " as an accountant")
WAITING = ("concierge", "dinner", "Maya", "Which restaurant should I book for Ana's birthday?")
"""What nobody has processed yet when the pictures are taken."""


def story(now: datetime) -> Iterator[Said]:
    """All turns, the oldest first, at times of the last days."""
    noon = now.replace(hour=12, minute=0, second=0, microsecond=0)
    lines = sorted((*_LINES, *_at_work()), key=lambda line: -line[0])
    for number, (days, agent, session, name, said, answered) in enumerate(lines):
        at = min(noon - timedelta(days=days) + timedelta(minutes=number), now - timedelta(minutes=len(lines) - number))
        yield Said(agent, session, name, said, answered, at)


def _at_work() -> Iterator[tuple[int, str, str, str, str, str]]:
    for number, name in enumerate(_COLLEAGUES):
        for days, place in ((3, number), (1, number + 1)):
            employer = _EMPLOYERS[place % len(_EMPLOYERS)]
            trade = _TRADES[number % len(_TRADES)] if days > 1 else ""
            yield (
                days,
                "onboarding",
                name.lower(),
                name,
                f"I work at {employer}{trade}.",
                "Thank you, noted.",
            )
