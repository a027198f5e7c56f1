"""Regular expressions that are compiled at their first use.

Modules with many patterns use them, because most texts need few of the patterns, and a short command reads few texts:
compiling all patterns of `slowwave.redaction` takes a tenth of a second.
"""

import re
from typing import Any, cast

_USED = ("search", "match", "fullmatch", "finditer", "findall", "sub", "split", "groupindex", "pattern")


class _LazyPattern:
    """Stands for a pattern. At the first use it takes over the pattern's methods, so that later uses cost no more."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._source, self._flags)
        self.__dict__.update({used: getattr(compiled, used) for used in _USED})
        return getattr(compiled, name)


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    r"""Return a pattern that is compiled at its first use; `re.error` is raised then, too.

    Args:
        source: the regular expression.
        flags: flags such as `re.IGNORECASE`.

    Returns:
        An object with the methods of a compiled pattern. Only `isinstance` and functions of `re` tell the difference.

    Example:
        >>> lazy_pattern(r"\d+").findall("3 boats, 12 sails")
        ['3', '12']
    """
    return cast("re.Pattern[str]", _LazyPattern(source, flags))
