"""English verbs after the speaker's name: "I walk" becomes "Maya walks", "I walked" stays "walked".

The module uses no tagger, only closed lists of irregular verbs and spelling rules for the others. A word that is not
clearly a present verb stays unchanged, because a missing -s reads badly and a wrong one changes the meaning.
"""

from collections.abc import Set as AbstractSet

AUXILIARIES = {
    "am": "is", "have": "has", "do": "does", "don't": "doesn't", "dont": "doesn't", "haven't": "hasn't",
    "havent": "hasn't", "wanna": "wants to",
    "are": "is", "aren't": "isn't", "ain't": "isn't", "were": "was", "weren't": "wasn't",
}  # fmt: skip
"""First person to third, for verbs that the spelling rules below do not cover."""

UNCHANGED = frozenset(
    "was wasn't had hadn't did didn't didnt will won't wont would wouldn't wouldnt can can't cant cannot could "
    "couldn't couldnt should shouldn't shouldnt may might must shall ought is has does isn't hasn't doesn't doesnt "
    "been being gotta gonna better shouldnt isnt wasnt hadnt aint".split(),
)

ADVERBS = frozenset(
    "also always never sure no longer pretty most seldom twice either neither kind sort just usually often still even "
    "only sometimes now then soon too ever once maybe perhaps almost kinda sorta rather quite so very much not indeed "
    "instead first both all each somehow already mostly really actually".split(),
)

PAST = frozenset(
    "went saw got made took came said told found gave knew thought became began broke brought built bought caught "
    "chose drew drank drove ate fell felt fought flew forgot froze grew hung heard hid held kept laid led left lent "
    "lost meant met paid rode rang rose ran sold sent shook shot sang sat slept spoke spent stood stole stuck swam "
    "swept swore taught tore threw understood woke wore won wrote learnt burnt dreamt spelt bent bit blew bred dealt "
    "dug fed fled lit sought slid sank sprang strode struck swung wept wound withdrew overcame undertook began used "
    "woken bound fit".split(),
)
"""Irregular past forms that differ from every present form."""

SAME_IN_PAST = frozenset("read put set cut let hit cost hurt quit bet spread shut beat split bid".split())

PARTICIPLES = frozenset(
    "been had done gone seen gotten made taken come known thought become begun broken brought built bought caught "
    "chosen driven eaten felt forgotten given grown heard kept left lost met paid ridden run sold sent spent taught "
    "thrown told understood won written better".split(),
)
_ENDS_LIKE_PAST = frozenset(
    "need feed seed bleed speed exceed proceed succeed embed breed heed weed indeed shed wed".split()
)
_LY_VERBS = frozenset("rely apply supply reply fly multiply comply bully rally ally imply".split())
_NOT_VERBS = frozenset(
    "and or but nor the a an to in of for that who which with at on by from as if when while because than about into "
    "over my your his her our their this these those it he she they you we me us him them i up down out off back here "
    "there yes ok okay lol haha myself yesterday today tomorrow tonight".split(),
)
_SIBILANT = ("s", "x", "z", "ch", "sh", "o")


def is_adverb(word: str) -> bool:
    """Return True if a lower-case word may occur between subject and verb ("never", "finally")."""
    return word in ADVERBS or (word.endswith("ly") and len(word) > 4 and word not in _LY_VERBS)


def is_past(word: str) -> bool:
    """Return True if a lower-case word is an unambiguous past form."""
    return word in PAST or (word.endswith("ed") and len(word) > 3 and word not in _ENDS_LIKE_PAST)


def any_past(words: AbstractSet[str]) -> bool:
    """Return True if one of the lower-case words is an unambiguous past form."""
    return not PAST.isdisjoint(words) or any(word.endswith("ed") and is_past(word) for word in words)


def third_person(word: str, *, past: bool = False) -> str:
    """Return the form of a lower-case verb after a name. past: the sentence is about the past (decides "read")."""
    if word in AUXILIARIES:
        return AUXILIARIES[word]
    if word in UNCHANGED or word in _NOT_VERBS or is_past(word) or (past and word in SAME_IN_PAST):
        return word
    if not word.isascii() or not word.isalpha() or len(word) < 2 or word.endswith("ing"):
        return word
    if word.endswith(_SIBILANT):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"
