"""Detect the language of a text, and list the support by Postgres and the extraction rules for each language.

A script decides if it is specific enough (Han, Kana, Hangul, Thai). py3langid decides for the others: it is maintained,
needs no network, takes a tenth of a millisecond per text, and depends on numpy alone. Its model takes some 70 MB of
memory, so plain English, the language of most texts, is recognized without the model. A text of few words gets the
language of its neighbours.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from slowwave.lazy_patterns import lazy_pattern

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

DEFAULT = "en"
LONGEST = 2_000
"""Detection reads this many characters of a text."""
FEWEST_WORDS = 3
SURE = 0.5
"""A lower probability decides nothing."""
NEIGHBOURS = 4
"""A text has another language than its neighbours only if that language is this many times as probable."""
PLAINLY_ENGLISH = 0.2
"""The share of words that only English has, from which a text is English without the model."""


class Language(NamedTuple):
    """A language that can be recognized.

    Attributes:
        name: Its name in English, for reports.
        configuration: The Postgres text search configuration for its words; "simple" does not stem them. A language
            without spaces is searched by pairs of characters, and the Latin words in it are stemmed as English.
        rules: True if the extraction rules support it. Without rules, search finds its texts, but they become no
            memories.
        latin: True if it is written in Latin letters.
    """

    name: str
    configuration: str = "simple"
    rules: bool = False
    latin: bool = True


LANGUAGES = {
    "en": Language("English", "english", rules=True),
    "de": Language("German", "german", rules=True),
    "fr": Language("French", "french", rules=True),
    "es": Language("Spanish", "spanish", rules=True),
    "pt": Language("Portuguese", "portuguese", rules=True),
    "it": Language("Italian", "italian", rules=True),
    "nl": Language("Dutch", "dutch", rules=True),
    "zh": Language("Chinese", "english", rules=True, latin=False),
    "ja": Language("Japanese", "english", rules=True, latin=False),
    "ca": Language("Catalan", "catalan"),
    "da": Language("Danish", "danish"),
    "fi": Language("Finnish", "finnish"),
    "hu": Language("Hungarian", "hungarian"),
    "id": Language("Indonesian", "indonesian"),
    "lt": Language("Lithuanian", "lithuanian"),
    "no": Language("Norwegian", "norwegian"),
    "ro": Language("Romanian", "romanian"),
    "sv": Language("Swedish", "swedish"),
    "tr": Language("Turkish", "turkish"),
    "ar": Language("Arabic", "arabic", latin=False),
    "el": Language("Greek", "greek", latin=False),
    "hi": Language("Hindi", "hindi", latin=False),
    "hy": Language("Armenian", "armenian", latin=False),
    "ne": Language("Nepali", "nepali", latin=False),
    "ru": Language("Russian", "russian", latin=False),
    "sr": Language("Serbian", "serbian", latin=False),
    "ta": Language("Tamil", "tamil", latin=False),
    "bg": Language("Bulgarian", latin=False),
    "bn": Language("Bengali", latin=False),
    "cs": Language("Czech"),
    "et": Language("Estonian", "estonian"),
    "fa": Language("Persian", latin=False),
    "he": Language("Hebrew", latin=False),
    "hr": Language("Croatian"),
    "ka": Language("Georgian", latin=False),
    "ko": Language("Korean", "english", latin=False),
    "lv": Language("Latvian"),
    "pl": Language("Polish"),
    "sk": Language("Slovak"),
    "sl": Language("Slovenian"),
    "th": Language("Thai", "english", latin=False),
    "uk": Language("Ukrainian", latin=False),
    "ur": Language("Urdu", latin=False),
    "vi": Language("Vietnamese"),
}

_BY_SCRIPT = frozenset(("zh", "ja", "ko", "th"))
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
# Paths, addresses, tags, names of things and numbers.
_NO_PROSE = re.compile(r"[/\\_@<>{}=|\d]|[a-z][A-Z]|\w[.:]+\w")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_KANA = lazy_pattern(r"[\u3041-\u3096\u309d-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HAN = lazy_pattern(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_HANGUL = lazy_pattern(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
_THAI = re.compile(r"[\u0e01-\u0e5b]")
_LETTERS_OF_A_WORD = 3
"""A Han character counts as this many letters."""
_JAPANESE = 0.1
"""The share of Kana from which a text in Han characters is Japanese."""
# English words that other languages in Latin letters hardly ever use.
_ENGLISH = frozenset(
    "the and you your that that's this these those with it's i'm i've i'd i'll my are aren't from what what's "
    "which who would should could don't doesn't didn't isn't wasn't can't won't she they their them there "
    "there's about been because please thanks have has had were when where how why our his her we're you're "
    "let's than then only just like know think want need some any other after before".split()
)


def detect(text: str, fallback: str = DEFAULT) -> str:
    """Return the language of a text as an ISO 639-1 code of `LANGUAGES`; code, paths and addresses in it do not count.

    fallback: the language of its neighbours, returned if the text is too short to decide.

    Example:
        >>> detect("Ich wohne seit März in Berlin.")
        'de'
        >>> detect("Ok!", fallback="de")
        'de'
    """
    read = _read(text[:LONGEST])
    if read.by_script is not None:
        return read.by_script
    if read.says_too_little:
        return fallback
    if fallback in {"", DEFAULT} and read.is_plainly_english:
        return DEFAULT
    best = read.best
    if (
        best not in LANGUAGES
        or read.ranked[best] < SURE
        or read.ranked[best] < NEIGHBOURS * read.ranked.get(fallback, 0)
    ):
        return fallback
    return best


def detect_each(texts: Sequence[str], before: Iterable[str] = ()) -> list[str]:
    """Return the language of each of these consecutive texts; short texts get the language of the others.

    before: preceding texts of the conversation, which count for its language.
    """
    fallback = main_language((*before, *texts))
    return [detect(text, fallback) for text in texts]


def main_language(texts: Iterable[str]) -> str:
    """Return the language of most of these texts; English if every text is too short to decide."""
    counts = Counter(language for text in texts if (language := detect(text, "")))
    return counts.most_common(1)[0][0] if counts else DEFAULT


def _prose(text: str) -> str:
    """Return the text without code, paths, addresses and numbers."""
    tokens = _CODE.sub(" ", text).split() if "`" in text else text.split()
    # Text without spaces is one token, including code and addresses in it.
    return " ".join(token for token in tokens if not (token.isascii() and _NO_PROSE.search(token)))


def _script_language(prose: str) -> str | None:
    """Return the language of this script, if only one language, or nearly only one, uses the script."""
    kana, han = len(_KANA.findall(prose)), len(_HAN.findall(prose))
    hangul, thai = len(_HANGUL.findall(prose)), len(_THAI.findall(prose))
    weights = {"han": (kana + han) * _LETTERS_OF_A_WORD, "ko": hangul * _LETTERS_OF_A_WORD, "th": thai}
    script = max(weights, key=weights.__getitem__)
    others = sum(map(str.isalpha, prose)) - kana - han - hangul - thai
    if weights[script] <= others:
        return None
    if script == "han":
        return "ja" if kana >= _JAPANESE * (kana + han) else "zh"
    return script


class _Reading:
    """A text's evidence for its language, independent of its neighbours. The model runs only if it matters."""

    def __init__(self, text: str) -> None:
        prose = _prose(text)
        self.by_script = None if prose.isascii() else _script_language(prose)
        self._words = _WORD.findall(prose) if self.by_script is None else []

    @property
    def says_too_little(self) -> bool:
        """Return True if the text has too few words to decide."""
        latin = sum(map(str.isascii, self._words)) * 2 >= len(self._words)
        return len(self._words) < (FEWEST_WORDS if latin else 1)

    @cached_property
    def is_plainly_english(self) -> bool:
        """True if the words alone show that the text is English."""
        words = self._words
        return all(map(str.isascii, words)) and sum(
            word.lower() in _ENGLISH for word in words
        ) >= PLAINLY_ENGLISH * len(words)

    @cached_property
    def ranked(self) -> Mapping[str, float]:
        """Return the languages with their probabilities by the model."""
        return dict(_identifier().rank(" ".join(self._words)))

    @cached_property
    def best(self) -> str:
        """Return the most probable language."""
        return max(self.ranked, key=self.ranked.__getitem__)


@lru_cache(maxsize=64)  # a flush detects the language of a text several times: alone and among others
def _read(text: str) -> _Reading:
    return _Reading(text)


@cache
def _identifier() -> "LanguageIdentifier":
    """Return the model, loaded when the first text needs it and restricted to the languages of Slowwave."""
    import numpy as np  # noqa: PLC0415 - both take a second and memory that English texts do not need
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415

    whole = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    whole.set_languages(LANGUAGES.keys() - _BY_SCRIPT)
    return LanguageIdentifier(
        np.ascontiguousarray(whole.nb_ptc, dtype=np.float32),
        whole.nb_pc,
        whole.nb_classes,
        whole.tk_nextmove,
        whole.tk_output,
        norm_probs=True,
        tk_row=whole.tk_row,
    )
