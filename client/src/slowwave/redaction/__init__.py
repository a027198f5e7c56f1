"""Find secrets in a text: their positions and kinds.

The package has five kinds of finders: tokens of known forms, numbers with check digits, shapes around a login (key
files, URLs, headers), words of eight languages that announce a secret, and groups of related words around a value. All
read a folded text, in which odd spellings are normalised, and return positions in the source. Every step takes linear
time.
"""

from collections.abc import Iterable, Iterator, Sequence

from slowwave.lazy_patterns import lazy_pattern
from slowwave.redaction import context, shapes
from slowwave.redaction.announced import announced, words_of
from slowwave.redaction.folding import SINGLES, Folded, despaced, fold, line_ends
from slowwave.redaction.numbers import numbers
from slowwave.redaction.pairs import pairs
from slowwave.redaction.shapes import MAX_TOKEN, Found
from slowwave.redaction.tokens import FORMS, Form

_LONG = 16
"""Characters. No token of a well-known form is shorter."""
_CERTAIN = 32
"""Characters. A word so long may be a token without a digit."""
_DIGIT = lazy_pattern(r"\d")
_SUSPECT = lazy_pattern(r"[\d=]|A[KS]IA")
_HALF = 12
_SECOND_HALF = lazy_pattern(r"\n[ \t]{0,20}(?=[A-Za-z+/=_-]{0,60}\d)(?=[0-9+/=_-]{0,60}[A-Za-z])[A-Za-z0-9+/=_.$-]{8,}")
_MORE = lazy_pattern(r"[A-Za-z0-9_-]+")


def find(text: str, forms: Iterable[Form] = ()) -> list[Found]:
    """Find all secrets in a text, in order and without overlaps.

    Args:
        text: any text of any length.
        forms: further forms of tokens, iterated for each word that may be a token.

    Returns:
        The start, the end and the kind of each secret.

    Example:
        >>> find("my PIN is 4821")
        [(10, 14, 'pin')]
    """
    view = fold(text)
    pieces = view.text.split()
    if [*map(len, pieces)].count(1) >= SINGLES:
        view = despaced(view)
        pieces = view.text.split()
    low = view.text.lower()
    if len(low) != len(view.text):
        low = "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in view.text)
    words = words_of(low)
    digits = _DIGIT.search(low) is not None
    found = [
        *_formed(view.text, pieces, forms, digits=digits),
        *shapes.carriers(view.text, low, words),
        *announced(view.text, low, words, digits=digits),
        *context.near(view.text, low, words, digits=digits),
        *pairs(view.text, low, words),
    ]
    if "\n" in view.text:
        found = [(start, _continued(view.text, start, end), kind) for start, end, kind in found]
    spans = _merged((*view.span(start, end), kind) for start, end, kind in found) if found else []
    if "\n" in view.text:
        broken = [one for one in _broken(view, forms) if not any(a <= one[0] and one[1] <= b for a, b, _ in spans)]
        spans = _merged([*spans, *broken]) if broken else spans
    return spans


def replace(text: str, found: Iterable[Found], mark: str) -> str:
    """Replace each secret by `mark`, in which "{}" becomes its kind."""
    parts: list[str] = []
    at = 0
    for start, end, kind in found:
        parts += [text[at:start], mark.format(kind)]
        at = end
    return "".join([*parts, text[at:]])


def _formed(text: str, pieces: Sequence[str], forms: Iterable[Form], *, digits: bool) -> Iterator[Found]:
    """Find secrets that are identified by their form alone. Short ones must have a digit, or the "=" of base64."""
    if "PRIVATE KEY" in text or "PuTTY" in text or "SSH2" in text:
        yield from shapes.key_files(text)
    if pieces and len(max(pieces, key=len)) >= _LONG:
        at = 0
        for word in pieces:
            if len(word) >= _LONG:
                at = text.index(word, at)
                if len(word) <= MAX_TOKEN and (len(word) >= _CERTAIN or _SUSPECT.search(word)):
                    yield from _tokens(word, at, forms)
                at += len(word)
        yield from shapes.long_words(text)
    if digits:
        yield from numbers(text)


def _tokens(word: str, at: int, forms: Iterable[Form]) -> Iterator[Found]:
    """Find the tokens in a word. If a pattern leaves the end of a longer token, the end is secret too."""
    for form in (*FORMS, *forms):
        if not any(need in word for need in form.needs):
            continue
        named = "value" in form.pattern.groupindex
        for match in form.pattern.finditer(word):
            start, end = match.span("value") if named else match.span()
            more = _MORE.match(word, end)
            yield at + start, at + (more.end() if more else end), form.kind
    for start, end, kind in shapes.bare_keys(word):
        yield at + start, at + end, kind


def _carried(text: str) -> Iterator[Found]:
    low = text.lower()
    return shapes.carriers(text, low, words_of(low)) if len(low) == len(text) else iter(())


def _continued(text: str, start: int, end: int) -> int:
    """Return the end of a secret that a line end cuts in two."""
    if end - start < _HALF or text[end : end + 1] != "\n" or not text[start:end].isascii():
        return end
    more = _SECOND_HALF.match(text, end)
    return more.end() if more else end


def _broken(view: Folded, forms: Iterable[Form]) -> Iterator[Found]:
    """Find tokens and numbers that a line end cuts in two."""
    for joint, near in line_ends(view):
        for start, end, kind in (*_formed(near.text, near.text.split(), forms, digits=True), *_carried(near.text)):
            if start < joint < end:
                yield *near.span(start, end), kind


def _merged(found: Iterable[Found]) -> list[Found]:
    """Sort the finds. Overlapping ones become one, from first start to last end, with the kind of the longer one."""
    kept: list[Found] = []
    for start, end, kind in sorted(found, key=lambda one: (one[0], -one[1])):
        if kept and start < kept[-1][1]:
            before = kept[-1]
            longer = before[2] if before[1] - before[0] >= end - start else kind
            kept[-1] = (before[0], max(end, before[1]), longer)
        elif start < end:
            kept.append((start, end, kind))
    return kept
