"""Compare the denials of two statements, so that a denial may equal its antonym: "is not open" and "is closed".

The statements may be in nine languages. Where only one denies something, the other one must contain a word that implies
a denial ("quit", "forbidden", "except"), or an opposite of a denied word; otherwise both can't mean the same. A limit
("no more than 8 kg") denies nothing.
"""

import re

from slowwave_server.domain.similarity.alignment import Alignment
from slowwave_server.domain.similarity.lexicon import are_opposites, parts_of_speech, stem
from slowwave_server.domain.similarity.reading import Reading
from slowwave_server.domain.similarity.stopwords import NUMBERS
from slowwave_server.domain.similarity.tokens import Token

_NEGATORS = re.compile(
    r"(?i)\b(?:nicht|kein\w*|nie|niemals|ohne|nichts|niemand|"  # German
    r"n'(?!importe)\w+|pas|jamais|aucune?|sans|rien|ni|"  # French
    r"nunca|jamás|sin|ning[uú]n\w*|nadie|tampoco|"  # Spanish
    r"non|(?<!\d )(?<!\d\. )(?<!\bim )(?<!\ben )mai|senza|nessun\w*|niente|"  # Italian
    r"não|jamais|sem|nenhum\w*|ninguém|"  # Portuguese
    r"niet|geen|nooit|zonder|niets)\b|"  # Dutch
    r"不(?!同|过|過|错|錯|断|斷)|没|沒|无|無|未|别|勿|"  # Chinese
    r"ない|なく|なかっ|ません|なし|ずに"  # Japanese
)
_IMPLIED = frozenset(
    stem(word)
    for word in "0 absent absence abandon abstain against alone avoid ban barred block cancel cease clear closed "
    "decline denied deny dislike drop empty end except exclude exclusive exclusively expire fail false "
    "forbid forbidden forbade former formerly free gone hate hidden hide impossible instead lack leave left lose lost "
    "miss missing neither off omit only out outside prevent previously prohibit quit refuse reject remain "
    "remove resign retire rule short silence silent single skip sole solely stop unless vacant void withdraw "
    "withdrew wrong abolish ended".split()
)
_IMPLIED_ELSEWHERE = re.compile(
    r"(?i)\b(?:turn(?:s|ed)? down|away from|shut down|(?:is|are|was|were|went|goes) down|out of (?:order|service|use)|"
    r"off the air|"  # English, in several words
    r"verboten|untersagt|abgelehnt|abgesagt|außer Betrieb|"
    r"fehl\w+|aufgehört|aufgegeben|verzicht\w*|meidet|nur|außer|geschlossen|frei|"
    r"hors service|négati\w+|relâche|interdit\w*|refus\w*|arrêt\w*|évit\w*|sauf|seul\w*|ferm\w*|manqu\w*|renonc\w*|"
    r"fuera de servicio|prohib\w*|rechaz\w*|dej[óa]\w*|evita\w*|salvo|excepto|s[oó]lo|solamente|cerrad\w*|falta\w*|"
    r"fuori servizio|scartat\w*|bocciat\w*|vietat\w*|rifiut\w*|smess\w*|evita|tranne|solo|soltanto|chius\w*|manca\w*|"
    r"fora de serviço|proibid\w*|recus\w*|parou|deixou|exceto|apenas|somente|fechad\w*|"
    r"buiten (?:gebruik|dienst)|afgewezen|afgelast|weggestemd|"
    r"verboden|geweigerd|gestopt|vermijdt|behalve|alleen|gesloten|ontbreekt)\b|"
    r"禁止|拒绝|拒絕|停|休|戒|避免|只|仅|僅|除|やめ|断|禁|以外|だけ|のみ"
)
_LIMIT = re.compile(
    r"(?i)\b(?:no|not) (?:more|less|fewer|later|earlier|sooner|longer|shorter|higher|lower|larger|older|younger) "
    r"than\b|"
    r"(?:\b(?:no|not|never|nothing|nobody|none|cannot)\b|n't\b)[^.;]{0,40}\b"
    rf"(?:exceed\w*|(?:more|less|fewer|\w+er) than|above|over|below|under|beyond) (?:\d|(?:{'|'.join(NUMBERS)})\b)|"
    r"\bnicht (?:mehr|weniger|länger|später|früher) als\b|\bpas (?:plus|moins) d[eu]\b|"
    r"\bno (?:\w+ )?(?:más|menos) de\b|"
    r"\bnon (?:più|meno|oltre)\b|\bnão \w+ (?:mais|menos) (?:do )?que\b|\bniet (?:meer|minder|langer|later) dan\b"
)
"""A limit in words such as "must not exceed 8 kg" needs a number, because "never speaks over the phone" is none."""
_NEGATIVE = re.compile(r"(?:un|in|im|ir|il|dis|non-?)(?=\w{3})")
_WITHOUT = ("less", "-free")
_SHORTEST = 6


def denials_differ(a: Reading, b: Reading, aligned: Alignment) -> bool:
    """Return True if only one denies something, and no word of the other one says the same without a negator."""
    one, other = denies(a), denies(b)
    if one == other:
        return False
    denied, told = (a, b) if one else (b, a)
    if _implied(told) - _implied(denied) or _IMPLIED_ELSEWHERE.search(told.text) or _LIMIT.search(denied.text):
        return False
    return not any(_opposed(x, y) for x in aligned.only_a for y in aligned.only_b)


def denies(reading: Reading) -> bool:
    """Return True if a statement denies something, in one of nine languages."""
    return reading.negated or _NEGATORS.search(reading.text) is not None


def only_adds(a: Reading, b: Reading) -> bool:
    """Return True if one statement has all words of the other in their order, and adds no number and no denial:
    "drinks tea", "drinks tea with honey".
    """
    shorter, longer = sorted((a, b), key=lambda reading: len(reading.tokens))
    rest = iter(longer.tokens)
    if denies(a) != denies(b) or not all(any(token.lower == one.lower for one in rest) for token in shorter.tokens):
        return False
    return longer.quantities == shorter.quantities and not _implied(longer) - _implied(shorter)


def _implied(reading: Reading) -> frozenset[str]:
    return frozenset(token.stem for token in reading.tokens if _implies_denial(token))


def _implies_denial(token: Token) -> bool:
    if token.stem in _IMPLIED or stem(token.lemma) in _IMPLIED or token.lower.endswith(_WITHOUT):
        return True
    negative = _NEGATIVE.match(token.lower)
    return (
        negative is not None
        and len(token.lower) >= _SHORTEST
        and token.kind == "word"
        and any(part in "av" for part in parts_of_speech(token.lower[negative.end() :]))
    )


def _opposed(one: Token, other: Token) -> bool:
    return one.kind == other.kind == "word" and are_opposites(one.lemma, other.lemma)
