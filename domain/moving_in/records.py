"""What a parser answers: memories, messages, and every entry that it leaves out, with the reason.

Must not know: any system's format.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

from slowwave.postgres_text import clean_text

System = Literal["mem0", "letta", "zep", "langgraph", "chatgpt", "claude", "claude-code", "codex"]
SYSTEMS: tuple[System, ...] = ("mem0", "letta", "zep", "langgraph", "chatgpt", "claude", "claude-code", "codex")
MAX_MEMORY_CHARACTERS = 20_000
"""A longer text is a document and no statement; it counts as not read."""
_MILLISECONDS = 1e11
_YEARS = (1900, 2999)


class Piece(NamedTuple):
    """One value of a file: an entry of a list, a member of an object, a row, a line or a whole text.

    path: the file's name below what was given; key: the name of the list that it stands in ("" at the top); number:
    from 1; value: what JSON says, or text; at: when the file was last changed, where that is all that tells a time.
    begin: of a line, the byte with which it begins.
    """

    path: str
    key: str
    number: int
    value: Any
    at: datetime | None = None
    begin: int = 0

    @property
    def where(self) -> str:
        """The place for a person: file, list and number."""
        inside = f"{self.key} {self.number}" if self.key else f"entry {self.number}"
        return f"{self.path}: {inside}"


@dataclass(frozen=True, slots=True)
class Moved:
    """A finished memory. origin: its id there; owner: the user or namespace that it is about; at: since when it holds
    (None: nobody says); until: when it ended; type: one of ours.
    """

    origin: str
    text: str
    at: datetime | None = None
    until: datetime | None = None
    owner: str | None = None
    type: str = "fact"


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """A message of a conversation. message: as the client takes it, with its key; origin: the conversation's id there;
    owner: as in Moved; folder: of a coding agent, where it worked.
    """

    origin: str
    message: Mapping[str, Any]
    owner: str | None = None
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What is there and is not taken over, by choice: instructions to the model, abandoned branches, empty messages."""

    what: str


@dataclass(frozen=True, slots=True)
class Broken:
    """An entry that can't be read: where it stands, and what is wrong with it, without its text."""

    where: str
    what: str


Entry = Moved | ImportedMessage | LeftOut | Broken
Entries = Iterator[Entry]


def moment(value: Any) -> datetime | None:
    """A time as systems write it: ISO text (UTC if it names no zone), or seconds or milliseconds since 1970."""
    try:
        if isinstance(value, datetime):
            found = value
        elif isinstance(value, bool):
            return None
        elif isinstance(value, (int, float)):
            found = datetime.fromtimestamp(value / 1000 if abs(value) > _MILLISECONDS else value, UTC)
        elif isinstance(value, str):
            found = datetime.fromisoformat(value.strip())
        else:
            return None
        found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        found = found.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return found if _YEARS[0] <= found.year <= _YEARS[1] else None


def text_of(value: Any) -> str | None:
    """Text that can be stored, without blanks around it; None for anything else, and for nothing."""
    if not isinstance(value, str):
        return None
    cleaned = clean_text(value).strip()
    return cleaned or None


def id_of(value: Any) -> str | None:
    """An id: text or a number, at most 150 characters; a longer one by its digest."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    found = clean_text(str(value)).strip()
    most = 150
    return (found if len(found) <= most else digest_of(found)) or None


def digest_of(*parts: str) -> str:
    """A short name for texts, the same for the same texts."""
    return blake2b("\0".join(parts).encode(errors="replace"), digest_size=12).hexdigest()


def memory_or_broken(piece: Piece, moved: Moved) -> Entry:
    """The memory, if its text is no document."""
    if len(moved.text) > MAX_MEMORY_CHARACTERS:
        told = f"the text has {len(moved.text):,} characters, a memory has at most {MAX_MEMORY_CHARACTERS:,}"
        return Broken(piece.where, told)
    return moved


def said(
    system: str, conversation: str, key: str, role: str, content: Any, *, at: datetime | None, **more: Any
) -> ImportedMessage:
    """A message with its provenance: metadata says which system it came from, and under which ids."""
    owner = more.pop("owner", None)
    message: dict[str, Any] = {"role": role, "content": content, "key": f"{system}:{key}", **more}
    if at is not None:
        message["at"] = at.isoformat()
    message["metadata"] = {"from": system, "conversation": conversation, "id": key}
    return ImportedMessage(conversation, message, owner)


def clean_name(name: str | None) -> str:
    """A name as agents and sessions may have it: printable, at most 150 characters; "" where nothing is left."""
    most = 150
    return "".join(one for one in clean_text(name or "") if one.isprintable()).strip()[:most]
