"""The results of a parser: memories, messages, and each omitted entry with its reason."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, get_args

from slowwave.postgres_text import clean_text

System = Literal["mem0", "letta", "zep", "langgraph", "chatgpt", "claude", "claude-code", "codex"]
SYSTEMS: tuple[System, ...] = get_args(System)
MAX_MEMORY_CHARACTERS = 20_000
"""A longer text is a document, not a statement; it counts as unreadable."""
_MILLISECONDS = 1e11
_YEARS = (1900, 2999)


class Piece(NamedTuple):
    """One value of a file: an entry of a list, a member of an object, a row, a line or a whole text.

    Attributes:
        path: the path of the file, relative to the imported path.
        key: the name of the enclosing list, or "" at the top.
        number: the number of the value, from 1.
        value: a parsed JSON value, or text.
        at: the time of the file's last change, if no other time is known.
        begin: the byte offset at which a line begins.
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
    """A finished memory.

    Attributes:
        origin: the memory's id in the other system.
        at: the start of its validity, or None if unknown.
        until: the end of its validity, or None.
        owner: the user or namespace that the memory is about.
        type: one of Slowwave's types.
    """

    origin: str
    text: str
    at: datetime | None = None
    until: datetime | None = None
    owner: str | None = None
    type: str = "fact"


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """A message of a conversation.

    Attributes:
        origin: the conversation's id in the other system.
        message: the message in the client's form, with its idempotency key.
        owner: see `Moved`.
        folder: the working folder of a coding agent.
    """

    origin: str
    message: Mapping[str, Any]
    owner: str | None = None
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An entry omitted by choice: instructions to the model, abandoned branches, empty messages."""

    what: str


@dataclass(frozen=True, slots=True)
class Broken:
    """An entry that can't be read: its place and the error, without its text."""

    where: str
    what: str


Entry = Moved | ImportedMessage | LeftOut | Broken
Entries = Iterator[Entry]


def moment(value: Any) -> datetime | None:
    """Parse a time of another system: ISO text (UTC if it has no zone), or seconds or milliseconds since 1970."""
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
    """Return storable text without surrounding blanks; None for empty text and for other values."""
    if not isinstance(value, str):
        return None
    cleaned = clean_text(value).strip()
    return cleaned or None


def id_of(value: Any) -> str | None:
    """Return an id: text or a number, at most 150 characters; a longer id is replaced by its digest."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    found = clean_text(str(value)).strip()
    most = 150
    return (found if len(found) <= most else digest_of(found)) or None


def digest_of(*parts: str) -> str:
    """Return a short digest of the texts; equal texts have equal digests."""
    return blake2b("\0".join(parts).encode(errors="replace"), digest_size=12).hexdigest()


def memory_or_broken(piece: Piece, moved: Moved) -> Entry:
    """Return the memory, or Broken if the text is a whole document."""
    if len(moved.text) > MAX_MEMORY_CHARACTERS:
        told = f"the text has {len(moved.text):,} characters, a memory has at most {MAX_MEMORY_CHARACTERS:,}"
        return Broken(piece.where, told)
    return moved


def said(
    system: str, conversation: str, key: str, role: str, content: Any, *, at: datetime | None, **more: Any
) -> ImportedMessage:
    """Build a message with its provenance: the metadata contains the system and its ids."""
    owner = more.pop("owner", None)
    message: dict[str, Any] = {"role": role, "content": content, "key": f"{system}:{key}", **more}
    if at is not None:
        message["at"] = at.isoformat()
    message["metadata"] = {"from": system, "conversation": conversation, "id": key}
    return ImportedMessage(conversation, message, owner)


def clean_name(name: str | None) -> str:
    """Return a valid name for an agent or session: printable, at most 150 characters; "" if nothing is left."""
    most = 150
    return "".join(one for one in clean_text(name or "") if one.isprintable()).strip()[:most]
