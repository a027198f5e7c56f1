"""The frames: sentence patterns that give a value to an attribute of a subject. Specific frames precede
general ones.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Frame:
    """One pattern, with the groups s (subject), v (value) and perhaps n (a noun that completes the attribute).

    attribute: its normal form, with {n}, {v} and {pair} (both, sorted); single: True if another value contradicts;
    polar: True if the value is yes or no, and hostile reverses it; final: True if no later frame is tried; by_kind:
    True if only values of one kind (two drinks) contradict; functional: True if the frame fits only an attribute with
    one value at a time (not: goal).
    """

    pattern: re.Pattern[str]
    attribute: str
    predicate: str
    single: bool = True
    polar: bool = False
    hostile: bool = False
    object_type: str = ""
    final: bool = True
    by_kind: bool = False
    functional: bool = False


class Section:
    """Frames of one topic. hints: words, separated by |; if the clause contains none of them, no frame of the section
    can match.
    """

    def __init__(self, hints: str, *frames: Frame) -> None:
        self.hints = tuple(hints.split("|"))
        self.frames = frames

    def may_fit(self, lower: str) -> bool:
        """Return True if a frame of the section may match a clause in lower case."""
        return any(map(lower.__contains__, self.hints))


_SUBJECT = r"(?P<s>(?:the |their |his |her |our |its )?[\w.&-]+(?: [\w.&-]+){0,3}?)"
_NOT = (
    r"(?: (?:not|does|do|did|never|has|have|would|will|can|"
    r"also|now|currently|really|usually|still|always|absolutely|mostly|often|finally|just|recently))*"
)
_IS = r"(?: (?:is|are|was|were|will be)|'s)(?: (?:not|no longer|now|currently|still|also|really))*"
_REST = r"(?P<v>\S.*)"
_OBJECT = r"(?P<v>[\w.&'+#-]+(?: [\w.&'+#-]+){0,5}?)"
_NO_ARTICLE = r"(?!(?:an?|the|my|his|her|their|its|our|some|home|that|this)\b)"
_COUNT = r"(?P<v>\d+|no|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_SEVERAL = r"[\w -]*(?:friend|colleague|cousin|hobby|interest|goal|skill|passion|strength|language|allergy|project)"
"""Things that people have several of."""
_RELATIVES = (
    r"[\w -]*(?:sister|brother|mother|father|mom|dad|son|daughter|boss|manager|dog|cat|pet|horse|girlfriend|boyfriend)"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_OFFSPRING = r"(?:children|child|kids?)"


def _frame(
    body: str,
    attribute: str,
    predicate: str,
    object_type: str = "",
    *,
    single: bool = True,
    polar: bool = False,
    hostile: bool = False,
    final: bool = True,
    by_kind: bool = False,
    functional: bool = False,
) -> Frame:
    pattern = re.compile(f"{_SUBJECT}{body}$", re.IGNORECASE)
    return Frame(pattern, attribute, predicate, single, polar, hostile, object_type, final, by_kind, functional)


SECTIONS: tuple[Section, ...] = (
    # end times
    Section(
        "due|deadline",
        _frame(rf"(?:'s|s') (?:due date|deadline){_IS} (?:on )?{_REST}", "deadline", "is due on", "date"),
        _frame(rf"{_IS} due (?:on |by |at )?{_REST}", "deadline", "is due on", "date"),
        Frame(
            re.compile(
                rf"(?:the )?(?:deadline|due date) (?:of|for) (?P<s>[\w .-]+?){_IS} (?:on )?{_REST}$", re.IGNORECASE
            ),
            "deadline", "is due on", object_type="date",
        ),
        Frame(
            re.compile(rf"(?P<s>(?:the |our )[\w .-]+?) (?:deadline|due date){_IS} (?:on )?{_REST}$", re.IGNORECASE),
            "deadline", "is due on", object_type="date",
        ),
    ),
    # start times
    Section(
        "0|1|2|3|4|5|6|7|8|9|day|noon|midnight",
        _frame(rf"(?:{_IS}| was moved| has been moved| moved)(?: scheduled| planned| set| due| moved| rescheduled)* "
               rf"(?:on|at|for|to|by) (?P<v>(?:\w+ ){{0,2}}(?:\d|{_WEEKDAY}s?\b|noon|midnight).*)",
               "when", "is on", "date"),
    ),
    # work
    Section(
        "work|employ| at |job|occupation|profession|company",
        _frame(
            rf"(?:{_NOT} (?:works?|worked)|{_IS} (?:working|employed)) (?:at|for) {_NO_ARTICLE}{_OBJECT}"
            r"(?: as (?:an? |the )?.+)?",
            "employer", "works at", "organisation", final=False,
        ),
        _frame(
            rf"(?:{_NOT} (?:works?|worked)|{_IS} (?:working|employed)) (?:(?:at|for) .+ )?as (?:an? |the )?{_REST}",
            "occupation", "works as",
        ),
        _frame(
            rf"{_IS} (?:an? |the )[\w -]+? at (?-i:(?P<v>[A-Z].*))",
            "employer", "works at", "organisation", final=False,
        ),
        _frame(rf"{_IS} (?:an? |the ){_OBJECT} at (?-i:[A-Z].*)", "occupation", "works as"),
        _frame(rf"(?:'s|s') (?:job|occupation|profession){_IS} (?:an? )?{_REST}", "occupation", "works as"),
        _frame(rf"(?:'s|s') (?:employer|company){_IS} {_REST}", "employer", "works at", "organisation"),
    ),
    # home and origin
    Section(
        "live|living|reside|based|moved|relocated|home| from ",
        _frame(
            rf"(?:{_NOT} (?:lives?|resides?)| (?:has|have){_NOT} lived|{_IS} (?:living|based)) in {_REST}",
            "lives_in", "lives in", "place",
        ),
        _frame(rf"{_NOT} (?:moved|relocated)(?: again| back| house)*(?:,? this time)? to {_REST}", "lives_in",
               "lives in", "place"),
        _frame(rf"(?:'s|s') home(?: city| town)?{_IS} (?:in )?{_REST}", "lives_in", "lives in", "place"),
        _frame(rf"(?:{_NOT} comes?|{_IS}) from {_REST}", "origin", "is from", "place"),
    ),
    # birth and age
    Section(
        "born|birth|age|old|graduat",
        _frame(rf"{_IS} born (?:in|on) (?P<v>(?:19|20)\d\d)", "birth year", "was born in", "date"),
        _frame(rf"(?:'s|s') birth year{_IS} {_REST}", "birth year", "was born in", "date"),
        _frame(rf"{_IS} born (?:on )(?P<v>.*\d.*)", "birthday", "was born on", "date"),
        _frame(rf"(?:'s|s') birthday{_IS} (?:on )?{_REST}", "birthday", "has the birthday", "date"),
        _frame(rf"{_IS} born in {_REST}", "birthplace", "was born in", "place"),
        _frame(rf"(?:'s|s') birthplace{_IS} {_REST}", "birthplace", "was born in", "place"),
        _frame(rf"{_IS} (?P<v>\d{{1,3}}|[a-z-]+)[ -]years?[ -]old", "age", "has the age", "quantity"),
        _frame(rf"{_NOT} graduated (?:.* )?in (?P<v>(?:19|20)\d\d)", "graduation year", "graduated in", "date"),
        _frame(rf"(?:'s|s') graduation year{_IS} {_REST}", "graduation year", "graduated in", "date"),
        _frame(rf"(?:'s|s') age{_IS} (?P<v>\d{{1,3}}|[a-z-]+)", "age", "has the age", "quantity"),
    ),
    # family
    Section(
        "child|kid|parent|father|mother|dad|mum|mom|married|engaged|husband|wife|spouse|partner",
        _frame(rf" (?:has|have) {_COUNT} {_OFFSPRING}", "number of child", "number of children", "quantity"),
        _frame(
            rf"{_IS} (?:an? |the )?(?:parent|father|mother|dad|mum|mom) of {_COUNT}(?: {_OFFSPRING})?",
            "number of child", "number of children", "quantity",
        ),
        _frame(rf"{_IS} (?:married|engaged) to {_REST}", "spouse", "is married to", "person"),
        _frame(
            rf"(?:'s|s') (?:husband|wife|spouse|partner){_IS} (?:named |called )?(?-i:(?P<v>[A-Z].*))",
            "spouse", "is married to", "person",
        ),
    ),
    # inverted: "blue is Maya's favourite colour"
    Section(
        "favo",
        Frame(
            re.compile(r"(?P<v>[\w -]+?) is (?P<s>[\w. ]+?)'s favou?rite (?P<n>[\w -]+)$", re.IGNORECASE),
            "favourite {n}", "has the favourite {n}",
        ),
    ),
    # names of someone's things, pets and people
    Section(
        "name|called|goes by",
        _frame(rf"(?:'s|s') (?P<n>[\w -]+?){_IS} (?:named|called) {_REST}", "{n} name", "{n} is named"),
        _frame(rf"(?:'s|s') (?P<n>[\w -]+?)'s name{_IS} {_REST}", "{n} name", "{n} is named"),
        _frame(rf"{_NOT} (?:has|have|owns?) an? (?P<n>[\w -]+?) (?:named|called) {_REST}", "{n} name", "{n} is named"),
        _frame(rf"{_IS} (?:named|called) {_REST}", "name", "is named"),
        _frame(rf" goes by {_REST}", "name", "is named"),
    ),
    # taste
    Section(
        "prefer|rather|like|love|enjoy|adore|hate|dislike|loathe|detest|fond|fan of|into|favo",
        _frame(rf"(?:'s|s') favou?rite (?P<n>[\w -]+?){_IS} {_REST}", "favourite {n}", "has the favourite {n}"),
        _frame(
            rf"{_NOT} (?:prefers?|preferred|rather have) {_OBJECT} (?:over|to|instead of|rather than|than) (?P<n>.+)",
            "prefers of {pair}", "prefers to {n}",
        ),
        _frame(rf"{_NOT} (?:prefers?|rather have) {_OBJECT} (?:for|as) (?:the |an? )?(?P<n>.+)",
               "prefers for {n}", "prefers for {n}"),
        _frame(rf"{_NOT} (?:prefers?|rather have) {_REST}", "prefers", "prefers", by_kind=True),
        _frame(
            rf"{_NOT} (?:likes?|loves?|enjoys?) {_OBJECT} (?:best|most|the most)",
            "prefers", "prefers", by_kind=True,
        ),
        _frame(
            rf"{_NOT} (?<!has )(?<!have )(?:likes?|loves?|enjoys?|adores?){_NOT} {_REST}",
            "likes:{v}", "likes", single=True, polar=True,
        ),
        _frame(
            rf"{_NOT} (?:hates?|dislikes?|loathes?|detests?) {_REST}",
            "likes:{v}", "dislikes", polar=True, hostile=True,
        ),
        _frame(rf"{_IS} (?:fond of|a fan of|into) {_REST}", "likes:{v}", "likes", polar=True),
    ),
    # health and food
    Section(
        "allerg",
        _frame(rf"{_IS} allergic to {_REST}", "allergy:{v}", "is allergic to", polar=True),
        _frame(
            rf"{_NOT} (?:has|have) (?:an? |no )?{_OBJECT} allerg(?:y|ies)",
            "allergy:{v}", "is allergic to", polar=True,
        ),
    ),
    # means, money, words
    Section(
        "spend|speak|use|run|host|written|weigh|tall|up at|kilo| kg|pound| lb|stone",
        _frame(r" can spend (?P<v>\S+) on (?:the |an? )?(?P<n>.+)", "budget {n}", "has the budget", "quantity"),
        _frame(rf"{_NOT} (?:speaks?) {_REST}", "speaks:{v}", "speaks", polar=True),
        _frame(rf"{_NOT} uses? {_OBJECT} (?:for|as) (?:the |an? |their )?(?P<n>.+)", "uses for {n}", "uses for {n}"),
        _frame(rf"{_NOT} uses? {_REST}", "uses", "uses", by_kind=True),
        _frame(rf"{_IS} written in {_REST}", "uses", "is written in", by_kind=True),
        _frame(rf"{_NOT} weighs? {_REST}", "weight", "weighs", "quantity"),
        _frame(r" is (?:now )?(?:down|up|back)(?: down| up)? (?:to|at) "
               r"(?P<v>\d\S* (?:kilos?|kg|kilograms?|pounds?|lbs?|stone)\b.*)",
               "weight", "weighs", "quantity"),
        _frame(rf"{_IS} {_REST} tall", "height", "has the height", "quantity"),
        _frame(rf"{_NOT} (?:wakes?|gets?) up at {_REST}", "gets up at", "gets up at", "date"),
        _frame(rf"{_NOT} (?:runs?|is running|is hosted) on {_REST}", "runs on", "runs on"),
    ),
    # possessions in general
    Section(
        "has |have |'s |s' ",
        _frame(r" (?:has|have) (?P<v>\d+|two|three|four|five|six|seven|eight|nine|ten) (?P<n>[\w -]+)",
               "number of {n}", "number of {n}", "quantity"),
        _frame(rf"(?:'s|s') (?:best )?(?P<n>{_SEVERAL}){_IS} {_REST}", "{n}:{v}", "has the {n}", polar=True),
        _frame(rf"(?:'s|s') (?P<n>{_RELATIVES}){_IS} (?-i:(?P<v>[A-Z]\w+))", "{n} name", "{n} is named", "person"),
        _frame(rf"(?:'s|s') (?P<n>[\w -]+?){_IS} (?:scheduled |planned |set )?(?:for |on |at |in |due )?{_REST}",
               "{n}", "has the {n}", functional=True),
    ),
    # identity of a thing or a person
    Section(
        " is | are | was | were |'s |will be |has |have |own",
        _frame(rf"{_IS} (?:an? ){_REST}", "is:{v}", "is a", polar=True),
        _frame(rf"{_IS} (?P<v>\d.*|(?-i:[A-Z]).*)", "is", "is"),
        _frame(rf"{_NOT} (?:has|have|owns?) (?:an? |no ){_REST}", "has:{v}", "has", polar=True),
    ),
)  # fmt: skip
"""The sections are tried in this order on one clause, from its start to its end."""
