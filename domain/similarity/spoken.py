"""Write numbers and times of day with digits: "two hundred and twelve" as 212, "half past three" as 3:30."""

import re

from slowwave_server.domain.similarity.stopwords import NUMBERS

_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ONES = "one two three four five six seven eight nine".split()
_BELOW_HUNDRED = (
    {word: value for value, word in enumerate(_ONES, start=1)}
    | {word: value for value, word in enumerate(_TEENS, start=10)}
    | {word: 20 + 10 * step for step, word in enumerate(_TENS)}
    | {
        f"{ten}{mark}{one}": 20 + 10 * step + value
        for step, ten in enumerate(_TENS)
        for value, one in enumerate(_ONES, start=1)
        for mark in "- "
    }
)
_THOUSANDS = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_SMALL = "|".join(sorted(_BELOW_HUNDRED, key=len, reverse=True))
_HUNDREDS = rf"(?:(?:{_SMALL}|an?) hundred(?: (?:and )?(?:{_SMALL}))?)"
_COUNTED = re.compile(
    rf"(?i)\b(?:(?:{_HUNDREDS}|{_SMALL}|an?) (?:thousand|million|billion)\b(?:,? (?:and )?(?:{_HUNDREDS}|{_SMALL})\b)?|"
    rf"{_HUNDREDS}\b|(?:{'|'.join(_TENS)}) (?:{'|'.join(_ONES)})\b)"
)
_SCALED = re.compile(r"(?i)(?<![\w.])(\d+(?:\.\d+)?) (hundred|thousand|million|billion)\b")
_DOZENS = re.compile(r"(?i)\b(two|three|four|five|six|ten|\d+) dozen\b")
_LONG = re.compile(
    r"(?i)\b(two|three|four|five|six|seven|eight|nine|ten|twelve)-(second|minute|hour|day|week|month|year)\b"
)
_PERCENT = re.compile(r"(?i)(?<=\d) ?(?:per ?cent|prozent|por ciento|pour ?cent|por cento|per cento|procent)\b")
_HALVES = re.compile(rf"(?i)(?<![\w.])(\d+|{_SMALL}) and a half\b")
_HALF_HOUR = re.compile(r"(?i)\b(half|(?:a |three )?quarters? of) an hour\b")
_OF_AN_HOUR = {"half": 30, "three quarters of": 45}
_THOUSANDS_DOT = re.compile(r"(?i)\b(\d{1,3})\.(\d{3})(?= ?(?:€|euros?\b|eur\b|dollars?\b|usd\b|pounds?\b))")
"""Money has no three decimals."""
_DOTTED = re.compile(r"(?i)\b(\d{1,2})\.(\d\d)(?= ?[ap]\.?m\b)")
_SHORT_YEAR = re.compile(r"(?<!\w)'(\d\d)\b(?!')")
_METRES = re.compile(
    rf"(?i)\b(?P<whole>an?|\d|{'|'.join(_ONES)}) met(?:re|er)s? (?P<rest>ten|{'|'.join(_TENS)}|\d\d)\b"
)
_FORTNIGHT = re.compile(r"(?i)\b(?:a|one) fortnight\b")

_HOUR = rf"(?P<hour>\d{{1,2}}|{'|'.join(_TEENS[:3] + _ONES)})"
_MINUTES = r"(?P<minutes>half|(?:a )?quarter|(?:\d{1,2}|five|ten|twenty(?:[- ]five)?)(?P<named> minutes)?)"
_RELATIVE = re.compile(rf"(?i)(?P<at>\bat )?\b{_MINUTES} (?P<side>past|to|after|before) {_HOUR}\b(?!:)")
_FULL = re.compile(rf"(?i)\b{_HOUR} o'clock\b")
_IN_THE_DAY = re.compile(
    rf"(?i)\b(?:{_HOUR}|(?P<clock>\d{{1,2}}:\d\d)) (?:in the (?P<half>morning|afternoon|evening)|(?P<night>at night))\b"
)
_NOON = re.compile(r"(?i)\b(?:at|before|after|until|till|by|from|to|and|is|around|[a-z]+day) (noon|midday|midnight)\b")
_UHR = re.compile(r"\b(\d{1,2})(?:[.:](\d\d))? Uhr\b|\b(\d{1,2})h(\d\d)\b")
_LAST_HOUR = 12
_EVENING = 6
_LAST_SHORT_YEAR = 69
_DAYS = re.compile(
    r"(?i)\b(\d{1,2})(?:st|nd|rd|th)?(?: ?(?:-|\N{EN DASH}|to|until|through) ?)(\d{1,2})(?:st|nd|rd|th)?(?: of)? "
    r"((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\b"
)

_AFTER_DIGIT = re.compile(
    r"\d(?:\.\d\d| ?(?:per|por|pour|pro)|h\d|(?:st|nd|rd|th)? ?(?:-|\N{EN DASH}|to|until|through) ?\d)"
)
_SPELLED = re.compile(
    "|".join(
        (
            "hundred|thousand|million|billion|dozen|fortnight|o'clock|morning|afternoon|evening|night|noon|midday|uhr",
            r"and a half|an hour|metre|meter|'\d\d|-second|-minute|-hour|-day|-week|-month|-year",
            rf"ty (?:{'|'.join(_ONES)})",
            *(rf"{side} (?:\d|{'|'.join(_TEENS[:3] + _ONES)})" for side in ("past", "to", "after", "before")),
        )
    )
)
"""Most texts have no match of these two, in lower case."""


def with_digits(text: str) -> str:
    """Return `text` with compound numbers and times of day in digits. Single words such as "seven" stay."""
    lower = text.lower()
    if _SPELLED.search(lower) is None and _AFTER_DIGIT.search(lower) is None:
        return text
    text = _COUNTED.sub(lambda found: str(_counted(found[0])), text)
    text = _HALVES.sub(lambda found: f"{_value(found[1])}.5", text)
    text = _HALF_HOUR.sub(lambda found: f"{_OF_AN_HOUR.get(found[1].lower(), 15)} minutes", text)
    text = _METRES.sub(lambda found: f"{_value(found['whole']) or 1}.{_value(found['rest'])} meters", text)
    text = _SHORT_YEAR.sub(lambda found: ("19" if int(found[1]) > _LAST_SHORT_YEAR else "20") + found[1], text)
    text = _DOTTED.sub(r"\1:\2", _THOUSANDS_DOT.sub(r"\1\2", text))
    text = _SCALED.sub(_scaled, text)
    text = _DOZENS.sub(lambda found: str(12 * _value(found[1])), text)
    text = _LONG.sub(lambda found: f"{_value(found[1])} {found[2]}", text)
    text = _FORTNIGHT.sub("2 weeks", text)
    text = _DAYS.sub(r"\1 \3 to \2 \3", _PERCENT.sub("%", text))
    text = _UHR.sub(lambda found: f"{found[1] or found[3]}:{found[2] or found[4] or '00'}", text)
    text = _RELATIVE.sub(_relative, text)
    text = _FULL.sub(lambda found: f"{_value(found['hour'])}:00", text)
    text = _IN_THE_DAY.sub(_in_the_day, text)
    return _NOON.sub(lambda found: found[0].removesuffix(found[1]) + _at_noon(found[1].lower()), text)


def _counted(words: str) -> int:
    total = part = 0
    for word in re.findall(rf"{_SMALL}|hundred|thousand|million|billion|an?\b", words.lower()):
        if word == "hundred":
            part = (part or 1) * 100
        elif word in _THOUSANDS:
            total, part = total + (part or 1) * _THOUSANDS[word], 0
        else:
            part += _BELOW_HUNDRED.get(word, 0)
    return total + part


def _scaled(found: re.Match[str]) -> str:
    return f"{float(found[1]) * ({'hundred': 100} | _THOUSANDS)[found[2].lower()]:.15g}"


def _value(word: str) -> int:
    return int(word) if word.isdigit() else _BELOW_HUNDRED.get(word.lower(), 0) or int(NUMBERS.get(word.lower(), 0))


def _relative(found: re.Match[str]) -> str:
    """Write "ten minutes to four" as 3:50; "five to ten people" without "at" or "minutes" is a range and stays."""
    minutes, to = found["minutes"].lower(), found["side"].lower() in {"to", "before"}
    named = minutes == "half" or minutes.endswith("quarter")
    hour = _value(found["hour"])
    if not (named or found["named"] or found["at"]) or hour > _LAST_HOUR * 2:
        return found[0]
    if (named or not found["named"]) and found["side"].lower() in {"after", "before"}:
        return found[0]
    past = 30 if minutes == "half" else 15 if named else _value(minutes.removesuffix(" minutes"))
    if to:
        past, hour = 60 - past, hour - 1 or _LAST_HOUR
    return f"{found['at'] or ''}{hour}:{past:02d}"


def _in_the_day(found: re.Match[str]) -> str:
    clock = found["clock"] or f"{_value(found['hour'])}:00"
    hour = int(clock.partition(":")[0])
    if hour > _LAST_HOUR:
        return clock
    morning = (found["half"] or "").lower() == "morning" or (found["night"] and hour % _LAST_HOUR < _EVENING)
    return f"{clock} {'am' if morning else 'pm'}"


def _at_noon(word: str) -> str:
    return "00:00" if word == "midnight" else "12:00"
