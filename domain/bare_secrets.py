"""Detects statements that only say that somebody has a secret. Such a statement is not worth a memory."""

import re
from collections.abc import Iterable
from dataclasses import replace

from slowwave.redaction.folding import MARK
from slowwave.redaction.words import BEHIND, GRAMMAR, NOUNS, PROSE
from slowwave_server.domain.candidates import Candidate, Extraction, ExtractionContext, Window

_WORD = re.compile(r"[^\W\d_]+")
_ASKING = frozenset(
    "s t don doesn lose loses share tell tells anyone anybody nobody says said has had wants keep keeps note"
    " notes store save saves ask asks uses used user users assistant's assistant agent safe secret bank account"
    " card number id api access wifi wlan one time sicher merken bitte teilen sagt hat verlieren garde perds"
    " partage dit a dis personne guarda pierdas compartas dice tiene guarde perca compartilhe diz tem conserva"
    " perdere condividere dice ha храни теряй говори сказал".split()
)
_EMPTY = PROSE | GRAMMAR | _ASKING | frozenset(BEHIND["signs"]) | {word for noun in NOUNS for word in noun.words}
_STEMS = tuple(stem for noun in NOUNS for stem in noun.stems)


def tells_only_a_secret(content: str, names: Iterable[str] = ()) -> bool:
    """Return True if a redacted statement only says that somebody has a secret.

    Args:
        content: the statement, with each secret replaced by "[redacted:KIND]".
        names: names of the people to whom the secret can belong; alone they do not count as content.

    Example:
        >>> tells_only_a_secret("Maya's API token is [redacted:github-token], please don't lose it", ["Maya"])
        True
    """
    if MARK.search(content) is None:
        return False
    own = {word for name in names for word in _WORD.findall(name.lower())}
    words = set(_WORD.findall(MARK.sub(" ", content).lower())) - own - _EMPTY
    return all(any(stem in word for stem in _STEMS) for word in words)


def without_bare_secrets(extraction: Extraction, window: Window, context: ExtractionContext) -> Extraction:
    """Return the extraction without statements that only say that somebody has a secret."""
    speakers = [context.agent, *(event.name for event in window.events if event.name)]
    kept = tuple(one for one in extraction.candidates if not _is_bare(one, speakers))
    return extraction if len(kept) == len(extraction.candidates) else replace(extraction, candidates=kept)


def _is_bare(candidate: Candidate, speakers: list[str]) -> bool:
    return tells_only_a_secret(candidate.content, [*speakers, *candidate.entities])
