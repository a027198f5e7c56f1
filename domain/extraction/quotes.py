"""Find names in single quotes: 'My Number' is a name, and the apostrophe of "don't" is not a quote."""

import re
from collections.abc import Sequence
from itertools import accumulate

_QUOTED = re.compile(r"(?<![\w'])'(?=[^\s'])[^'\n]{1,80}(?:(?<=\w)'\w[^'\n]{0,80}){0,3}(?<=\S)'(?![\w'])")


def between_single_quotes(tokens: Sequence[str]) -> frozenset[int]:
    """Return the indexes of the tokens inside single quotes."""
    if "'" not in tokens:
        return frozenset()
    spans = [match.span() for match in _QUOTED.finditer("".join(tokens))]
    starts = accumulate((len(part) for part in tokens), initial=0)
    return frozenset(at for at, start in enumerate(starts) if any(first <= start < end for first, end in spans))
