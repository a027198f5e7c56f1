"""Invented words: one for each statement, so that checks find the statement everywhere.

All words have the same length, so none is a part of another. Each looks like a name, and the rules treat it as one.
"""

import re

_SYLLABLES = [consonant + vowel for consonant in "bdfgjklmnprstvwz" for vowel in "aeiou"]
_SIZE = len(_SYLLABLES) ** 4
# Odd and no multiple of 5, so that neighbouring numbers get very different words, and no two numbers the same word.
_STEP = 27_368_787
_WORD = re.compile(r"Zy(?:[bdfgj-np-tvwz][aeiou]){4}", re.IGNORECASE)
PRODUCERS = 40
"""Each has a million words of its own."""


def word(producer: int, serial: int) -> str:
    """Return the word of one statement of one producer. Raises ValueError beyond 40 producers or a million
    words each.
    """
    if not (0 <= producer < PRODUCERS and 0 <= serial < _SIZE // PRODUCERS):
        raise ValueError(f"no word for {producer}, {serial}")
    number = (producer * (_SIZE // PRODUCERS) + serial) * _STEP % _SIZE
    syllables = []
    for _ in range(4):
        number, place = divmod(number, len(_SYLLABLES))
        syllables.append(_SYLLABLES[place])
    return "Zy" + "".join(syllables)


def words_in(text: str) -> set[str]:
    """Return all such words in a text, in their original spelling."""
    return {found.capitalize() for found in _WORD.findall(text)}
