"""The conversation that the demo replays: one agent, two people's mornings, three sessions.

Must not know: how it is replayed.
"""

from typing import Any

AGENT = "concierge"
PERSON = "Maya"

Turn = list[dict[str, Any]]


def _turn(said: str, answered: str) -> Turn:
    return [
        {"role": "user", "name": PERSON, "content": said},
        {"role": "assistant", "content": answered},
    ]


# Session A: everything that the question in session B will need.
SESSION_A = "trip"
TURNS_A: list[Turn] = [
    _turn("Hi! I'm planning a trip for my sister's birthday.", "Lovely! Tell me more."),
    _turn("We decided to fly to Lisbon on 14 May.", "Noted. Any wishes for food?"),
    _turn("I'm allergic to peanuts, and my sister Ana prefers vegetarian restaurants.", "I'll keep that in mind."),
    _turn("Thanks, that's great!", "You're welcome!"),
]

# A second conversation of the same agent, still open.
SESSION_OTHER = "home"
TURNS_OTHER: list[Turn] = [
    _turn("I adopted a dog yesterday, his name is Pixel.", "Congratulations!"),
    _turn(
        "My API token is ghp_1234567890abcdefghijklmnopqrstuvwxyzAB, please don't lose it.", "I'd rather not know it."
    ),
]

# Session B: a prompt arrives; what was said elsewhere decides how good the answer is.
SESSION_B = "dinner"
QUESTION = "Which restaurant should I book for my sister's birthday dinner?"
LOOK_UP = "sister Ana restaurant allergic peanuts"
EXPECTED = ("peanuts", "vegetarian")
