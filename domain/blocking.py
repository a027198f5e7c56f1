"""Compute the block keys of a statement. Two statements that may be related share a key. So one index lookup per key
finds the candidates, and no statement is compared with all others.

    claims    (subject, attribute): all values of one attribute share the key, whatever else the statements say
    cores     the words of a short text, and these words with one word left out, for each word: such a key finds a
              text with one word more, less or changed; a longer text has MinHash bands, which match more often the
              more words two texts share
    pairs     two words of the text, the most telling words first: most similar texts share several pairs
    singles   each of the most telling words alone: for texts that share one word and mean the same

A key of words is the exclusive or of their hashes. A set of words therefore has the same key in every order, in every
process and on every machine.
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
"""A text of more words has no cores, because two such texts seldom differ by one word only."""
MAX_PAIRS = 15
MAX_SINGLES = 4
MAX_PAIRED = 16
"""The number of words of a text that form pairs: the words with the smallest hashes, so that another text picks
the same.
"""

_BANDS = 8
_BAND_WORDS = 2
_MASK = (1 << 64) - 1
_SIGN = 1 << 63
_PLAIN_WORDS = frozenset(
    "user have get go make take come give do say tell know think see look want need use like love enjoy prefer hate "
    "feel find keep let put try start plan work live be call ask talk thing way lot time day week month year people "
    "person man woman friend good great new old big little first last much many more most well".split()
)
"""Words that occur in half of all memories: a key of these words alone is not selective."""


def block_keys(reading: Reading) -> tuple[int, ...]:
    """Return the keys of a text: distinct signed 64-bit integers, at most MAX_KEYS; none without content."""
    words = {word: _hashed(word) for word in reading.stems}
    hashes = sorted(words.values())
    cores = _cores(hashes) if len(hashes) <= MAX_CORE else _bands(hashes)
    keys = [*cores, *_pairs(words), *_singles(words)]
    return tuple(dict.fromkeys((*claim_keys(reading), *map(_signed, keys))))[:MAX_KEYS]


def claim_keys(reading: Reading) -> tuple[int, ...]:
    """Return a key, also a block key, for each (subject, attribute) that the text claims, at most MAX_CLAIMS."""
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
    """Return pairs of words, in an order by the pair alone, so that similar texts choose the same pairs."""
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


# An odd multiplier permutes all 64-bit numbers, so any word of a text can have the smallest product.
_ORDERS = tuple(_hashed(f"order {number}") | 1 for number in range(_BANDS * _BAND_WORDS))
