"""The keys of a statement: two statements that may have to do with each other share one, so that they find each other
by a probe of an index a key and nothing is compared with everything.

    claims    (subject, attribute): all values of one attribute meet, whatever else is said
    cores     a short text's words, and these without one of them, each in turn: a text with one word more, less or
              changed; of a longer text MinHash bands, which agree the more often the more words two texts share
    pairs     two words that stand in the text, the telling ones first: most texts that are alike share several
    singles   the most telling words alone: for texts that share one word and mean the same

A key of words is the exclusive or of their hashes, so that a set of words has one key whichever way it came about, and
in whatever order; it is the same in every process, on every machine.

Must not know: which statements are alike, and where keys are stored.
"""

from collections.abc import Sequence
from functools import lru_cache, reduce
from hashlib import blake2b
from itertools import combinations
from operator import xor

from slowwave_server.domain.similarity import AttributeClaim, Reading

MAX_KEYS = 32
MAX_CLAIMS = 4
MAX_CORE = 8
"""A text of more words has no cores: two that long are seldom one word apart."""
MAX_PAIRS = 15
MAX_SINGLES = 4
MAX_PAIRED = 16
"""So many words of a text make pairs: those whose hashes are smallest, the same ones in another text."""

_BANDS = 8
_BAND_WORDS = 2
_MASK = (1 << 64) - 1
_SIGN = 1 << 63
_PLAIN_WORDS = frozenset(
    "user have get go make take come give do say tell know think see look want need use like love enjoy prefer hate "
    "feel find keep let put try start plan work live be call ask talk thing way lot time day week month year people "
    "person man woman friend good great new old big little first last much many more most well".split()
)
"""Words that half of all memories hold: a key of them alone leads everywhere."""


def block_keys(reading: Reading) -> tuple[int, ...]:
    """The keys of a text: signed 64-bit, without repetition, at most MAX_KEYS. None for a text without content."""
    words = {word: _hashed(word) for word in reading.stems}
    hashes = sorted(words.values())
    cores = _cores(hashes) if len(hashes) <= MAX_CORE else _bands(hashes)
    keys = [*cores, *_pairs(words), *_singles(words)]
    return tuple(dict.fromkeys((*claim_keys(reading), *map(_signed, keys))))[:MAX_KEYS]


def claim_keys(reading: Reading) -> tuple[int, ...]:
    """One key for each (subject, attribute) that the text says something of, at most MAX_CLAIMS. All are block keys."""
    return tuple(dict.fromkeys(_claim_key(claim) for claim in reading.claims))[:MAX_CLAIMS]


def _claim_key(claim: AttributeClaim) -> int:
    return _signed(_hashed(f"{claim.subject}\0{claim.attribute}"))


def _cores(hashes: Sequence[int]) -> list[int]:
    whole = reduce(xor, hashes, 0)
    return [whole, *(whole ^ one for one in hashes)] if len(hashes) > 1 else list(hashes)


def _bands(hashes: Sequence[int]) -> list[int]:
    least = [min((number * order) & _MASK for number in hashes) for order in _ORDERS]
    return [reduce(xor, least[place : place + _BAND_WORDS]) for place in range(0, len(least), _BAND_WORDS)]


def _pairs(words: dict[str, int]) -> list[int]:
    """The order depends on nothing but the pair, so that two texts that share many choose the same ones."""
    paired = sorted((number, word in _PLAIN_WORDS) for word, number in words.items())[:MAX_PAIRED]
    ranked = sorted(
        (plain + other_plain, one ^ other) for (one, plain), (other, other_plain) in combinations(paired, 2)
    )
    return [key for _, key in ranked[:MAX_PAIRS]]


def _singles(words: dict[str, int]) -> list[int]:
    ranked = sorted(words, key=lambda word: (word in _PLAIN_WORDS, -len(word), word))
    return [words[word] for word in ranked[:MAX_SINGLES]]


def _signed(number: int) -> int:
    return number - (1 << 64) if number & _SIGN else number


@lru_cache(maxsize=1 << 16)
def _hashed(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest())


# An odd multiplier shuffles all 64-bit numbers: the least one under it is any word of a text.
_ORDERS = tuple(_hashed(f"order {number}") | 1 for number in range(_BANDS * _BAND_WORDS))
