"""Make invented cards, accounts and personal ids, with valid check digits."""

import string
from collections.abc import Callable, Sequence
from random import Random

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_SNILS_MODULUS = 101


def _digits(count: int, random: Random) -> list[int]:
    return [random.randint(1, 9), *(random.randint(0, 9) for _ in range(count - 1))]


def _text(digits: Sequence[int]) -> str:
    return "".join(map(str, digits))


def _luhn(digits: Sequence[int]) -> int:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = digit * 2 if place % 2 == 0 else digit
        total += doubled - 9 if doubled > 9 else doubled
    return -total % 10


def _card(prefix: str, length: int, groups: Sequence[int], random: Random) -> str:
    digits = [int(sign) for sign in prefix] + _digits(length - len(prefix) - 1, random)
    text = _text([*digits, _luhn(digits)])
    parts, at = [], 0
    for size in groups:
        parts.append(text[at : at + size])
        at += size
    return random.choice(" -").join(parts)


def _iban(country: str, account: str) -> str:
    number = "".join(str(int(sign, 36)) for sign in f"{account}{country}00")
    whole = f"{country}{98 - int(number) % 97:02}{account}"
    return " ".join(whole[at : at + 4] for at in range(0, len(whole), 4))


def _weighted(digits: Sequence[int], weights: Sequence[int]) -> int:
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=True))


def _brazil(digits: list[int], starts: Sequence[Sequence[int]]) -> list[int]:
    for weights in starts:
        rest = _weighted(digits, weights) % 11
        digits = [*digits, 0 if rest < 2 else 11 - rest]
    return digits


def _cpf(random: Random) -> str:
    text = _text(_brazil(_digits(9, random), (range(10, 1, -1), range(11, 1, -1))))
    return f"{text[:3]}.{text[3:6]}.{text[6:9]}-{text[9:]}"


def _cnpj(random: Random) -> str:
    first = (5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)
    text = _text(_brazil([*_digits(8, random), 0, 0, 0, 1], (first, (6, *first))))
    return f"{text[:2]}.{text[2:5]}.{text[5:8]}/{text[8:12]}-{text[12:]}"


def _steuer(random: Random) -> str:
    """Return ten digits of which one occurs twice, and a check digit of ISO 7064."""
    kept = random.sample(range(10), 9)
    digits = [*kept, kept[random.randint(0, 8)]]
    random.shuffle(digits)
    digits = digits if digits[0] else digits[::-1]
    product = 10
    for digit in digits:
        total = (digit + product) % 10 or 10
        product = total * 2 % 11
    return _text([*digits, (11 - product) % 10])


def _insee(random: Random) -> str:
    number = int(
        f"{random.choice('12')}{random.randint(40, 99)}{random.randint(1, 12):02}{random.randint(10, 89)}"
        f"{random.randint(1, 400):03}{random.randint(1, 400):03}"
    )
    text = f"{number}{97 - number % 97:02}"
    return f"{text[0]} {text[1:3]} {text[3:5]} {text[5:7]} {text[7:10]} {text[10:13]} {text[13:]}"


def _spain(number: int) -> str:
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23]


def _dni(random: Random) -> str:
    number = random.randint(10_000_000, 99_999_999)
    return f"{number}{_spain(number)}"


def _nie(random: Random) -> str:
    first, number = random.randint(0, 2), random.randint(1_000_000, 9_999_999)
    return f"{'XYZ'[first]}{number}{_spain(first * 10_000_000 + number)}"


def _fiscale(random: Random) -> str:
    """Return an Italian tax code with its check letter."""
    odd = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
    letters = "".join(random.choice("BCDFGLMNPRST") for _ in range(6))
    body = (
        f"{letters}{random.randint(40, 99)}{random.choice('ABCDEHLMPRST')}{random.randint(1, 28):02}"
        f"{random.choice('ABCDEFGH')}{random.randint(100, 999)}"
    )
    worth = [int(sign) if sign.isdigit() else ord(sign) - ord("A") for sign in body]
    total = sum(odd[value] if place % 2 == 0 else value for place, value in enumerate(worth))
    return body + string.ascii_uppercase[total % 26]


def _snils(random: Random) -> str:
    digits = _digits(9, random)
    check = _weighted(digits, range(9, 0, -1)) % _SNILS_MODULUS % 100
    text = _text(digits)
    return f"{text[:3]}-{text[3:6]}-{text[6:]} {check:02}"


def _resident(random: Random) -> str:
    """Return a Chinese resident's number with its check digit."""
    body = f"11010{random.randint(1, 9)}19{random.randint(50, 99)}{random.randint(1, 12):02}{random.randint(1, 28):02}"
    body += f"{random.randint(1, 999):03}"
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return body + "10X98765432"[_weighted([int(sign) for sign in body], weights) % 11]


def _pesel(random: Random) -> str:
    body = f"{random.randint(40, 99)}{random.randint(1, 12):02}{random.randint(1, 28):02}{random.randint(1000, 9999)}"
    total = _weighted([int(sign) for sign in body], (1, 3, 7, 9, 1, 3, 7, 9, 1, 3))
    return f"{body}{-total % 10}"


def _bsn(random: Random) -> str:
    while True:
        digits = _digits(8, random)
        check = _weighted(digits, range(9, 1, -1)) % 11
        if check < 10:
            return _text([*digits, check])


def _ahv(random: Random) -> str:
    digits = [7, 5, 6, *_digits(9, random)]
    check = -_weighted(digits, (1, 3) * 6) % 10
    text = _text([*digits, check])
    return f"{text[:3]}.{text[3:7]}.{text[7:11]}.{text[11:]}"


def _aadhaar(random: Random) -> str:
    text = f"{random.randint(2, 9)}{_text(_digits(11, random))}"
    return f"{text[:4]} {text[4:8]} {text[8:]}"


def _letters(count: int, random: Random) -> str:
    return "".join(random.choice("ABCEGHJKLMNPRSTWXYZ") for _ in range(count))


def _sin(random: Random) -> str:
    digits = _digits(8, random)
    text = _text([*digits, _luhn(digits)])
    return f"{text[:3]} {text[3:6]} {text[6:]}"


def _ssn(random: Random) -> str:
    area = random.choice([random.randint(1, 665), random.randint(667, 899)])
    return f"{area:03}-{random.randint(1, 99):02}-{random.randint(1, 9999):04}"


def _nino(random: Random) -> str:
    return (
        f"{random.choice('ABCEHJ')}{random.choice('ABCEHJ')} "
        + " ".join(f"{random.randint(0, 99):02}" for _ in range(3))
        + f" {random.choice('ABCD')}"
    )


MAKERS: dict[str, Callable[[Random], str]] = {
    "visa": lambda random: _card("4", 16, (4, 4, 4, 4), random),
    "mastercard": lambda random: _card(str(random.randint(51, 55)), 16, (4, 4, 4, 4), random),
    "amex": lambda random: _card(random.choice(["34", "37"]), 15, (4, 6, 5), random),
    "visa_plain": lambda random: _card("4", 16, (16,), random),
    "iban_de": lambda random: _iban("DE", _text(_digits(18, random))),
    "iban_fr": lambda random: _iban(
        "FR", _text(_digits(10, random)) + _letters(3, random) + _text(_digits(10, random))
    ),
    "iban_gb": lambda random: _iban("GB", _letters(4, random) + _text(_digits(14, random))),
    "ssn": _ssn,
    "nino": _nino,
    "sin": _sin,
    "steuer": _steuer,
    "insee": _insee,
    "dni": _dni,
    "nie": _nie,
    "cpf": _cpf,
    "cnpj": _cnpj,
    "fiscale": _fiscale,
    "snils": _snils,
    "resident": _resident,
    "pesel": _pesel,
    "bsn": _bsn,
    "ahv": _ahv,
    "aadhaar": _aadhaar,
    "pan": lambda random: f"{_letters(5, random)}{random.randint(1000, 9999)}{_letters(1, random)}",
    "passport": lambda random: f"{_letters(1, random)}{_text(_digits(8, random))}",
    "licence": lambda random: f"{_letters(1, random)}{_text(_digits(7, random))}",
    "insurance": lambda random: f"{_letters(1, random)}{_text(_digits(9, random))}",
}
