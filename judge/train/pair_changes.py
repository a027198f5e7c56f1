"""Change statements in one place by code, so that the relation to the original is certain.

A conflict: a number that another statement of the group shares is changed, or a plain verb is negated. Distinct:
another person replaces the subject. A duplicate: capitals, a full stop or a short form are removed.
"""

import random
import re
from collections.abc import Mapping
from typing import Any

_NUMBER = re.compile(r"(?<![\w.])\d{1,4}(?![\w]|[.,]\d)")
_DENIED = (
    (re.compile(r" is (?!not\b)"), " is not "),
    (re.compile(r" are (?!not\b)"), " are not "),
    (re.compile(r" was (?!not\b)"), " was not "),
    (re.compile(r" can (?!not\b)"), " can't "),
    (re.compile(r" has (?=\w+ed\b|been\b)"), " hasn't "),
    (re.compile(r" (?:wants|needs|prefers|likes|uses) (?!to\b)"), " doesn't want "),
    (re.compile(r" (?:must|should) (?!not\b)"), " must not "),
)
_DENIES = re.compile(r"\b(?:not|no|never|none|without|nobody|nothing)\b|n't\b", re.IGNORECASE)
_SHORT = ((" is not ", " isn't "), (" does not ", " doesn't "), (" cannot ", " can't "), (" are not ", " aren't "))
_NAME = re.compile(r"^[A-Z][a-zé]{2,}(?=('s)? [a-z])")
_NO_NAMES = frozenset("The This That All Each Every For When After Before Since Only Our Any Both New Use".split())
_OTHERS = ("Ruben", "Ifeoma", "Marek", "Yuki", "Beatriz", "Tariq", "Elin", "Goran", "Noura", "Stefan")

Changed = tuple[str, str, str]


def changed(group: Mapping[str, Any], random_: random.Random) -> Changed | None:
    """Return a relation and two statements with this relation; None if the group allows no such change."""
    same = [group["statement"], *group["duplicate"]]
    a, b = random_.sample(same, 2)
    change = random_.choice((_another_number, _denied, _another_name, _another_look))
    if change is _denied and group["lang"] != "en":
        change = _another_number
    return change(a, b, random_)


def changed_memory(memory: str, random_: random.Random) -> Changed | None:
    """Change one real memory. Without such pairs a network learns that real memories never contradict each other."""
    return random_.choice((_another_number, _denied, _another_name, _another_look))(memory, memory, random_)


def _another_number(a: str, b: str, random_: random.Random) -> Changed | None:
    shared = sorted({one.group() for one in _NUMBER.finditer(a)} & {one.group() for one in _NUMBER.finditer(b)})
    if not shared:
        return None
    number = random_.choice(shared)
    other = number
    while other == number:
        other = str(max(1, int(number) + random_.choice((-20, -3, -2, -1, 1, 2, 3, 5, 10, 40))))
    return "conflict", a, re.sub(rf"(?<![\w.]){number}(?![\w]|[.,]\d)", other, b)


def _denied(a: str, b: str, random_: random.Random) -> Changed | None:
    if _DENIES.search(a) or _DENIES.search(b):
        return None
    for pattern, denied in _DENIED:
        if len(pattern.findall(b)) == 1 and len(b.split()) < 14:
            return "conflict", random_.choice((a, b)), pattern.sub(denied, b)
    return None


def _another_name(a: str, b: str, random_: random.Random) -> Changed | None:
    found = _NAME.match(a)
    if not found or found.group() in _NO_NAMES or found.group() not in b:
        return None
    return "distinct", a, b.replace(found.group(), random_.choice(_OTHERS))


def _another_look(a: str, b: str, random_: random.Random) -> Changed:
    said = random_.choice((a, b))
    looks = [said.rstrip(".。"), said[:1].lower() + said[1:], said.lower(), said.rstrip(".") + " ."]
    for whole, short in _SHORT:
        looks += [said.replace(whole, short), said.replace(short, whole)]
    looks = [look for look in looks if look != said]
    return "duplicate", said, random_.choice(looks or [said])
