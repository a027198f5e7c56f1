"""The conversations that the demo replays: two weeks of one person with one agent."""

from dataclasses import dataclass

AGENT = "concierge"
PERSON = "Maya"
OPERATOR = "Sam"
DAYS = 14


@dataclass(frozen=True, slots=True)
class Chat:
    """One conversation: the number of days after the beginning, its session, the person's text, the agent's text."""

    day: int
    session: str
    said: str
    answered: str


WEEK_ONE = (
    Chat(0, "hello", "I live in Porto.", "Porto has good markets for fresh food."),
    Chat(1, "weekend", "I like hiking in the mountains.", "The mountains of Gerês are an hour away by car."),
    Chat(2, "sister", "My sister Ana likes mushrooms.", "There is a mushroom fair in Bragança every autumn."),
    Chat(3, "health", "I'm allergic to peanuts.", "I will check every menu for peanuts."),
    Chat(4, "outing", "I enjoy hiking in the mountains.", "Sunday will be dry, so take the long trail."),
    Chat(
        5,
        "keys",
        "My API token is ghp_1234567890abcdefghijklmnopqrstuvwxyzAB, please don't lose it.",
        "A token belongs into a password manager.",
    ),
)
WEEK_TWO = (
    Chat(7, "move", "I live in Bergen now.", "It rains on two of three days there: pack a coat."),
    Chat(9, "rules", "Please always answer in metric units.", "Then I count in kilometres and degrees Celsius."),
    Chat(10, "menu", "My sister Ana doesn't like mushrooms.", "I leave mushrooms out of the menu for Ana."),
    Chat(11, "party", "We decided to celebrate Ana's birthday in Bergen.", "A table for six is free at the harbour."),
)

TODAY = "dinner"
QUESTION = "Where do we celebrate Ana's birthday, and may I order mushrooms for her?"
EXPECTED = ("celebrate Ana's birthday in Bergen", "Ana doesn't like mushrooms", "allergies: peanuts")
"""Statements that the context of the last prompt must contain."""
