"""Aliases: different names of one thing, learned from texts ("Kubernetes (k8s)", "call me Bob"); precision comes first.

spelling      the key that equates spellings, and the spans that may be a name
short_forms   whether a short form derives from a long one: initials, numeronyms, first letters, characters
scripts       whether two spellings in different scripts sound alike
phrases       the alias phrases of each language, as data
reading       names to the left and right of a position in a text
learning      the aliases in the events of a window
"""

from slowwave_server.domain.aliases.learning import Alias, learn
from slowwave_server.domain.aliases.spelling import MAX_NAME_CHARACTERS, clean_name, key_of

__all__ = ["MAX_NAME_CHARACTERS", "Alias", "clean_name", "key_of", "learn"]
