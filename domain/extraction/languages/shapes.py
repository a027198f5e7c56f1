"""Find surface features of a sentence, independent of its meaning: numbers, identifiers, names, questions, length."""

import re

from slowwave_server.domain.extraction.languages import Language

SHORT_WORDS, SHORT_LETTERS = 3, 6
"""A shorter sentence says little by itself, in a language with spaces and in one without."""
LONG_WORDS, LONG_LETTERS = 6, 12
"""A sentence of at least this length is usually informative."""
MARKS = " ,.!?;:-–—…、，。！？；："
"""Spaces and punctuation at the edges of a clause."""
COMMAND = re.compile(r"\s--?[A-Za-z]\b")
"""A command-line option: a sentence with one is code, not a report."""
IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Z0-9-]{0,40}\d)(?=[A-Z0-9-]{0,40}[A-Z])[A-Z0-9][A-Z0-9-]{2,40}(?![A-Za-z0-9])|#\d+|"
    r"`[^`\n]{2,60}`|[\w.+-]{1,60}@[\w-]{1,60}\.\w|(?<![\w/.])\d{5,20}(?![\d.,])|"
    r"[A-Za-z0-9_.-]{1,60}/[A-Za-z0-9_.-]{2,60}|\b[a-z0-9]{1,30}(?:[_-][a-z0-9]{1,30}){0,4}[_-][a-z]{0,10}\d\w{0,20}|"
    r"\b[a-z]{2,30}_[a-z0-9_]{2,40}|\b[\w-]{1,60}\.(?:py|js|ts|md|json|ya?ml|toml|sql|csv|pdf|txt|html|docx?|xlsx?|"
    r"internal|local|net|com|org|io)\b"
)
_QUOTED = re.compile(r"[\"«「『“„][^\"»」』”“\n]{2,80}[\"»」』”“]")
_NAME = re.compile(r"(?<=[\w,;:)] )[A-ZÀ-ÖØ-Þ][^\W\d_]{2,}")
_FULL_NAME = re.compile(
    r"(?:^|(?<=[\w,;:)] ))[A-ZÀ-ÖØ-Þ][^\W\d_]+(?: (?:de|da|do|van|von|di|la|le|del|der|den)){0,3} [A-ZÀ-ÖØ-Þ][^\W\d_]+"
)
_LATIN = re.compile(r"[A-Za-z]{2,}|さん|先生|先輩|くん|ちゃん")
NUMERAL = re.compile(r"\d|[一二三四五六七八九十百千万两]+(?:[个個人只匹岁歳年月日号時点分万元円块件次回本杯公]|$)")
ASKS = re.compile(r"[?？][\"'»”」)）]*$")
FIGURE = re.compile(r"\d[\d.,:]*")
LETTERS = re.compile(r"[^\W\d_]")


def shape_of(bare: str, language: Language) -> set[str]:
    """Return the shape signals of a sentence: numbers, identifiers, names, quoted titles, length."""
    holds = {
        "digit": NUMERAL.search(bare) is not None,
        "identifier": IDENTIFIER.search(bare) is not None,
        "full_name": language.capital_names and _FULL_NAME.search(bare) is not None,
        "quoted": _QUOTED.search(bare) is not None,
        "name": (_NAME if language.spaced else _LATIN).search(bare) is not None
        and (language.capital_names or not language.spaced),
        "long": length(bare, language) >= (LONG_WORDS if language.spaced else LONG_LETTERS),
        "short": length(bare, language) < (SHORT_WORDS if language.spaced else SHORT_LETTERS),
    }
    return {name for name, held in holds.items() if held}


def is_question(sentence: str, language: Language) -> bool:
    """Return True if a sentence ends or begins as a question."""
    return ASKS.search(sentence) is not None or language.has("question", sentence.lower())


def length(text: str, language: Language) -> int:
    """Count words, or letters in a language without spaces."""
    return len(text.split()) if language.spaced else sum(one.isalnum() for one in text)
