"""The key of a name, and a check whether a span of text may be a name."""

import re
import unicodedata
from functools import lru_cache

MAX_NAME_CHARACTERS = 80
MAX_NAME_WORDS = 8
SMALL_WORDS = frozenset(
    "of the for and in on to de du des la le les l da di del della delle dei degli dell do dos das e y et und für der"
    " die das den des van von voor en het a an & /".split()
)
"""Words that names contain and that initials may skip."""

_DOTTED = re.compile(r"(?<!\w)(?:[^\W\d_]\.){2,}(?:[^\W\d_](?!\w))?")
_EDGES = " \t\n\r.,;:!?\"'“”„‘’«»‹›「」『』《》()[]{}（）【】*_`~-–—"
_SPACES = re.compile(r"[\s_]+")
_LETTER = re.compile(r"[^\W\d_]")
_PATH = re.compile(
    r"[/\\=<>{}\[\]|@#$%^*+~]|\.\w+\(|\w\.(?:py|js|ts|sql|md|txt|json|ya?ml|csv|go|rs|java|c|h|sh|com|org)\b"
)
_DAYS = (
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
    " september october november december mon tue tues wed thu thurs fri sat sun jan feb mar apr jun jul aug sep sept"
    " oct nov dec montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz mai juni juli oktober"
    " dezember lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril juin juillet août"
    " septembre octobre novembre décembre lunes martes miércoles jueves viernes sábado domingo enero febrero marzo"
    " abril mayo junio julio agosto septiembre octubre noviembre diciembre lunedì martedì mercoledì giovedì venerdì"
    " sabato domenica gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre segunda terça quarta"
    " quinta sexta janeiro fevereiro março junho julho setembro outubro novembro dezembro maandag dinsdag woensdag"
    " donderdag vrijdag zaterdag zondag januari februari maart juli augustus today tomorrow yesterday tonight heute"
    " morgen gestern demain hier mañana ayer domani ieri amanhã ontem vandaag gisteren now soon later anytime"
)
_PLAIN = (
    "i me my mine we us our you your he him his she her it its they them their this that these those here there who"
    " what when where why how and but so or if because while since after before then also yes no ok okay well oh not"
    " never always just still even only a an the in on at by from with as is are was were be been to for of all any"
    " some one two maybe perhaps please thanks thank hi hello hey dear god lol etc eg ie note todo tbd tba tbc fyi asap"
    " eta imo imho btw afaik iirc wip eod eow diy faq rip vip nb ps new old none null true false call calls called"
    " said says known short back again crazy busy sir madam boss dude baby honey names name user assistant human"
    " customer client agent guest bot anonymous everyone everybody someone nobody people person team"
    " ich du er sie es wir ihr mein dein sein und oder aber nicht kein ja nein der die das ein eine bitte danke auch"
    " je tu il elle nous vous mon ton son et ou mais non oui le la les un une des merci aussi yo tú él ella nosotros mi"
    " su y o pero sí el los las una gracias también io lui lei noi voi mio tuo suo e ma il lo gli sì grazie anche eu"
    " você ele ela nós meu teu seu mas não sim os as um uma obrigado também ik jij hij zij wij mijn jouw zijn en of"
    " maar niet geen ja nee de het een dank ook"
)
PLAIN_WORDS = frozenset(f"{_PLAIN} {_DAYS}".split())
"""Words that are never names: pronouns, greetings, days, remarks such as FYI, and the labels of speakers in chats."""


@lru_cache(maxsize=4096)
def key_of(name: str) -> str:
    """Return the key that equates spellings of one name: no case, no acronym dots, single spaces."""
    text = name if name.isascii() else unicodedata.normalize("NFKC", name).replace("\u2019", "'")
    if "." in text:
        text = _DOTTED.sub(lambda match: match.group().replace(".", ""), text)
    return _SPACES.sub(" ", text.casefold()).strip(_EDGES)


def clean_name(name: str) -> str:
    """Return a name in its stored form: single spaces, without surrounding quotation marks and punctuation."""
    text = " ".join(name.split()).strip(_EDGES)
    # An acronym keeps its last dot: "U.S." does not become "U.S".
    return f"{text}." if _DOTTED.fullmatch(f"{text}.") else text


def may_be_name(name: str) -> bool:
    """Return True if a span may be a name: letters, no path or code, plain word, date or redaction mark."""
    words = name.split()
    if not 1 <= len(words) <= MAX_NAME_WORDS or not 2 <= len(name) <= MAX_NAME_CHARACTERS:
        return False
    if _LETTER.search(name) is None or _PATH.search(name) or "redacted:" in name:
        return False
    if _DOTTED.fullmatch(name):
        return True
    keys = key_of(name).split()
    return len(key_of(name)) > 1 and not all(word in PLAIN_WORDS or word.isdigit() for word in keys)


def are_two_names(name: str, alias: str) -> bool:
    """Return True if neither name contains all words of the other; else search finds it without an alias."""
    first, second = set(key_of(name).split()), set(key_of(alias).split())
    return bool(first and second) and not (first <= second or second <= first)
