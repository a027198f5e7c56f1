"""Match names in different scripts by sound: Москва and Moscow, トヨタ and Toyota.

The romanisation is rough: only consonants are compared. Han characters do not show their sound, so a name in Han needs
an alias phrase.
"""

import unicodedata
from difflib import SequenceMatcher

ALIKE = 0.75

_CYRILLIC = dict(
    zip(
        "абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґ",
        "a b v g d e e zh z i i k l m n o p r s t u f kh ts ch sh sh  y  e yu ya i i e g".split(" "),
        strict=True,
    )
)
_GREEK = dict(
    zip("αβγδεζηθικλμνξοπρσςτυφχψω", "a v g d e z i th i k l m n x o p r s s t i f ch ps o".split(), strict=True)
)
_KANA = dict(
    zip(
        "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲンヴ",
        (
            "a i u e o ka ki ku ke ko sa shi su se so ta chi tsu te to na ni nu ne no ha hi fu he ho ma mi mu me mo ya"
            " yu yo ra ri ru re ro wa o n vu"
        ).split(),
        strict=True,
    )
)
_VOICED = {"k": "g", "s": "z", "t": "d", "h": "b", "f": "b", "c": "j"}
_HANGUL = (
    "g kk n d tt r m b pp s ss  j jj ch k t p h".split(" "),
    "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split(),
    " k k k n n n t l k m l l l p l m p p t t ng t t k t p t".split(" "),
)
_ONE_SOUND = {"c": "k", "q": "k", "w": "v", "b": "v", "z": "s", "l": "r", "x": "ks", "g": "k", "d": "t"}


def script_of(text: str) -> str:
    """Return the script of all letters ("latin", "cyrillic", "greek", "kana", "hangul", "cjk" …), or "" if mixed."""
    found = {_script(character) for character in text if character.isalpha() or character == "ー"}
    if found <= {"katakana", "hiragana"} and found:
        return "kana"
    return found.pop() if len(found) == 1 else ""


def sound_alike(first: str, second: str) -> bool:
    """Return True if two names in different scripts have nearly the same consonants."""
    scripts = {script_of(first), script_of(second)}
    if len(scripts) < 2 or scripts & {"", "cjk"}:
        return False
    if romanized(first) == romanized(second):
        return True
    one, other = _consonants(romanized(first)), _consonants(romanized(second))
    if min(len(one), len(other)) < 2 or one[0] != other[0]:
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= ALIKE


def romanized(text: str) -> str:
    """Return a rough transcription into Latin letters."""
    plain = "".join(c for c in unicodedata.normalize("NFD", text.casefold()) if unicodedata.category(c) != "Mn")
    if script_of(text) in {"kana", "hangul"}:
        return "".join(map(_sound, unicodedata.normalize("NFC", text)))
    return "".join(_CYRILLIC.get(c) or _GREEK.get(c) or c for c in plain)


def _sound(character: str) -> str:
    code = ord(character)
    if 0xAC00 <= code <= 0xD7A3:
        lead, rest = divmod(code - 0xAC00, 588)
        vowel, tail = divmod(rest, 28)
        return _HANGUL[0][lead] + _HANGUL[1][vowel] + _HANGUL[2][tail]
    if 0x3041 <= code <= 0x3096:
        character = chr(code + 0x60)
    marks = list(unicodedata.normalize("NFD", character))
    plain = marks.pop(0)
    sound = _KANA.get(plain, "")
    if "\u3099" in marks and sound[:1] in _VOICED:
        return _VOICED[sound[0]] + sound.lstrip("kstchf")
    return "p" + sound[1:] if "\u309a" in marks else sound


def _script(character: str) -> str:
    name = unicodedata.name(character, "")
    return name.partition(" ")[0].lower().removesuffix("-hiragana")


def _consonants(text: str) -> str:
    letters = "".join(_ONE_SOUND.get(c, c) for c in text if c.isalpha() and c not in "aeiouyhj")
    return "".join(c for at, c in enumerate(letters) if at == 0 or c != letters[at - 1])
