"""What all examples tell: Maya talks to the agent on Monday, and on Tuesday another conversation knows it.

The model is a rule that only reads what it is given, so that an example needs neither a network nor a key: it can
mention Maya's seat on Tuesday only if the memory has put it into its prompt.
"""

from slowwave import Memory

AGENT = "atlas"
PERSON = "Maya"
MONDAY = "I always prefer window seats when I fly."
TUESDAY = "Please find me a flight to Oslo."
KNOWS_NOTHING = "I found a flight to Oslo. Which seat would you like?"
REMEMBERS = "I found a flight to Oslo, with a window seat, as you prefer."


class NothingRemembered(Exception):
    """The second conversation did not know what the first one said."""


def reply_to(prompt: str) -> str:
    """What the pretended model answers to all that it is given, as one text."""
    if TUESDAY not in prompt:
        return "Thanks, I will keep that in mind."
    return REMEMBERS if "window seats" in prompt else KNOWS_NOTHING


def tell(day: str, question: str, answer: str) -> None:
    """Print one exchange."""
    print(f"\n{day}\n  {PERSON}:  {question}\n  Atlas: {answer}")


def conclude(memory: Memory, answer: str) -> None:
    """Print what the agent knows, and where from. Raises NothingRemembered if the answer shows none of it."""
    known = [hit for hit in memory.search(AGENT, "window seats") if hit.kind == "memory"]
    if answer != REMEMBERS or not known:
        raise NothingRemembered(f"on Tuesday the agent said: {answer}")
    print("\nWhat the agent knows, and where that was said:")
    for hit in known:
        places = ", ".join(f"session {session}, event {seq}" for session, seq in hit.sources)
        print(f"  {hit.content}  ({places})")
