"""Find numbers that check digits or their form identify: cards, accounts, personal ids."""

import re
from collections.abc import Callable, Iterator, Sequence

from slowwave.lazy_patterns import lazy_pattern
from slowwave.redaction.shapes import Found

_RUN = lazy_pattern(r"\d(?:[ ./-]?\d){6,}")
_ISSUER = lazy_pattern(r"4|5[1-5]|2[2-7]|3[47]|3[068]|6(?:011|4[4-9]|5|2|7)|35|50|5[6-9]")
_CARD = lazy_pattern(r"\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{4,5}|\d{12,19}")
_CARD_WORDS = lazy_pattern(
    r"card|visa|amex|mastercard|kart|cart[ae]|tarjeta|cart[aã]o|карт|卡|カード|cvv|cvc|expir", re.IGNORECASE
)
_OTHER_NUMBER = lazy_pattern(
    r"(?:order|invoice|tracking|ticket|track|reference|ref|id|bestell|rechnung|commande|facture|pedido|factura|fatura|ordine|"
    r"fattura|заказ\w*|сч[её]т\w*|订单\S?|发票\S?|uid|№|#)\w{0,8}[^\w\n]{0,3}(?:(?:number|no|nummer|is|lautet|est|es|é|è|:|#|是)[^\w\n]{0,3}){0,3}$",
    re.IGNORECASE,
)
_IBAN = lazy_pattern(r"[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?(?![A-Za-z0-9])")
_IBAN_MODULUS = 97
_LETTERS_FIRST = (
    lazy_pattern(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D](?![A-Za-z0-9_])"),
    lazy_pattern(r"[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z](?![A-Za-z0-9_])"),
)
_CAPITALS = lazy_pattern(r"[A-Z]{2}(?:[A-Z]{4})? ?\d\d")
_JOINS_BEFORE = lazy_pattern(r"[A-Za-z0-9_.-]")
_JOINS_AFTER = lazy_pattern(r"[A-Za-z_]|[.-][A-Za-z0-9]")
CARD_LEAST = 12
LEAST_DIGITS = 9
MOST_GROUPS = 8
_GROUP = lazy_pattern(r"[^ ]+")


def luhn(digits: str) -> bool:
    """Return True if the last digit is the Luhn check digit of the others."""
    total = 0
    for place, sign in enumerate(reversed(digits)):
        digit = int(sign) * (1 + place % 2)
        total += digit - 9 if digit > 9 else digit  # the digit sum of a doubled digit
    return total % 10 == 0


def iban(account: str) -> bool:
    """Return True if an IBAN has the right check digits."""
    turned = account[4:] + account[:4]
    return int("".join(str(int(sign, 36)) for sign in turned)) % _IBAN_MODULUS == 1


def numbers(text: str) -> Iterator[Found]:
    """Find cards, accounts and personal ids. text: a text that contains digits."""
    for run in _RUN.finditer(text):
        for start, end in _parts(run):
            if kind := _kind(text, start, end):
                yield start, end + (kind == "national-id" and text[end : end + 1].isalpha()), kind
    for head in _CAPITALS.finditer(text):
        if not text[head.start() - 1 : head.start()].isalnum() or not text[head.start() - 1].isascii():
            yield from _lettered(text, head.start())


def _parts(run: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Split a run of digits and separators at its blanks, and yield the longest parts first."""
    yield run.span()
    if " " not in run[0]:
        return
    groups = [match.span() for match in _GROUP.finditer(run.string, *run.span())]
    for count in range(min(len(groups), MOST_GROUPS), 0, -1):
        for first in range(len(groups) - count + 1):
            start, end = groups[first][0], groups[first + count - 1][1]
            if end - start >= LEAST_DIGITS:
                yield start, end


def _kind(text: str, start: int, end: int) -> str | None:
    shown = text[start:end]
    before, after = text[max(0, start - 1) : start], text[end : end + 2]
    digits = "".join(filter(str.isdigit, shown))
    if len(digits) in _LETTER_BEHIND:
        return _with_letter(text, start, end, digits)
    if _JOINS_BEFORE.match(before) or _JOINS_AFTER.match(after):
        return None
    for form, holds, kind in _BY_LENGTH.get(len(digits), ()):
        if form.fullmatch(shown) and holds(digits):
            return kind
    if len(digits) > CARD_LEAST and _is_card(text, start, shown, digits):
        return "card"
    return None


def _is_card(text: str, start: int, shown: str, digits: str) -> bool:
    """Return True for an issuer's prefix and a valid check digit, unless the text calls the number something else."""
    if _CARD.fullmatch(shown) is None or not luhn(digits) or _ISSUER.match(digits) is None or len(set(digits)) < 3:
        return False
    before = text[max(0, start - 60) : start]
    if _CARD_WORDS.search(before):
        return True
    # Runs of digits that no word calls a card: many other numbers have 13 or 14 digits, few have 15 or 16.
    plain = shown.isdigit() and len(digits) not in {15, 16}
    return not plain and text[start - 1 : start] != "+" and _OTHER_NUMBER.search(before) is None


def _with_letter(text: str, start: int, end: int, digits: str) -> str | None:
    """Find Spanish numbers (eight digits and a letter; a letter, seven digits, a letter) and Chinese ones with X."""
    letter, after = text[end : end + 1], text[end + 1 : end + 2]
    if not letter.isalpha() or not letter.isascii() or _JOINS_AFTER.match(after) or len(digits) != end - start:
        return None
    if len(digits) == 17:  # and the check digit
        return "national-id" if letter in "Xx" and _resident(digits + "X") else None
    first = text[start - 1 : start] if len(digits) == 7 else ""  # the number of a foreigner
    if len(digits) == 7 and first not in tuple("XYZ"):
        return None
    return "national-id" if _spain(first + digits + letter) else None


def _lettered(text: str, start: int) -> Iterator[Found]:
    """Find numbers that begin with letters: IBANs, British and Italian ids."""
    start += 4 * text.startswith("IBAN", start)
    match = _IBAN.match(text, start)
    if match is not None and (length := _iban_end(match[0])):
        yield start, start + length, "iban"
        return
    british, italian = _LETTERS_FIRST
    if (match := british.match(text, start)) is not None:
        yield *match.span(), "national-id"
    if (match := italian.match(text, start)) is not None and _fiscale(match[0]):
        yield *match.span(), "national-id"


def _iban_end(match: str) -> int:
    """Return how many characters of a match belong to the account number; capitalised words after it do not."""
    for place in range(len(match), 14, -1):
        if not match[place - 1].isalnum() or (place < len(match) and match[place].isalnum()):
            continue
        bare = re.sub(r"[ -]", "", match[:place])
        if 15 <= len(bare) <= 34 and iban(bare):  # lengths of the shortest and the longest IBAN
            return place
    return 0


def _weighted(digits: str, weights: Sequence[int]) -> int:
    return sum(int(sign) * weight for sign, weight in zip(digits, weights, strict=False))


def _spain(text: str) -> bool:
    number = int(text[1:-1]) + "XYZ".index(text[0]) * 10_000_000 if text[0] in "XYZ" else int(text[:-1])
    return text[-1] == "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23]


def _cpf(text: str) -> bool:
    return all(_weighted(text[:count], range(count + 1, 1, -1)) * 10 % 11 % 10 == int(text[count]) for count in (9, 10))


def _cnpj(text: str) -> bool:
    first = (5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)
    rests = ((count, _weighted(text[:count], weights) % 11) for count, weights in ((12, first), (13, (6, *first))))
    return all((11 - rest if rest > 1 else 0) == int(text[count]) for count, rest in rests)


def _insee(text: str) -> bool:
    return 97 - int(text[:13]) % 97 == int(text[13:])


def _fiscale(text: str) -> bool:
    odd = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
    worth = [int(sign) if sign.isdigit() else ord(sign) - ord("A") for sign in text[:15]]
    return chr(sum(odd[v] if place % 2 == 0 else v for place, v in enumerate(worth)) % 26 + ord("A")) == text[15]


def _snils(text: str) -> bool:
    return _weighted(text[:9], range(9, 0, -1)) % 101 % 100 == int(text[9:])


def _resident(text: str) -> bool:
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return "10X98765432"[_weighted(text[:17], weights) % 11] == text[17]


def _ahv(text: str) -> bool:
    return -_weighted(text[:12], (1, 3) * 6) % 10 == int(text[12])


_LETTER_BEHIND = frozenset({7, 8, 17})
_Form = tuple[re.Pattern[str], Callable[[str], bool], str]
_BY_LENGTH: dict[int, tuple[_Form, ...]] = {
    9: ((lazy_pattern(r"(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}"), lambda _text: True, "ssn"),),
    11: (
        (lazy_pattern(r"\d{3}\.\d{3}\.\d{3}-\d\d"), _cpf, "national-id"),
        (lazy_pattern(r"\d{3}-\d{3}-\d{3} \d\d"), _snils, "national-id"),
    ),
    13: ((lazy_pattern(r"756\.?\d{4}\.?\d{4}\.?\d\d"), _ahv, "national-id"),),
    14: ((lazy_pattern(r"\d\d\.\d{3}\.\d{3}/\d{4}-\d\d"), _cnpj, "national-id"),),
    15: ((lazy_pattern(r"[12] ?\d\d ?\d\d ?\d\d ?\d{3} ?\d{3} ?\d\d"), _insee, "national-id"),),
    18: (
        (
            lazy_pattern(r"[1-8]\d{5}(?:18|19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{4}"),
            _resident,
            "national-id",
        ),
    ),
}
