"""Find decisions that a person and an agent agreed on, in the words of the decision.

"Let's go with option 2."             the chosen option, with the text that the agent gave it
"Yes, that's perfect."                title and main points of the agent's previous proposal or delivery
"How about starting with the logo?"   the agent's proposal, if the next turn accepts it
"""

import re

from slowwave_server.domain.extraction.acts import acts_of
from slowwave_server.domain.extraction.headings import is_menu, only_headings
from slowwave_server.domain.extraction.outline import Outline, clean, numbered, outline
from slowwave_server.domain.extraction.sentences import sentences
from slowwave_server.domain.extraction.standalone import content_words, is_cut

MAX_PROPOSAL = 220

_OPTION = re.compile(
    r"\b(?:option|number|choice) #?(?P<digit>\d{1,2})\b|\bthe (?P<word>first|second|third|fourth|fifth)"
    r"(?: one| option| choice| suggestion)\b(?! (?:thing|step|time|draft|version))",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"\?|\b(?:not|never|no|neither|nor|without|against|except|skip|drop|reject|what|why|how|which|if|whether|unless|"
    r"explain|describe|compare|elaborate|tell me|more (?:about|on)|details|(?:rather|other|worse) than|"
    r"instead of|\w+n't)\b",
    re.IGNORECASE,
)
"""A sentence that names an option without choosing it."""
_ORDER = ("first", "second", "third", "fourth", "fifth")
_FIGURE = re.compile(r"\d|(?<=[a-z,;:] )(?!I\b)[A-Z][a-z]+ [A-Z][a-z]+")
_EITHER = re.compile(
    r" or (?:would|do|should|shall|if|is|are|any|something|perhaps|maybe)\b|\bcould even\b|, or ", re.IGNORECASE
)
_OTHERWISE = re.compile(
    r"\b(?:instead|rather|stick (?:with|to)|no need|actually|but (?:i|we|let|can|could|first)|except|however|"
    r"not (?:yet|now|sure)|"
    r"hold (?:on|off)|wait)\b",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"\blet'?s (?:(?:go|get|move) (?:in|into|on|to|deeper)\b|(?:do|try|take|start|use) (?:\w+ )?(?:one|another|"
    r"something|a different)\b)",
    re.IGNORECASE,
)
"""Words that lead on to something else: they accept nothing."""
_QUESTION = re.compile(r"\?|^(?:your|what|which|who|where|when|how|do|are|is|any)\b", re.IGNORECASE)
_LETS = re.compile(
    r"^(?:(?:ok|okay|yes|yeah|alright|right|so|great|perfect|good|well|then|now|and|sure|thanks)[\s,.!-]+){0,4}"
    r"let'?s (?P<what>(?:go with|use|do|take|keep|stick (?:with|to)|pick|choose|confirm|lock in|finali[sz]e|focus on|"
    r"prioriti[sz]e|start with|set|make|plan|book|skip|drop|add|remove|switch|move) .{4,})$",
    re.IGNORECASE,
)
_THIRD = {
    "your": "their", "yours": "theirs", "you": "them", "you're": "they're", "you've": "they've", "you'll": "they'll",
    "you'd": "they'd", "yourself": "themselves", "our": "the", "us": "them",
}  # fmt: skip
_SECOND = re.compile(
    r"(?P<quoted>\"[^\"]*\"|`[^`]*`)|"
    r"(?<![\w./@-])(?:you(?:'re|'ve|'ll|'d|rs|rself|r)?|our|us(?=[ ,.;]))\b(?![/@-]|\.\w)"
)
_PROPOSES = re.compile(
    r"\b(?:how about (?:we )?|shall we |would you like (?:me )?to |do you want (?:me )?to |should (?:i|we) |"
    r"i (?:suggest|"
    r"propose|recommend)(?: that)? (?:we |you )?|we (?:could|can|should) |(?:my|the) (?:suggestion|recommendation|"
    r"proposal) "
    r"is (?:to )?)(?P<what>[^?.!\n]{12,200})",
    re.IGNORECASE,
)


def chosen_option(sentence: str, before: str) -> str | None:
    """Return the text of the option that a sentence names by number, from the agent's list."""
    match = _OPTION.search(sentence)
    if match is None or _UNDECIDED.search(sentence) is not None:
        return None
    number = int(match["digit"]) if match["digit"] else _ORDER.index(match["word"].lower()) + 1
    found = numbered(before, number)
    return None if found is None or _QUESTION.search(found) else found


def lets(sentence: str) -> str | None:
    """Return the decision in "let's …" without these opening words; None for other sentences."""
    match = _LETS.match(sentence)
    return None if match is None or sentence.endswith("?") else match["what"].rstrip(" .!")


def accepts(parts: list[str]) -> bool:
    """Return True if a person's turn accepts the previous turn: one of its first acts accepts, and none declines."""
    said = [part for part in parts[:4] if not _NEXT.search(part)]
    acts = acts_of(said, by_agent=False)
    declined = "reject" in acts or "correct" in acts[:2] or any(_OTHERWISE.search(part) for part in parts[:4])
    return "accept" in acts and not declined


def agreed(before: str) -> str | None:
    """Return what a plain yes agrees to: the outline of a structured answer, else the agent's last proposal."""
    handed = outline(before)
    if handed is not None and handed.is_specific and not _is_bare(handed):
        return f"agreed on {_of_them(handed.told())}"
    proposals = [match["what"] for part in sentences(before) if (match := _PROPOSES.search(clean(part)))]
    if not proposals or len(content_words(proposals[-1])) < 3 or _EITHER.search(proposals[-1]):
        return None
    if _FIGURE.search(proposals[-1]) is None:
        return None
    told = _of_them(proposals[-1][:MAX_PROPOSAL].strip(" ,;:").removeprefix("then "))
    return None if is_cut(told) else f"agreed to {told}"


def _is_bare(handed: Outline) -> bool:
    """Return True if an outline only lists choices or has only headings: a yes agrees to nothing then."""
    return is_menu(handed.title, handed.points) or only_headings((*handed.points, *handed.figures))


def _of_them(text: str) -> str:
    """Change "your" in an agent's text to "their": your plan → their plan."""
    return _SECOND.sub(lambda match: match["quoted"] or _THIRD[match[0].lower()], text)
