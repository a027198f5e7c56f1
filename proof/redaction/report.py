"""Write the page of the redaction: recall by kind, language and spelling, and false alarms."""

from collections.abc import Iterable, Sequence

from proof.redaction.cases import Kind
from proof.redaction.measure import Alarms, Recall

HEAD = """# Redaction

`make redaction` generates this page: it measures which secrets redaction finds, and which other text it
damages. Only the time depends on the machine.

Each secret is generated from a seed, with valid check digits and forms; none belongs to anybody. A sentence
announces it in one of eight languages, with wordings that differ between groups of kinds, and again in twelve
hostile spellings. **The rules were fitted on one half of the wordings and values; the numbers below come from
the other half.** A secret counts as found only if no six consecutive characters are left. The sentences and
forms are in [proof/redaction/data](../../proof/redaction/data). [Security](../security.md#redaction) says what
the numbers guarantee and what they do not.
"""
COUNTS = """{} kinds, {:,} sentences held out, {:,} for fitting. *Core* kinds are those that people mention most:
passwords, cards, IBANs, PINs, codes, seed phrases, keys without a prefix. One author wrote both halves, so expect lower
recall on real wordings. The wordings "told in passing" were corrected on both halves.
"""
INDEPENDENT = """{:,} sentences by a second writer, who had seen neither the rules nor the wordings above, and
writes as people do: often without any announcing word. **{:.0%} of the secrets were found.** Expect this number
in conversations; the bar above does not apply to it. The rules were fitted with as many other sentences by the
same writer, which are not counted here.
"""
ORDINARY = """Ordinary sentences without a secret: turns of public data sets, which are not in the repository,
and hard sentences of this project (order numbers, commits, UUIDs, ISBNs, prices, reservations, phones). The
rules were fitted with the alarms in RealMem and in the first hard sentences. The held-out hard sentences were
written afterwards; one alarm in them (a shipment number of 14 digits) led to one more rule.
"""
COST = "µs per 1,000 characters"
_RULE = "| --- | ---: | ---: | ---: | ---: |"
_LANGUAGES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "pt": "Portuguese",
    "it": "Italian",
    "ru": "Russian",
    "zh": "Chinese",
}


def page(
    machine: str,
    held: Recall,
    fit: Recall,
    others: Recall,
    alarms: Sequence[Alarms],
    kinds: Sequence[Kind],
    bars: str,
) -> str:
    """Return the whole page in Markdown. others: the results of a second writer's sentences."""
    count = held.told["all", "all"]
    parts = [
        HEAD,
        f"Machine: {machine}.\n\n{bars}\n",
        COUNTS.format(len(kinds), count, fit.told["all", "all"]),
        _table("| | held out | core, held out | fitted on |\n| --- | ---: | ---: | ---: |", _totals(held, fit)),
        "## Sentences of a second writer\n",
        INDEPENDENT.format(others.told["all", "all"], others.rate("all", "all")),
        _table("| kind | found | of |\n| --- | ---: | ---: |", _shares(others, "kind")),
        _table("| language | found | of |\n| --- | ---: | ---: |", _shares(others, "language")),
        "## By language\n",
        _table("| language | all kinds | core kinds |\n| --- | ---: | ---: |", _languages(held)),
        "## By spelling\n",
        _table("| spelling | all kinds | core kinds |\n| --- | ---: | ---: |", _spellings(held)),
        "## False alarms\n",
        ORDINARY,
        _table(
            f"| sentences of | how many | redacted | per 1,000 | {COST} |\n{_RULE}", (_alarm(one) for one in alarms)
        ),
        "## By kind\n",
        _table("| kind | core | held out |\n| --- | --- | ---: |", _kinds(held, kinds)),
        f"100.0%: {', '.join(sorted(kind.id for kind in kinds if _all_found(held, kind)))}.\n",
    ]
    return "\n".join(parts)


def _table(head: str, rows: Iterable[str]) -> str:
    return "\n".join([head, *rows]) + "\n"


def _totals(held: Recall, fit: Recall) -> Iterable[str]:
    core, fitted = held.rate("core", "core"), fit.rate("all", "all")
    yield f"| found | {held.rate('all', 'all'):.1%} | {core:.1%} | {fitted:.1%} |"


def _shares(recall: Recall, grouping: str) -> Iterable[str]:
    for name in sorted(recall.names(grouping)):
        yield f"| {_LANGUAGES.get(name, name)} | {recall.found[grouping, name]} | {recall.told[grouping, name]} |"


def _languages(held: Recall) -> Iterable[str]:
    for name in held.names("language"):
        core = held.rate("core language", name)
        yield f"| {_LANGUAGES[name]} | {held.rate('language', name):.1%} | {core:.1%} |"


def _spellings(held: Recall) -> Iterable[str]:
    for name in held.names("spelling"):
        core = f"{held.rate('core spelling', name):.1%}" if ("core spelling", name) in held.told else ""
        yield f"| {name} | {held.rate('spelling', name):.1%} | {core} |"


def _alarm(one: Alarms) -> str:
    cost = 1e9 * one.seconds / max(1, one.characters)
    return f"| {one.origin} | {one.sentences:,} | {len(one.spoilt)} | {one.per_thousand:.2f} | {cost:.0f} |"


def _all_found(held: Recall, kind: Kind) -> bool:
    return f"{held.rate('kind', kind.id):.1%}" == "100.0%"


def _kinds(held: Recall, kinds: Sequence[Kind]) -> Iterable[str]:
    missed = [kind for kind in kinds if not _all_found(held, kind)]
    for kind in sorted(missed, key=lambda kind: (held.rate("kind", kind.id), kind.id)):
        yield f"| {kind.id} | {'yes' if kind.core else ''} | {held.rate('kind', kind.id):.1%} |"
