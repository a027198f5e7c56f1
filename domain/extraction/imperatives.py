"""Base forms of verbs of instructions to an agent, without verbs of life advice ("follow your heart")."""

WORK_VERBS = (
    "abbreviate acknowledge add address adjust alert align analyse analyze annotate answer append apply approve "
    "archive arrange ask assign assume attach audit avoid back bcc begin block bold book broadcast build calculate "
    "call cancel capitalise capitalize caption cc change check choose cite classify clean close code collect color "
    "colour combine comment commit compare compile compress confirm consult contact convert copy correct count create "
    "crop cross-check debug decline deduct default define delete deliver deploy describe design dial disable display "
    "document double-check download draft draw drop duplicate e-mail echo edit email enable encrypt end enter "
    "escalate estimate exclude expand explain export extract fetch file fill filter fix flag format forward generate "
    "greet group hash hide highlight hyphenate ignore import include indent index inform insert install invoice "
    "italicise italicize justify label leave link lint list localise localize lock log lower-case lowercase mail mark "
    "measure mention merge message migrate minimise minimize mock mute name notify number offer omit open order "
    "organise organize outline output paraphrase paste patch pause phrase pick ping post prefix prepare present print "
    "prioritise prioritize produce proofread propose provide publish pull push put query quote raise rank read rebase "
    "recommend record redact refactor refer reference refund reject release remind remove rename render repeat "
    "rephrase replace reply report request rerun reschedule reserve reset resize resolve respond restart restate "
    "retry return review revise rewrite roll rotate round route run save scan schedule score search select send "
    "separate set share shorten show sign simplify skip sort speak spell split stage start state stop store structure "
    "submit suffix suggest sum summarise summarize switch tag tell test text title track transcribe transfer "
    "translate trim truncate turn type underline update upload use validate verify wait warn wrap write"
).split()
"""Base forms, in alphabetical order."""

VERB_PATTERN = "|".join(sorted(WORK_VERBS, key=len, reverse=True))
"""Alternation for a regular expression."""

_DOUBLES = frozenset("b g m n p r t".split())
_ONE_SYLLABLE = 4
_VOWELS = "aeiou"


def _gerund(verb: str) -> str:
    if verb in {"cc", "bcc"}:
        return rf"{verb}['-]?(?:ing|'?d)"
    if verb.endswith("e") and not verb.endswith("ee"):
        return f"{verb[:-1]}ing"
    short = len(verb) <= _ONE_SYLLABLE and verb[-1] in _DOUBLES and verb[-2] in _VOWELS and verb[-3:-2] not in _VOWELS
    return f"{verb}{verb[-1] if short else ''}ing"


_NO_COMPLAINT = frozenset(
    "ask tell call explain confirm repeat push pull put start begin wait offer state assume stop present list provide "
    "describe restate read speak suggest say mark turn change".split()
)
"""Verbs of "stop …ing" in complaints about the current answer."""
GERUND_PATTERN = "|".join(_gerund(verb) for verb in WORK_VERBS if verb not in _NO_COMPLAINT)
"""The -ing forms that make a standing instruction after "stop"."""
