"""A change of a memory as a sentence for people: "employer: Siemens → Bosch on 10 June 2025"."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any
from uuid import UUID

from slowwave_server.domain.similarity import AttributeClaim, read
from slowwave_server.domain.spoken_time import pluralize

QUOTED = 140
_ID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b")
_REFERENCES = ("superseded_by", "merged_into", "target", "with", "from")
_STATUS = {
    "inbox": "new",
    "episode": "recent",
    "active": "active",
    "review": "waiting for a decision",
    "archived": "archived",
}
_PREDICATES = {
    "related_to": "related to",
    "contradicts": "contradicts",
    "supersedes": "replaces",
    "merged_into": "merged into",
    "derived_from": "made from",
}


def mentioned(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> set[UUID]:
    """Return the ids of the other memories that a change names."""
    found = set()
    for part in (before or {}, after or {}):
        for name in _REFERENCES:
            try:
                found.add(UUID(str(part.get(name))))
            except ValueError:
                continue
    return found


def change_sentences(
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    content: str | None,
    others: Mapping[UUID, str],
) -> list[str]:
    """Put a change into one sentence for each difference, without its reason.

    before, after: values as JSON; None if the change created or removed the memory. others: the texts of the other
    memories that the change names (see `mentioned`).
    """
    was, became = dict(before or {}), dict(after or {})
    told = list(_of_other(was, became, content or "", others))
    told += _of_text(was, became)
    told += _of_status(was, became)
    told += [name_memories(one, others) for one in _of_cases(became)]
    told += _of_sources(became, is_first=before is None)
    told += _of_figures(was, became)
    return told


def value_change(old: str, new: str) -> str | None:
    """Return the difference of two statements about one attribute: "employer: Siemens → Bosch"; None without one."""
    claims = {_subject(claim): claim for claim in read(old).claims}
    for claim in read(new).claims:
        earlier = claims.get(_subject(claim))
        if earlier is not None and earlier.value != claim.value:
            name = claim.attribute.partition(":")[0].replace("_", " ")
            return f"{name}: {earlier.object_text} → {claim.object_text}"
    return None


def name_memories(sentence: str, contents: Mapping[UUID, str], other: str = "this memory") -> str:
    """Replace ids of memories by their texts. other: the words for an id that `contents` does not contain."""

    def words(found: re.Match[str]) -> str:
        said = contents.get(UUID(found[0]))
        return other if said is None else f"“{_cut(said)}”"

    return _ID.sub(words, sentence)


def day_words(given: Any) -> str:
    """Return a day as people write it: "10 June 2025". Accepts a date, a time, or either as ISO 8601 text."""
    moment = datetime.fromisoformat(given) if isinstance(given, str) else given
    day = moment.date() if isinstance(moment, datetime) else moment
    return f"{day.day} {day:%B %Y}" if isinstance(day, date) else str(given)


def _subject(claim: AttributeClaim) -> tuple[str, str]:
    return claim.subject, claim.attribute


def _of_other(was: dict[str, Any], became: dict[str, Any], content: str, others: Mapping[UUID, str]) -> Iterator[str]:
    """Return sentences for a memory that was replaced by, merged into or linked to another memory."""
    if "valid_to" in was or "valid_to" in became:
        yield from _of_end(was, became, content, others)
    if merged := became.get("merged_into"):
        yield f"merged into {_quote(merged, others)}"
    elif was.get("merged_into"):
        yield f"stands for itself again, no longer merged into {_quote(was['merged_into'], others)}"
    if target := became.get("target"):
        yield f"{_PREDICATES.get(became.get('predicate', ''), 'linked to')} {_quote(target, others)}"
    if part := became.get("from"):
        yield f"took in {_quote(part, others)}, with its sources"


def _of_end(was: dict[str, Any], became: dict[str, Any], content: str, others: Mapping[UUID, str]) -> Iterator[str]:
    end, successor = became.get("valid_to"), became.get("superseded_by")
    if end is None:
        if was.get("valid_to") is not None:
            yield f"holds again; before, it held until {day_words(was['valid_to'])}"
        return
    if successor is None:
        if end != was.get("valid_to"):
            yield f"held until {day_words(end)}"
        return
    after = _found(successor, others)
    changed = None if after is None else value_change(content, after)
    yield (
        f"{changed} on {day_words(end)}" if changed else f"replaced by {_quote(successor, others)} on {day_words(end)}"
    )


def _of_text(was: dict[str, Any], became: dict[str, Any]) -> Iterator[str]:
    old, new = was.get("content"), became.get("content")
    if isinstance(old, str) and isinstance(new, str) and old != new:
        yield value_change(old, new) or f"text: “{_cut(old)}” → “{_cut(new)}”"
    if was.get("type") and became.get("type") and was["type"] != became["type"]:
        yield f"type: {was['type']} → {became['type']}"


def _of_status(was: dict[str, Any], became: dict[str, Any]) -> Iterator[str]:
    old, new = was.get("status"), became.get("status")
    if "conflict" in became or "review_item" in became or old == new or new is None or became.get("merged_into"):
        return
    if new == "archived":
        reason = became.get("archive_reason")
        yield f"archived: {reason}" if reason else "archived"
    elif old is None:
        yield f"recorded as {_STATUS.get(new, new)}"
    else:
        yield f"status: {_STATUS.get(old, old)} → {_STATUS.get(new, new)}"


def _of_cases(became: dict[str, Any]) -> Iterator[str]:
    """Return sentences for a contradiction, or a question about a contradiction, that was opened or closed."""
    if (conflict := became.get("conflict")) is not None:
        state = became.get("status", "open")
        yield f"contradiction {conflict} noticed" if state == "open" else f"contradiction {conflict} closed"
        if became.get("resolution"):
            yield str(became["resolution"])
    if (item := became.get("review_item")) is not None:
        state = became.get("state", "open")
        yield f"question {item} asked" if state == "open" else f"question {item}: {state}"


def _of_sources(became: dict[str, Any], *, is_first: bool) -> Iterator[str]:
    sources = became.get("sources")
    if isinstance(sources, list) and sources:
        more = "" if is_first else " more"
        yield f"{pluralize(len(sources), 'source')}{more}: {', '.join(f'#{seq}' for seq in sources[:8])}"


def _of_figures(was: dict[str, Any], became: dict[str, Any]) -> Iterator[str]:
    for name in ("confidence", "importance"):
        old, new = was.get(name), became.get(name)
        if isinstance(old, (int, float)) and isinstance(new, (int, float)) and round(old, 2) != round(new, 2):
            yield f"{name}: {old:.2f} → {new:.2f}"
    old, new = was.get("valid_from"), became.get("valid_from")
    if old and new and day_words(old) != day_words(new):
        yield f"holds from: {day_words(old)} → {day_words(new)}"


def _found(memory: Any, others: Mapping[UUID, str]) -> str | None:
    try:
        return others.get(UUID(str(memory)))
    except ValueError:
        return None


def _quote(memory: Any, others: Mapping[UUID, str]) -> str:
    said = _found(memory, others)
    return "a memory that no longer exists" if said is None else f"“{_cut(said)}”"


def _cut(said: str) -> str:
    flat = " ".join(said.split())
    return flat if len(flat) <= QUOTED else f"{flat[: QUOTED - 1]}…"
