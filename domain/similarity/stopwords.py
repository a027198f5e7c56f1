"""Closed classes of English: articles, auxiliaries, pronouns, prepositions, negators, numbers in words, units."""

FUNCTION_WORDS = frozenset(
    "a an the this that these those some any such own same other another each every both all i me my mine myself you "
    "your yours he him his she her hers it its we us our ours they them their theirs who whom whose which what there "
    "here himself herself itself themselves ourselves one someone somebody something everyone everybody everything "
    "anyone anybody anything am is are was were be been being isn aren do does did doing done have has had having "
    "will would shall should can could may might must ought 'm 're 've 'd 'll 's and or but nor so yet if then than "
    "as that while when where because also too very really quite rather just even still already now currently today "
    "whoever whatever whichever yeah yep yup "
    "always usually often sometimes actually basically simply generally typically mainly mostly".split()
)
"""Words without content of their own. Words of frequency are included: they say how often, not what."""

OPENERS_ELSEWHERE = frozenset(
    "der das dem den des ein eine einen im zum zur auf mit nach seit vor bei für von wir ich er sie es ab beim ohne "
    "kein keine nicht nie wer was jeder jede jedes alle andere samstag sonntag "
    "bis le la les un une du au aux dans sur pour avec depuis il elle on nous chez dès après avant "
    "ne chaque aucun aucune quiconque n'importe deux trois quatre cinq "
    "el los las una del al desde por para sin según hasta quien cada "
    "lo gli nel nella nello dal dalla dallo alle tra fra con di dopo prima chi ogni fino niente nessun nessuno abbiamo "
    "os um uma na nos nas em da dos das pelo pela após é quem "
    "de het een op van met voor sinds bij uit naar andere geen wie elke iedere".split()
)
"""Articles, pronouns and prepositions of other languages. A capital at the beginning does not make one a name."""

PREPOSITIONS = frozenset(
    "in on at by for with from to of off into onto up down out over under above below through across along around near "
    "behind beside between among before after during until till since about against toward towards inside outside "
    "beneath underneath upon within via per away back next ahead".split()
)
NEGATORS = frozenset(
    "no not never none nobody nothing neither nor without nowhere cannot hardly barely scarcely no-one noone".split()
)
TITLES = frozenset("dr mr mrs ms miss prof professor sir madam".split())

_UNTIL_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()

NUMBERS = (
    {word: str(value) for value, word in enumerate(_UNTIL_TWENTY) if word not in {"zero", "one"}}
    | {
        "zero": "0",
        "hundred": "100",
        "thousand": "1000",
        "million": "1000000",
        "dozen": "12",
        "couple": "2",
        "pair": "2",
    }
    | {word: str(20 + 10 * step) for step, word in enumerate(_TENS)}
    | {
        f"{ten}-{unit}": str(20 + 10 * step + value)
        for step, ten in enumerate(_TENS)
        for value, unit in enumerate(_UNTIL_TWENTY[1:10], start=1)
    }
)
ORDINALS = {word: f"{value}." for value, word in enumerate(_ORDINALS, start=1) if word != "second"}
UNITS = {
    "gb": "gigabyte", "mb": "megabyte", "tb": "terabyte", "kb": "kilobyte", "km": "kilometer", "kg": "kilogram",
    "cm": "centimeter", "mm": "millimeter", "ms": "millisecond", "s": "second", "x": "times",
}  # fmt: skip
DEGREES = {"c": "celsius", "f": "fahrenheit"}
CURRENCIES = {"usd": "dollar", "eur": "euro", "gbp": "pound", "jpy": "yen", "chf": "franc"}
"""Codes in capitals, which are no names."""
MEASURES = {"euro": "euro", "euros": "euro", "celsius": "celsius", "fahrenheit": "fahrenheit"}
"""Units that some languages write with a capital."""
