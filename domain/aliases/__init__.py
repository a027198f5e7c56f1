"""Names that mean the same: learned from what people write ("Kubernetes (k8s)", "call me Bob"), with precision first.

    spelling      the key by which two spellings are one name, and what may be a name at all
    short_forms   whether a short form is made of a long one: initials, numeronyms, first letters, characters
    scripts       whether two spellings in different scripts sound alike
    phrases       the phrases of each language that say so, as data
    reading       names to the left and right of a place in a text
    learning      what the events of a window teach

Must not know: where aliases are stored, and how a search uses them.
"""

from slowwave_server.domain.aliases.learning import Alias, learn
from slowwave_server.domain.aliases.spelling import MAX_NAME_CHARACTERS, clean_name, key_of

__all__ = ["MAX_NAME_CHARACTERS", "Alias", "clean_name", "key_of", "learn"]
