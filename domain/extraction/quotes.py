"""Names between single quotes: 'My Number' is a name, and the apostrophe of "don't" is no quote.

Must not know: what becomes of the words around them.
"""

import re
from collections.abc import Sequence
from itertools import accumulate

_QUOTED = re.compile(r"(?<![\w'])'(?=[^\s'])[^'\n]{1,80}(?:(?<=\w)'\w[^'\n]{0,80}){0,3}(?<=\S)'(?![\w'])")


def between_single_quotes(tokens: Sequence[str]) -> frozenset[int]:
    """The places of the tokens of a sentence that stand between single quotes."""
    if "'" not in tokens:
        return frozenset()
    spans = [match.span() for match in _QUOTED.finditer("".join(tokens))]
    starts = accumulate((len(part) for part in tokens), initial=0)
    return frozenset(at for at, start in enumerate(starts) if any(first <= start < end for first, end in spans))
